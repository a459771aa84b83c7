"""The goal of a study: what to minimize, and the limits that a config must keep."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

from workbench.errors import ConfigError
from workbench.text import quoted

Objective = Literal["latency", "p99", "memory", "load", "file size"]
OBJECTIVES: tuple[Objective, ...] = ("latency", "p99", "memory", "load", "file size")


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

    @property
    def allows_other_arithmetic(self) -> bool:
        """Return whether a limit guards the outputs of other arithmetic."""
        return self.max_accuracy_drop is not None or self.max_error is not None

    def check(self) -> None:
        """Refuse a limit that is no number from 0 up."""
        for field in fields(self):
            value = getattr(self, field.name)
            usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
            if value is not None and not usable:
                raise ConfigError(
                    f"{field.name}={quoted(value)} is no limit", "give a number from 0 up, or leave it out"
                )
