"""Configs at several sizes, as notebooks hold them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.kinds import check_measured_runs
from workbench.core.bundle.run import labels_of
from workbench.core.config import Config
from workbench.core.errors import BundleError, ConfigError
from workbench.core.feature import Feature
from workbench.core.form import Field, axes
from workbench.core.measure.limits import Progress
from workbench.core.text import shorten
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import paragraph
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.compare.result import Comparison
from workbench.features.grid.best import BestLimits, Contender, contenders_of, missing
from workbench.features.grid.several import SeveralComparisons
from workbench.features.grid.sweep import SweepPoint, SweepRecord


class Sweep(SeveralComparisons):
    """Configs at several sizes or values of a knob. Made by `wb.sweep`.

    >>> import workbench as wb
    >>> wb.Sweep.__name__
    'Sweep'
    """

    record: SweepRecord

    @property
    def points(self) -> tuple[SweepPoint, ...]:
        """Every point, in the order given."""
        return self.record.points

    def at(self, **sizes: int) -> Comparison | ComparisonRecord:
        """Return the comparison at one point, `result.at(batch=8)`; of a lone config its record."""
        for point in self.points:
            if dict(point.sizes) == sizes:
                if point.measured is None:
                    raise ConfigError(
                        f"nothing was measured at {point.name}: {point.problem}", "sweep it again"
                    )
                measured = point.measured
                return Comparison(measured, structure=self.structure) if len(measured.runs) > 1 else measured
        raise ConfigError(
            f"there is no point {sizes}", f"the points are: {'; '.join(point.name for point in self.points)}"
        )

    def accuracy(
        self,
        data: Any = None,
        *,
        progress: bool | Callable[[Progress], None] = True,
        cancel: threading.Event | None = None,
        **options: Any,
    ) -> AccuracyTable:
        """Measure the accuracy of each config once, at the sizes of the data, and keep it with the sweep.

        `data` and `options` (metric, output, most, batch) are those of `wb.accuracy`.
        """
        return self._measure_accuracy(self.record.model_name, data, progress, cancel, **options)

    def _measured(self) -> Iterator[tuple[str, ComparisonRecord]]:
        yield from ((point.name, point.measured) for point in self.points if point.measured is not None)

    def _contenders(self, limits: BestLimits) -> Iterator[Contender]:
        accuracy = self.accuracy_of(self.record.model_name)
        for point in self.points:
            if point.measured is None:
                yield missing(self.record.model_name, point.problem or "", place=point.name)
            else:
                yield from contenders_of(
                    point.measured, limits, accuracy, place=point.name, items=point.items
                )

    def _configs(self) -> dict[str, Config]:
        return {run.label: run.config for _, measured in self._measured() for run in measured.runs}

    def document(self) -> Document:
        """Return its page: the answer, figure and table, the doubts of each point, the origin."""
        page = Document(f"{self.subject}: sweep", "".join(map(paragraph, str(self).splitlines())))
        self._add_result(page)
        return page


def check_sweep(record: SweepRecord, fix: str) -> None:
    """Refuse a record that no sweep could have made."""
    axes = tuple(axis.name for axis in record.size_axes)
    labels = list(labels_of(len(record.series)))
    if not record.points or not record.series or not record.configs:
        raise BundleError("points, series and configs: expected one or more of each.", fix)
    if len({axis.name for axis in record.axes}) != len(record.axes):
        raise BundleError("axes: expected each name once.", fix)
    for at, point in enumerate(record.points):
        if tuple(name for name, _ in point.sizes) != axes or any(size < 1 for _, size in point.sizes):
            raise BundleError(f"points[{at}].sizes: expected a size of each axis, from 1 up.", fix)
        if point.measured is None:
            continue
        check_measured_runs(point.measured, fix, least=1)
        if [run.label for run in point.measured.runs] != labels:
            names = ", ".join(map(shorten, labels[:3]))
            raise BundleError(f"points[{at}].measured.runs: expected the runs {names}….", fix)


FEATURE = Feature(
    "sweep",
    SweepRecord,
    check_sweep,
    result=Sweep,
    figure="workbench.features.grid.sweep_chart:sweep_figure",
    picture="workbench.features.grid.sweep_chart:sweep_scene",
    call="workbench.features.grid.sweep_call:sweep",
    per="runs",
    takes=("budget_s", "calibration", "seed", "progress", "keep"),
    form=(
        Field(
            "sizes",
            "over",
            "A free dimension of the model or a knob, and its values. Empty: the batch at 1, 4 and 16",
            axes,
            example="batch=1, 8, 32",
            has_axes=True,
        ),
    ),
    heading="Latency and throughput by size",
    button="Sweep",
    hint="Latency and throughput of all configs at several sizes, or at several values of a knob",
    step="one size after another",
    tabs=("scenarios", "latency"),
)
