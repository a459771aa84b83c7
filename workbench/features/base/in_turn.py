"""Several measurements one after the other, with one budget and one progress bar; a failure is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.errors import Cancelled, ConfigError, StorageError, WorkbenchError
from workbench.core.measure.limits import OnProgress, Progress

_LEAST_BUDGET_S = 0.1  # a measurement that nothing of the budget is left for still has one round

Measure: TypeAlias = Callable[[OnProgress, float | None], ComparisonRecord]


@dataclass(frozen=True, slots=True)
class Turn:
    """One of several measurements: its name for the progress bar, and the call that makes it."""

    name: str
    measure: Measure


def measured_in_turn(
    parts: Sequence[Turn],
    on_progress: OnProgress,
    budget_s: float | None,
) -> Iterator[tuple[ComparisonRecord | None, str | None]]:
    """Yield each measurement, or None and the reason why nothing of it could run."""
    began = time.perf_counter()
    for index, part in enumerate(parts):
        share_s = None
        if budget_s is not None:
            left_s = budget_s - (time.perf_counter() - began)
            share_s = max(left_s / (len(parts) - index), _LEAST_BUDGET_S)
        tell = partial_progress(on_progress, part.name, index, len(parts), began)
        try:
            yield part.measure(tell, share_s), None
        except (Cancelled, ConfigError, StorageError):
            raise
        except WorkbenchError as error:
            yield None, error.problem


def partial_progress(on_progress: OnProgress, name: str, index: int, count: int, began: float) -> OnProgress:
    """Return a callback that reports the progress of one of several measurements as a part of all."""

    def tell(progress: Progress) -> None:
        on_progress(
            replace(
                progress,
                doing=f"{name} ({index + 1} of {count}): {progress.doing}",
                elapsed_s=time.perf_counter() - began,
                fraction=(index + (progress.fraction or 0.0)) / count,
                remaining_s=None,
                samples=(),
            )
        )

    return tell
