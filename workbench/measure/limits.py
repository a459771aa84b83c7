"""How long a worker may take before it is stopped, and what progress looks like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from workbench.records.comparison import Verdict


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a worker process: seconds without an answer, and the memory that it may hold.

    A worker beyond one of them is stopped. Without `memory_bytes` that is the memory which leaves the machine
    usable. Mapped files do not count.

    >>> import workbench as wb
    >>> wb.Limits(load_s=1200).load_s
    1200
    """

    start_s: float = 120.0
    load_s: float = 600.0
    run_s: float = 300.0
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The current step; `fraction` and `remaining_s` are estimates, None before the first round ended."""

    doing: str
    round: int
    elapsed_s: float
    budget_s: float
    fraction: float | None
    remaining_s: float | None
    verdicts: tuple[Verdict, ...] = ()


OnProgress: TypeAlias = Callable[[Progress], None]
