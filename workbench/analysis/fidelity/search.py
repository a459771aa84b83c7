"""Which layers to leave in float so that the error stays within a budget; measured at each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.records.sensitivity import Attempt, LayerSensitivity

MOST_GIVEN_BACK = 8  # tries to quantize one of the excluded again

Measure = Callable[
    [tuple[str, ...]], float | None
]  # names of excluded candidates → error; None: it has no size


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The smallest set that the search found. `met` is False when even all of them are not enough."""

    excluded: tuple[str, ...]
    error: float | None
    met: bool
    attempts: tuple[Attempt, ...]


def search(
    rows: Sequence[LayerSensitivity], whole_error: float | None, max_error: float, measure: Measure
) -> SearchResult:
    """Exclude the worst until the budget is met, then give back what is not needed.

    `rows` hold each candidate's error alone. Errors of layers are nearly independent, so their squares add
    up: that says how many to exclude at once, and the measured error says whether it was enough.
    """
    attempts: list[Attempt] = []

    def tried(excluded: tuple[str, ...]) -> float | None:
        known = next((one.error for one in attempts if set(one.excluded) == set(excluded)), None)
        if known is not None:
            return known
        error = measure(excluded)
        attempts.append(Attempt(excluded, error))
        return error

    if whole_error is not None and whole_error <= max_error:
        return SearchResult((), whole_error, True, ())
    order = [one.name for one in sorted(rows, key=_worst_first)]
    error: float | None = whole_error
    count = _enough(rows, whole_error, max_error)
    while count <= len(order):
        error = tried(tuple(order[:count]))
        if _within(error, max_error):
            break
        count += max(1, _more(rows, order, count, error, max_error))
        if count > len(order) and len(attempts[-1].excluded) < len(order):
            count = len(order)
    chosen = attempts[-1].excluded if attempts else ()
    if not _within(error, max_error):
        return SearchResult(chosen, error, False, tuple(attempts))
    chosen, error = _given_back(rows, chosen, error, max_error, tried)
    return SearchResult(chosen, error, True, tuple(attempts))


def _given_back(
    rows: Sequence[LayerSensitivity],
    chosen: tuple[str, ...],
    error: float | None,
    max_error: float,
    tried: Measure,
) -> tuple[tuple[str, ...], float | None]:
    """One by one, what saves most time first and causes least error."""
    by_name = {one.name: one for one in rows}
    candidates = sorted(chosen, key=lambda name: _worth_giving_back(by_name[name]))
    for name in candidates[:MOST_GIVEN_BACK]:
        fewer = tuple(one for one in chosen if one != name)
        found = tried(fewer) if fewer else None  # all quantized is what did not meet the budget
        if _within(found, max_error):
            chosen, error = fewer, found
    return chosen, error


def _enough(rows: Sequence[LayerSensitivity], whole_error: float | None, max_error: float) -> int:
    """How many of the worst must go for the squares of the rest to meet the budget; at least one."""
    return 1 if whole_error is None else max(1, _needed(rows, 0, whole_error, max_error))


def _more(
    rows: Sequence[LayerSensitivity], order: Sequence[str], count: int, error: float | None, max_error: float
) -> int:
    """How many more, from what is left after `count`."""
    if error is None:
        return max(1, count)
    left = [one for one in rows if one.name in set(order[count:])]
    return _needed(left, 0, error, max_error)


def _needed(rows: Sequence[LayerSensitivity], count: int, error: float, max_error: float) -> int:
    square = error**2
    for one in sorted(rows, key=_worst_first):
        if square <= max_error**2:
            break
        square -= (one.error or error) ** 2
        count += 1
    return count


def _worst_first(one: LayerSensitivity) -> tuple[int, float, float]:
    """Of equal errors the one that saves least time."""
    if one.problem is not None:
        return (1, 0.0, 0.0)
    error = float("inf") if one.error is None else one.error
    return (0, -error, one.gain_s or 0.0)


def _worth_giving_back(one: LayerSensitivity) -> tuple[float, float]:
    return (-(one.gain_s or 0.0), one.error if one.error is not None else float("inf"))


def _within(error: float | None, max_error: float) -> bool:
    return error is not None and error <= max_error
