"""A sweep: configs measured at each of several sizes, and who wins where."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.run import labels_of
from workbench.core.config import Config
from workbench.core.measure.measurement import in_words
from workbench.core.measure.percentiles import Estimate
from workbench.core.measure.wording import speed_in_words
from workbench.core.models.sizes import is_batch
from workbench.core.text import counted, factor, factor_ends, in_ms, one_line, shorten
from workbench.features.grid.measured import MeasuredConfig, configs_of, measured_frame
from workbench.features.grid.winner import Winner, winner_of

if TYPE_CHECKING:
    import pandas as pd

NAME = 60  # characters of a series' name in a table


@dataclass(frozen=True, slots=True)
class SweepAxis:
    """One size or one knob that is swept, and its values in words."""

    name: str
    kind: Literal["size", "knob"]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepSeries:
    """One config at one value of each knob: a run of every point."""

    config: str  # the config that was given, in words
    knobs: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Return the config and its knobs in words."""
        return ", ".join([self.config, *(f"{shorten(name)} {value}" for name, value in self.knobs)])


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """The sizes of one point, and what was measured there; None: nothing, for the reason in `problem`."""

    sizes: tuple[tuple[str, int], ...]
    measured: ComparisonRecord | None
    problem: str | None

    @property
    def items(self) -> int:
        """Return the items of one run: the batch."""
        return math.prod(size for name, size in self.sizes if is_batch(name))

    @property
    def name(self) -> str:
        """Return the sizes in words."""
        return size_text(self.sizes)


@dataclass(frozen=True, slots=True)
class SweepRow(MeasuredConfig):
    """One config at one point."""

    point: SweepPoint
    series: SweepSeries
    wins: bool

    @property
    def places(self) -> dict[str, str]:
        """Return the value on each axis, in words."""
        return {**{name: str(size) for name, size in self.point.sizes}, **dict(self.series.knobs)}

    def rate(self) -> Estimate:
        """Return the items a second of consecutive runs."""
        return MeasuredConfig.rate(self).times(self.point.items)


def size_text(sizes: tuple[tuple[str, int], ...]) -> str:
    """Return sizes in words."""
    return ", ".join(f"{shorten(name)} {size}" for name, size in sizes) or "the default sizes"


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
class SweepRecord:
    """Every point of a sweep. The configs of a point are measured together: one a series, A the baseline."""

    model_name: str
    axes: tuple[SweepAxis, ...]
    configs: tuple[Config, ...]
    series: tuple[SweepSeries, ...]  # what each run of a point is, in their order
    points: tuple[SweepPoint, ...]

    @property
    def size_axes(self) -> tuple[SweepAxis, ...]:
        """Return the axes of sizes."""
        return tuple(axis for axis in self.axes if axis.kind == "size")

    def rows(self) -> Iterator[SweepRow]:
        """Yield every config at every point."""
        for point in self.points:
            winner = winner_of(point.measured)
            labels = labels_of(len(self.series))
            for series, config in zip(
                self.series, configs_of(point.measured, labels, point.problem), strict=True
            ):
                wins = winner == Winner(config["label"], "clear") and len(self.series) > 1
                yield SweepRow(**config, point=point, series=series, wins=wins)

    def winners(self) -> tuple[tuple[SweepPoint, Winner], ...]:
        """Return who wins at each point; nothing where one config alone was swept."""
        if len(self.series) < 2:
            return ()
        return tuple((point, winner_of(point.measured)) for point in self.points)

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
    def longest_axis(self) -> SweepAxis | None:
        """Return the axis with most values; None where nothing is swept."""
        return max(self.axes, key=lambda axis: len(axis.values), default=None)

    @property
    def headline(self) -> str:
        """Return what was swept, and the answer in one sentence."""
        axes = " × ".join(shorten(axis.name) for axis in self.axes)
        swept = f"{shorten(self.model_name)}: {counted(len(self.points), 'point')} of {axes or 'one size'}"
        best = max(
            (row for row in self.rows() if row.rate().value is not None),
            key=lambda row: row.rate().value or 0.0,
            default=None,
        )
        if best is None:
            return f"{swept}; nothing was measured"
        by = f" by {best.label} ({best.series.name})" if len(self.series) > 1 else ""
        most = in_words(best.rate()).removeprefix("throughput ").replace("runs/s", f"{self.unit}/s")
        return f"{swept}; most {most} at {best.point.name}{by}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per point and config: sizes, latency, items a second, memory, verdict, failure."""
        return measured_frame(
            [
                {
                    **dict(row.point.sizes),
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
                for row in self.rows()
            ]
        )

    def __str__(self) -> str:
        lines = [self.headline]
        lines += [f"  {point.name}: {_winner_text(point, winner)}" for point, winner in self.winners()]
        lines += [f"  {_crossing_text(crossing)}" for crossing in self.crossings()]
        if len(self.series) < 2:
            for row in self.rows():
                latency = in_ms(row.latency().value) or f"not measured: {one_line(row.problem or '')}"
                lines.append(f"  {row.point.name}: {latency}")
        return "\n".join(lines)


def _lines(
    winners: tuple[tuple[SweepPoint, Winner], ...], axis: str
) -> Iterator[list[tuple[int, SweepPoint, Winner]]]:
    """Yield the points along an axis by growing size, a list for each choice of the other sizes."""
    groups: dict[tuple[tuple[str, int], ...], list[tuple[int, SweepPoint, Winner]]] = {}
    for point, winner in winners:
        others = tuple(size for size in point.sizes if size[0] != axis)
        groups.setdefault(others, []).append((dict(point.sizes)[axis], point, winner))
    for group in groups.values():
        yield sorted(group, key=lambda entry: entry[0])


def _crossing(
    axis: str, before: tuple[int, SweepPoint, Winner], after: tuple[int, SweepPoint, Winner]
) -> Crossing:
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


def _winner_text(point: SweepPoint, winner: Winner) -> str:
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
