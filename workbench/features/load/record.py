"""Configs under load: several callers at once, every answer kept in the order measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.core.bounds import check_number
from workbench.core.bundle.comparison import OutputAgreement, Verdict
from workbench.core.bundle.kinds import check_ratios, check_seconds
from workbench.core.bundle.preparation import Preparation
from workbench.core.bundle.run import Failure
from workbench.core.config import Config
from workbench.core.errors import BundleError, ConfigError
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.text import counted, quoted

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


_LEAST_SPAN_S = 1e-9  # rates over less are no numbers that statistics can use
Shared = Literal["threads", "arena"]


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """One amount of load: callers back to back, or callers that answer requests arriving at a rate."""

    callers: int
    rate_hz: float | None = None  # None: each caller sends its next request when the last one is answered

    def __str__(self) -> str:
        callers = counted(self.callers, "caller")
        return callers if self.rate_hz is None else f"{callers} at {self.rate_hz:g} requests/s"


@dataclass(frozen=True, slots=True)
class LoadSlice:
    """A short time of load on one config, while the processes of all others are frozen."""

    round: int
    order: int  # position among all slices of its round
    point: LoadPoint
    request_count: int  # that were sent or arrived; some may stay unanswered
    caller_counts: tuple[int, ...]  # answers of each caller
    caller_spans_s: tuple[float, ...]  # how long each caller worked
    latency_s: tuple[float, ...]  # of every answer; from its arrival, where requests arrive at a rate
    waited_s: tuple[float, ...]  # of it before the run; empty where callers send back to back
    wall_s: float
    cpu_s: float  # of all threads of the process
    others_cpu_s: float | None
    disturbed: tuple[str, ...]  # reasons to exclude it; empty: clean

    @property
    def throughput_hz(self) -> float:
        """Answers a second: the sum over callers, since they end one run apart."""
        pairs = zip(self.caller_counts, self.caller_spans_s, strict=True)
        return sum(count / span_s for count, span_s in pairs if span_s > 0)

    @property
    def answered_hz(self) -> float:
        """Answers a second of the whole slice."""
        return len(self.latency_s) / self.wall_s if self.wall_s > 0 else 0.0


@dataclass(frozen=True, slots=True)
class LoadRun:
    """One config with a number of sessions, in one process per round."""

    label: str
    config: Config
    sessions: int
    shared: tuple[Shared, ...]  # what the sessions of the process share
    providers: tuple[str, ...]
    threads: int | None  # intra-op threads of each session; None: unknown
    rss_bytes: tuple[int, ...]  # of each process at its end; empty: the system does not report it
    slices: tuple[LoadSlice, ...]
    failure: Failure | None
    preparation: Preparation | None
    threads_from: tuple[str, ...] = ()  # origins of intra-op, then inter-op threads; empty: unknown
    processes: bool = False  # each caller is a process with a session of its own

    def at(self, point: LoadPoint) -> tuple[LoadSlice, ...]:
        """Return the slices of one amount of load."""
        return tuple(part for part in self.slices if part.point == point)

    @property
    def sessions_in_words(self) -> str:
        """The number of sessions, and what they share."""
        if self.processes:
            return "a process for each caller"
        shared = f" sharing {' and '.join(self.shared)}" if self.shared else ""
        return counted(self.sessions, "session") + shared


@dataclass(frozen=True, slots=True)
class LoadVerdict:
    """The conclusion about one candidate at one amount of load."""

    point: LoadPoint
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class LoadTestRecord:
    """All measurements of `wb.load_test`, and the verdicts against the first run."""

    model_name: str
    points: tuple[LoadPoint, ...]
    duration_s: float  # of each point, over all rounds
    seed: int
    runs: tuple[LoadRun, ...]  # the baseline first
    agreement: tuple[OutputAgreement, ...]
    verdicts: tuple[LoadVerdict, ...]
    notes: tuple[str, ...]
    max_p99_s: float | None = None  # the latency budget; None: none was given

    @property
    def asked_s(self) -> float:
        """The seconds of measuring that were asked for."""
        return self.duration_s * len(self.points) * len(self.runs)


def check_load_test(record: LoadTestRecord, fix: str) -> None:
    """Refuse a record that no load test could have made."""
    labels = [run.label for run in record.runs]
    if not labels or len(set(labels)) != len(labels) or not record.points:
        raise BundleError("runs, points: expected one or more, each run with its own label.", fix)
    if record.max_p99_s is not None:
        check_seconds((record.max_p99_s,), "max_p99_s", fix)
    for point in record.points:
        if point.callers < 1 or (point.rate_hz is not None and not 0 < point.rate_hz < float("inf")):
            raise BundleError("points: expected a caller or more, and a rate above 0.", fix)
    for run in record.runs:
        for part in run.slices:
            fits = len(part.caller_counts) == len(part.caller_spans_s) and part.point in record.points
            if not fits or len(part.waited_s) not in (0, len(part.latency_s)):
                raise BundleError(f"runs: a slice of {run.label[:40]!r} contradicts itself.", fix)
            check_seconds((*part.latency_s, *part.waited_s, *part.caller_spans_s), "slices", fix)
            if any(0 < span_s < _LEAST_SPAN_S for span_s in (*part.caller_spans_s, part.wall_s)):
                raise BundleError("slices: expected spans of a nanosecond or more.", fix)
    for row in record.verdicts:
        if row.verdict.label not in labels[1:] or row.point not in record.points:
            raise BundleError("verdicts: expected one of a candidate and a point.", fix)
    check_ratios((row.verdict for row in record.verdicts), fix)
