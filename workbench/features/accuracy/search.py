"""Search for the layers to leave in float so that the error meets a budget; every step is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.features.accuracy.sensitivity_record import LayerSensitivity, TriedExclusion

MOST_RESTORED = 8  # tries to quantize an excluded layer again

# Names of excluded candidates → error; None: it has no size.
Measure = Callable[[tuple[str, ...]], float | None]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The smallest set of the search. `met` is False when excluding all of them is not enough."""

    excluded: tuple[str, ...]
    error: float | None
    met: bool
    attempts: tuple[TriedExclusion, ...]


def search(
    rows: Sequence[LayerSensitivity], whole_error: float | None, max_error: float, measure: Measure
) -> SearchResult:
    """Exclude the worst layers until the budget is met, then quantize again those that need no exclusion.

    `rows` hold the error of each layer alone. Errors of layers are nearly independent, so their squares add
    up: the sum gives the number of layers to exclude at once, and the measured error is the check.
    """
    attempts: list[TriedExclusion] = []

    def measured(excluded: tuple[str, ...]) -> float | None:
        known = next((attempt.error for attempt in attempts if set(attempt.excluded) == set(excluded)), None)
        if known is not None:
            return known
        error = measure(excluded)
        attempts.append(TriedExclusion(excluded, error))
        return error

    if whole_error is not None and whole_error <= max_error:
        return SearchResult((), whole_error, True, ())
    order = sorted(rows, key=_worst_first)
    error: float | None = whole_error
    count = 1 if error is None else _needed(order, error, max_error)
    while count <= len(order):
        error = measured(tuple(row.name for row in order[:count]))
        if _within(error, max_error):
            break
        count += count if error is None else _needed(order[count:], error, max_error)
        if count > len(order) and len(attempts[-1].excluded) < len(order):
            count = len(order)
    chosen = attempts[-1].excluded if attempts else ()
    if not _within(error, max_error):
        return SearchResult(chosen, error, False, tuple(attempts))
    chosen, error = _restored(rows, chosen, error, max_error, measured)
    return SearchResult(chosen, error, True, tuple(attempts))


def _restored(
    rows: Sequence[LayerSensitivity],
    chosen: tuple[str, ...],
    error: float | None,
    max_error: float,
    measured: Measure,
) -> tuple[tuple[str, ...], float | None]:
    """Quantize excluded layers again one by one, those first that save most time and cause least error."""
    by_name = {row.name: row for row in rows}
    candidates = sorted(chosen, key=lambda name: _restore_first(by_name[name]))
    for name in candidates[:MOST_RESTORED]:
        fewer = tuple(layer for layer in chosen if layer != name)
        fewer_error = measured(fewer) if fewer else None  # all quantized did not meet the budget
        if _within(fewer_error, max_error):
            chosen, error = fewer, fewer_error
    return chosen, error


def _needed(order: Sequence[LayerSensitivity], error: float, max_error: float) -> int:
    """Return how many of the worst to exclude for the squares of the rest to meet the budget; at least 1."""
    square, count = error**2, 0
    for row in order:
        if square <= max_error**2:
            break
        square -= (row.error or error) ** 2
        count += 1
    return max(1, count)


def _worst_first(row: LayerSensitivity) -> tuple[int, float, float]:
    """Return the sort key: the largest error first, then the least time saved."""
    if row.problem is not None:
        return (1, 0.0, 0.0)
    error = float("inf") if row.error is None else row.error
    return (0, -error, row.gain_s or 0.0)


def _restore_first(row: LayerSensitivity) -> tuple[float, float]:
    return (-(row.gain_s or 0.0), row.error if row.error is not None else float("inf"))


def _within(error: float | None, max_error: float) -> bool:
    return error is not None and error <= max_error
