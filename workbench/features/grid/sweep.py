"""Configs of one model at several sizes, or at several values of a knob."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, with_own_names
from workbench.core.config.fields import SWEPT
from workbench.core.errors import ConfigError
from workbench.core.feature import Feature
from workbench.core.form import Field, axes
from workbench.core.measure.limits import ShowProgress
from workbench.core.measure.measurement import in_words
from workbench.core.measure.wording import speed_in_words
from workbench.core.models.size_examples import values_to_try
from workbench.core.models.sizes import free_names, is_batch
from workbench.core.text import counted, factor, factor_ends, in_ms, one_line, shorten
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.compare.result import Comparison
from workbench.features.grid.record import (
    GridAxis,
    GridRecord,
    Place,
    Winner,
    check_grid,
    gates_of_grid,
    grid_frame,
)
from workbench.features.grid.result import Grid


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two neighbouring sizes of an axis between which the winner changes; `at` is an estimate."""

    axis: str
    where: str  # the other sizes, in words
    before: str
    after: str
    low: int
    high: int
    at: float | None


@dataclass(frozen=True, slots=True)
class SweepRecord(GridRecord):
    """One model at several sizes or values of a knob."""

    @property
    def model_name(self) -> str:
        """Return the name of the model, which is untrusted."""
        return self.places[0].model

    @property
    def size_axes(self) -> tuple[GridAxis, ...]:
        """Return the axes of sizes."""
        return tuple(axis for axis in self.axes if axis.kind == "size")

    def crossings(self) -> tuple[Crossing, ...]:
        """Return where the winner changes from one size to the next, along each axis of sizes."""
        crossings = []
        winners = self.winners()
        for axis in self.size_axes:
            for line in _lines(winners, axis.name):
                clear = [(size, point, winner) for size, point, winner in line if winner.standing == "clear"]
                for before, after in pairwise(clear):
                    if before[2].label != after[2].label:
                        crossings.append(_crossing(axis.name, before, after))
        return tuple(crossings)

    @property
    def unit(self) -> str:
        """Return what throughput counts."""
        return "items" if any(is_batch(axis.name) for axis in self.size_axes) else "runs"

    @property
    def longest_axis(self) -> GridAxis | None:
        """Return the axis with most values; None where nothing is swept."""
        return max(self.axes, key=lambda axis: len(axis.values), default=None)

    @property
    def headline(self) -> str:
        """Return what was swept, and the answer in one sentence."""
        axes = " × ".join(shorten(axis.name) for axis in self.axes)
        swept = f"{shorten(self.model_name)}: {counted(len(self.places), 'point')} of {axes or 'one size'}"
        best = max(
            (row for row in self.all_cells() if row.rate().value is not None and not row.is_wrong),
            key=lambda row: row.rate().value or 0.0,
            default=None,
        )
        if best is None:
            return f"{swept}; nothing was measured"
        by = f" by {best.label} ({best.series.name})" if len(self.series) > 1 else ""
        most = in_words(best.rate()).removeprefix("throughput ").replace("runs/s", f"{self.unit}/s")
        return f"{swept}; most {most} at {best.place.size}{by}"

    def to_frame(self) -> DataFrame:
        """Return one row per point and config: sizes, latency, items a second, memory, verdict, failure."""
        frame = grid_frame(
            [
                {
                    **dict(row.place.sizes),
                    "label": row.label,
                    "config": row.series.name,
                    **row.latency_cells(),
                    **row.rate().cells("items_per_s"),
                    "first_run_s": None if row.run is None else row.run.first_run_s,
                    "peak_rss_bytes": None if row.run is None else row.run.peak_rss_bytes,
                    **row.verdict_cells(),
                    "wins": row.wins,
                    "failure": row.problem,
                }
                for row in self.all_cells()
            ]
        )
        return with_own_names(frame, (axis.name for axis in self.axes if axis.kind == "size"))

    def __str__(self) -> str:
        lines = [self.headline]
        lines += [f"  {point.size}: {_winner_text(point, winner)}" for point, winner in self.winners()]
        lines += [f"  {_crossing_text(crossing)}" for crossing in self.crossings()]
        if len(self.series) < 2:
            for row in self.all_cells():
                latency = in_ms(row.latency().value) or f"not measured: {one_line(row.problem or '')}"
                lines.append(f"  {row.place.size}: {latency}")
        return "\n".join(lines)


def _lines(winners: tuple[tuple[Place, Winner], ...], axis: str) -> Iterator[list[tuple[int, Place, Winner]]]:
    """Yield the points along an axis by growing size, a list for each choice of the other sizes."""
    groups: dict[tuple[tuple[str, int], ...], list[tuple[int, Place, Winner]]] = {}
    for point, winner in winners:
        others = tuple(size for size in point.sizes if size[0] != axis)
        groups.setdefault(others, []).append((dict(point.sizes)[axis], point, winner))
    for group in groups.values():
        yield sorted(group, key=lambda entry: entry[0])


def _crossing(axis: str, before: tuple[int, Place, Winner], after: tuple[int, Place, Winner]) -> Crossing:
    (low, point, first), (high, later, second) = before, after
    names = (str(first.label), str(second.label))
    where = ", ".join(f"{shorten(name)} {size}" for name, size in point.sizes if name != axis)
    ends = [_log_ratio(at.measured, *names) for at in (point, later)]
    at = None
    if ends[0] is not None and ends[1] is not None and ends[0] < 0 < ends[1]:
        share = ends[0] / (ends[0] - ends[1])
        at = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    return Crossing(axis, where, *names, low, high, at)


def _log_ratio(measured: ComparisonRecord | None, first: str, second: str) -> float | None:
    """Return the log of the first config's time over the second's."""
    if measured is None:
        return None
    ratios = {verdict.label: verdict.ratio for verdict in measured.verdicts}
    gains = [1.0 if label == measured.runs[0].label else ratios.get(label) for label in (first, second)]
    if gains[0] is None or gains[1] is None:
        return None
    return math.log(gains[1] / gains[0])


def _winner_text(point: Place, winner: Winner) -> str:
    if point.measured is None:
        return f"not measured: {one_line(point.problem or '')}"
    others = [verdict for verdict in point.measured.verdicts if verdict.label == winner.label]
    if winner.standing == "clear" and others and others[0].bound is not None:
        verdict = others[0]
        if verdict.ratio is None:
            return f"{winner} ({speed_in_words(verdict)} than A)"
        times = factor(verdict.ratio, verdict.low, verdict.high)
        return f"{winner}: {times} as fast as A{factor_ends(verdict.low, verdict.high)}"
    return str(winner)


def _crossing_text(crossing: Crossing) -> str:
    axis, where = shorten(crossing.axis), f" (at {crossing.where})" if crossing.where else ""
    at = "" if crossing.at is None else f"; they cross at about {crossing.at:.0f}"
    return f"{crossing.before} wins at {axis} {crossing.low}, {crossing.after} at {crossing.high}{where}{at}"


class Sweep(Grid):
    """Configs at several sizes or values of a knob. Made by `wb.sweep`."""

    record: SweepRecord

    @property
    def points(self) -> tuple[Place, ...]:
        """Every point, in the order given."""
        return self.record.places

    def at(self, **sizes: int) -> Comparison | ComparisonRecord:
        """Return the comparison at one point, `result.at(batch=8)`; of a lone config its record."""
        for point in self.points:
            if dict(point.sizes) == sizes:
                return self._comparison(point)
        raise ConfigError(
            f"there is no point {sizes}", f"the points are: {'; '.join(point.size for point in self.points)}"
        )

    def accuracy(
        self,
        data: Any = None,
        *,
        progress: ShowProgress = True,
        cancel: threading.Event | None = None,
        **options: Any,
    ) -> AccuracyTable:
        """Measure the accuracy of each config once, at the sizes of the data, and keep it with the sweep.

        `data` and `options` (metric, output, most, batch) are those of `wb.accuracy`.
        """
        return self._measure_accuracy(self.record.model_name, data, progress, cancel, **options)


def _axis(model: Any) -> str:
    """Return an axis that the model has: its batch, another free dim, or a knob."""
    dims = ("batch",) if model is None else free_names(model.structure)
    name = next(filter(is_batch, dims), next(iter(dims), SWEPT[0]))
    return f"{name}={values_to_try(model, name)}"


def _first_axis(model: Any, _data: str) -> str:
    """Return an axis of a model without a batch; empty: the batch."""
    has_batch = model is None or any(map(is_batch, free_names(model.structure)))
    return "" if has_batch else _axis(model)


FEATURE = Feature(
    "sweep",
    SweepRecord,
    check_grid,
    result=Sweep,
    figure="workbench.features.grid.chart:sweep_figure",
    picture="workbench.features.grid.chart:sweep_scene",
    call="workbench.features.grid.calls:sweep",
    per="runs",
    takes=("budget_s", "calibration", "seed", "progress", "keep"),
    form=(
        Field(
            "sizes",
            "over",
            "A free dimension of the model or a knob, and its values. Empty: the batch at 1, 4 and 16",
            axes,
            text=_first_axis,
            example=_axis,
            has_axes=True,
            before="Run all configs over",
        ),
    ),
    gates=gates_of_grid,
    keeps_accuracy=True,
    heading="Latency and throughput by size",
    button="Sweep",
    hint="Latency and throughput of all configs at several sizes, or at several values of a knob",
    step="one size after another",
    tabs=("Explore",),
)
