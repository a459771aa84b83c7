"""The error and the speed gain of quantizing each layer of a model, and the proposal of a search."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.bundle.estimate import Estimate
from workbench.core.html_table import html_table
from workbench.core.text import in_ms

Mode = Literal["alone", "left out"]
_MOST_ROWS = 15
_SIGNED = {"signed": True}  # negative: quantizing costs time
MANY = "no size can be given to it"


@dataclass(frozen=True, slots=True)
class LayerSensitivity:
    """One layer or block. `error` is the rms error of the worst output; None: no finite size, or no variant.

    In mode "alone" only this layer is quantized, so the error is its own; in mode "left out" all others
    are quantized, so the error is what remains without this layer.
    """

    name: str
    nodes: tuple[str, ...]  # the names for `exclude`, or the type for `blocked_ops`
    op_types: tuple[str, ...]
    error: float | None
    gain_s: float | None = field(metadata=_SIGNED)  # seconds saved per run by quantizing the layer
    gain_low_s: float | None = field(metadata=_SIGNED)
    gain_high_s: float | None = field(metadata=_SIGNED)
    problem: str | None  # the reason for a missing error

    @property
    def gain(self) -> Estimate:
        """The seconds that quantizing the layer saves per run."""
        return Estimate(self.gain_s, self.gain_low_s, self.gain_high_s)


@dataclass(frozen=True, slots=True)
class SensitivityRecord:
    """Every candidate layer, in the order of the graph."""

    model_name: str
    config: str  # config in words
    mode: Mode
    whole_error: float | None  # error with all candidates quantized
    rows: tuple[LayerSensitivity, ...]
    latency_how: str  # source of the gains: measured, or estimated from profiles
    item_count: int
    made_by: str
    real: bool
    notes: tuple[str, ...]

    @property
    def worst(self) -> tuple[LayerSensitivity, ...]:
        """Return candidates by the error that each causes; those whose error has no finite size first."""
        sign = -1 if self.mode == "alone" else 1
        return tuple(sorted(self.rows, key=lambda layer: _rank(layer, sign)))

    def won_back_db(self, layer: LayerSensitivity) -> float | None:
        """Return by how many decibels the error shrinks without this layer; None where it is not known."""
        if layer.error is None or not self.whole_error:
            return None
        return math.inf if layer.error == 0 else 20 * math.log10(self.whole_error / layer.error)

    def given_up(self, layer: LayerSensitivity) -> float | None:
        """Return the share of the saved time that this layer saves; None where it is not known."""
        saved_s = sum(max(0.0, row.gain_s or 0.0) for row in self.rows)
        return None if layer.gain_s is None or not saved_s else max(0.0, layer.gain_s) / saved_s

    def to_frame(self) -> DataFrame:
        """Return one row per candidate, the worst first."""
        rows = [
            {
                "layer": layer.name,
                "op_types": ", ".join(layer.op_types),
                f"error_{self.mode.replace(' ', '_')}": layer.error,
                **layer.gain.times(1e3).cells("gain", "_ms"),
                "nodes": len(layer.nodes),
                "problem": layer.problem,
            }
            for layer in self.worst
        ]
        frame = data_frame(rows)
        numbers = [name for name in frame.columns if name.startswith(("error", "gain"))]
        return frame.astype(dict.fromkeys(numbers, "float64"))

    def __str__(self) -> str:
        how = "quantized alone" if self.mode == "alone" else "left out alone"
        whole = "not known" if self.whole_error is None else f"{self.whole_error * 100:.3g} %"
        worst = "; ".join(f"{layer.name} {_percent(layer.error)}" for layer in self.worst[:3])
        return (
            f"{self.model_name}, {self.config}: all quantized the error is {whole}; each of {len(self.rows)} "
            f"{how}: {worst} (latency {self.latency_how})"
        )

    def _repr_html_(self) -> str:
        rows = [
            (layer.name, ", ".join(layer.op_types), layer.problem or _percent(layer.error), _saved(layer))
            for layer in self.worst[:_MOST_ROWS]
        ]
        heads = ("layer", "operators", f"error, {self.mode}", f"time saved ({self.latency_how})")
        return f"<p>{escape(str(self))}</p>{html_table(heads, rows, 'the worst first')}"


@dataclass(frozen=True, slots=True)
class TriedExclusion:
    """One set of excluded layers that the search tried, with its measured error."""

    excluded: tuple[str, ...]  # names of candidate layers
    error: float | None


@dataclass(frozen=True, slots=True)
class ProposalRecord:
    """The layers to exclude to meet an error budget; every error is measured, none is predicted."""

    model_name: str
    max_error: float
    met: bool
    reason: str
    excluded: tuple[str, ...]  # names of candidate layers
    nodes: tuple[str, ...]  # the names for `exclude`, or the type for `blocked_ops`
    whole_error: float | None  # error with nothing excluded
    error: float | None  # error with the proposed layers excluded
    cost_s: float | None  # seconds per run that the exclusion costs
    cost_low_s: float | None
    cost_high_s: float | None
    cost_how: str
    attempts: tuple[TriedExclusion, ...]
    cost_confidence: float = 0.95  # of the interval from cost_low_s to cost_high_s

    def __str__(self) -> str:
        cost = "" if not self.excluded or self.cost_s is None else f"; {self._cost(self.cost_s)}"
        return f"{self.model_name}: {self.reason}{cost}"

    def _cost(self, cost_s: float) -> str:
        low_s, high_s = self.cost_low_s, self.cost_high_s
        kind = f"{self.cost_confidence * 100:.0f} % interval"
        if low_s is None or high_s is None:
            return f"it {'costs' if cost_s >= 0 else 'saves'} {in_ms(abs(cost_s), 3)} a run ({self.cost_how})"
        if low_s < 0 < high_s:
            low, value, high = (in_ms(end_s, 3, signed=True) for end_s in (low_s, cost_s, high_s))
            return f"it changes a run by {value}, {kind} {low} to {high} ({self.cost_how})"
        low, value, high = (in_ms(abs(end_s), 3) for end_s in sorted((low_s, cost_s, high_s), key=abs))
        verb = "costs" if cost_s >= 0 else "saves"
        return f"it {verb} {value} a run, {kind} {low} to {high} ({self.cost_how})"


def _saved(row: LayerSensitivity) -> str:
    if row.gain_s is None or row.gain_low_s is None or row.gain_high_s is None:
        return in_ms(row.gain_s) or ""
    low, high = (in_ms(end_s, 3) for end_s in (row.gain_low_s, row.gain_high_s))
    return f"{in_ms(row.gain_s, 3)} ({low} to {high})"


def _rank(layer: LayerSensitivity, sign: int) -> tuple[int, float]:
    if layer.problem is not None:
        return (2, 0.0)
    return (0 if layer.error is None else 1, sign * (layer.error or 0.0))


def _percent(error: float | None) -> str:
    return MANY if error is None else f"{error * 100:.3g} %"


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
