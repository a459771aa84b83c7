"""The limits of a worker and the progress of a measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from workbench.core.bundle.comparison import Verdict


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a worker process: seconds without an answer, and memory.

    A worker beyond a limit is stopped. The default of `memory_bytes` leaves the machine usable. Mapped files
    do not count.

    >>> import workbench as wb
    >>> wb.Limits(load_s=1200).load_s
    1200
    """

    start_s: float = 120.0
    load_s: float = 600.0
    run_s: float = 300.0
    memory_bytes: int | None = None


Samples: TypeAlias = tuple[tuple[str, tuple[float, ...]], ...]  # the latest ones in seconds, by label


@dataclass(frozen=True, slots=True)
class Progress:
    """The current step; `fraction` and `remaining_s` are estimates, None during the first round."""

    doing: str
    round: int = 0
    elapsed_s: float = 0.0
    budget_s: float = 0.0
    fraction: float | None = None
    remaining_s: float | None = None
    verdicts: tuple[Verdict, ...] = ()
    samples: Samples = ()
    step: str = ""  # which step of a comparison this is, in words, such as "step 2 of 3, measuring"


OnProgress: TypeAlias = Callable[[Progress], None]
ShowProgress: TypeAlias = bool | OnProgress  # whether a bar shows it, or what is told of it
