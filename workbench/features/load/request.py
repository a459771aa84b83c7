"""A load test request: the sessions of each config, the amounts of load, and the time of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.bounds import check_number
from workbench.core.errors import ConfigError
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.text import quoted
from workbench.features.load.record import LoadPoint, Shared

ROUNDS = 5  # processes of each config; an interval needs 3
MOST_REQUESTS = 20_000  # kept of a slice: a bundle holds every answer
_MOST_CALLERS = 256
MOST_RATE_HZ = 1e6  # one session.run takes microseconds, so no machine reaches more
PROCESSES = "processes"
SHARES: tuple[Shared, ...] = ("threads", "arena")


@dataclass(frozen=True, slots=True)
class Sessions:
    """How many sessions the callers use, and what these share within their process."""

    count: int = 1
    shared: tuple[Shared, ...] = ()
    processes: bool = False  # each caller is a process with a session of its own

    @classmethod
    def read(cls, value: object) -> Sessions:
        """Return the sessions of a number, or of a text such as "4+threads+arena"."""
        if isinstance(value, Sessions):
            return value
        if value == PROCESSES:
            return cls(processes=True)
        number, *names = str(value).split("+") if isinstance(value, str) else (value,)
        if isinstance(number, str) and number.isascii() and number.isdecimal():
            number = int(number)
        is_count = isinstance(number, int) and not isinstance(number, bool)
        if not is_count or not 1 <= number <= _MOST_CALLERS or not set(names) <= set(SHARES):  # type: ignore[operator]
            raise ConfigError(
                f"sessions={quoted(value)} is no usable value",
                f'give a number from 1 to {_MOST_CALLERS}, "processes", or a text such as "4+threads+arena"',
            )
        return cls(int(number), tuple(name for name in SHARES if name in names))  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """One load test as the user requested it; `sessions` holds those of each config."""

    compared: CompareRequest
    sessions: tuple[Sessions, ...]
    points: tuple[LoadPoint, ...]
    duration_s: float
    max_p99_s: float | None = None
    rounds: int = ROUNDS

    @property
    def most_callers(self) -> int:
        return max(point.callers for point in self.points)

    @property
    def elapsed_s(self) -> float:
        """The time that the load itself takes."""
        return self.duration_s * len(self.points) * len(self.sessions)


def check_load(callers: Sequence[object], rates: Sequence[object], duration_s: object) -> None:
    """Refuse what no machine can do, before a worker starts."""
    for count in callers:
        allowed = f"give numbers from 1 to {_MOST_CALLERS}"
        check_number("callers", count, allowed, least=1, most=_MOST_CALLERS, whole=True)
    for rate in rates:
        check_number("rate_hz", rate, "give requests a second above 0", most=math.inf)
        if rate > MOST_RATE_HZ:  # type: ignore[operator]
            raise ConfigError(
                f"rate_hz={rate:g} asks for more requests a second than any machine reaches",
                f"give at most {MOST_RATE_HZ:g}, or leave rate_hz out to find the most that this one serves",
            )
    check_number("duration_s", duration_s, "give seconds above 0 and up to 3600", most=3600)
