"""The goal of a study: what to improve, and the limits that a config must keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, get_args

from workbench.core.bounds import check_number
from workbench.core.config.literals import call, literal
from workbench.core.errors import ConfigError
from workbench.core.text import listed, quoted, shorten

Objective = Literal["latency", "p99", "throughput", "memory", "load", "file size", "accuracy", "error"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
OF_OUTPUTS: tuple[Objective, ...] = ("accuracy", "error")  # best without any change: only beside another
MOST_CALLERS = 64


def check_objectives(objectives: Sequence[object], callers: object) -> None:
    """Refuse what no study can improve."""
    for name in objectives:
        if name not in OBJECTIVES:
            raise ConfigError(
                f"objective={quoted(name)} is nothing that a study improves",
                f"give one of {listed(OBJECTIVES)}",
            )
    if not objectives or len(set(objectives)) < len(objectives):
        raise ConfigError(
            f"objective={quoted(tuple(objectives))} names none, or one twice",
            'give one, or several: objective=("latency", "memory")',
        )
    if objectives[0] in OF_OUTPUTS:
        raise ConfigError(
            f"objective={quoted(objectives[0])} alone is best without any change",
            f'give it beside another: objective=("latency", {quoted(objectives[0])})',
        )
    allowed = f"give a number from 1 to {MOST_CALLERS}"
    check_number("callers", callers, allowed, least=1, most=MOST_CALLERS, whole=True)


@dataclass(frozen=True, slots=True)
class Goal:
    """The limits of a study. A config beyond a limit is out, however fast it is; None: no limit.

    Configs with other arithmetic (int8, 16 bits) take part only with a limit on accuracy or error.

    >>> import workbench as wb
    >>> wb.Goal(max_accuracy_drop=0.01).max_accuracy_drop
    0.01
    """

    max_accuracy_drop: float | None = None  # share: 0.01 is one point
    max_error: float | None = None  # root mean square of the error over that of the output: 0.01 is 40 dB
    max_memory_bytes: int | None = None  # peak memory of the process
    max_load_s: float | None = None
    max_p99_s: float | None = None
    max_file_bytes: int | None = None
    min_speedup: float | None = None  # what the best config should reach, in times of the defaults
    max_p50_s: float | None = None
    min_throughput: float | None = None  # runs a second: of the callers if throughput is an objective

    @classmethod
    def of(cls, limits: Goal | None) -> Goal:
        """Return the limits that a call was given, or none; refuse what are no limits of a config."""
        goal = cls() if limits is None else limits
        if not isinstance(goal, Goal):
            raise ConfigError(
                f"limits={shorten(repr(goal))} is no wb.Goal",
                "give limits=wb.Goal(max_error=0.01); the limits of a worker process are worker_limits",
            )
        goal.check()
        return goal

    @property
    def allows_other_arithmetic(self) -> bool:
        """Return whether a limit guards the outputs of other arithmetic."""
        return self.max_accuracy_drop is not None or self.max_error is not None

    @property
    def code(self) -> str:
        """The goal as Python source."""
        limits = {field.name: getattr(self, field.name) for field in fields(self)}
        return call("wb.Goal", {name: literal(limit) for name, limit in limits.items() if limit is not None})

    def check(self) -> None:
        """Refuse a limit that is no number from 0 up."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                fix = "give a number from 0 up, or leave it out"
                check_number(field.name, value, fix, what="limit", least=0)
