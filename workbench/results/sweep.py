"""Configs at several sizes, as notebooks hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import BundleError, ConfigError
from workbench.judge.best import Best, BestLimits, Contender, contenders_of, missing
from workbench.judge.compare_request import labels_of
from workbench.judge.sweep import SweepRecord
from workbench.judge.sweep_points import SweepPoint
from workbench.records.comparison import ComparisonRecord
from workbench.records.kinds import check_measured_runs
from workbench.results.comparison import Comparison
from workbench.results.registry import ResultKind
from workbench.results.result import Result
from workbench.text import shorten

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.figures.scene import Scene
    from workbench.report.document import Document


class Sweep(Result):
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
                return Comparison(measured, self.structure) if len(measured.runs) > 1 else measured
        raise ConfigError(
            f"there is no point {sizes}", f"the points are: {'; '.join(point.name for point in self.points)}"
        )

    def best(
        self,
        *,
        max_p50_s: float | None = None,
        max_p99_s: float | None = None,
        max_memory_bytes: int | None = None,
    ) -> Best:
        """Return the point with most items a second that keeps these limits: yes, no, or not settled."""
        limits = BestLimits(max_p50_s, max_p99_s, max_memory_bytes)
        contenders: list[Contender] = []
        for point in self.points:
            if point.measured is None:
                contenders.append(missing(self.record.model_name, point.problem or "", place=point.name))
            else:
                contenders += contenders_of(point.measured, limits, place=point.name, items=point.items)
        return Best(tuple(contenders))

    def to_python(self, label: str = "A", model: Any = "model.onnx") -> str:
        """Return plain ONNX Runtime code that runs one of the configs."""
        configs = {
            run.label: run.config for point in self.points if point.measured for run in point.measured.runs
        }
        if label not in configs:
            raise ConfigError(f"there is no run {label!r}", f"the runs are: {', '.join(configs)}")
        return configs[label].to_python(model)

    def figure(self) -> go.Figure:
        """Draw latency and throughput against size, a line for each config."""
        from workbench.figures.sweep import sweep_figure

        return sweep_figure(self.record)

    def still(self) -> Scene:
        """Draw latency and throughput against size, a line for each config."""
        from workbench.figures.sweep import sweep_scene

        return sweep_scene(self.record)

    def document(self) -> Document:
        """Return its page: the answer, figure and table, the doubts of each point, the origin."""
        from workbench.report.document import Document
        from workbench.report.pieces import facts, figured, paragraph

        page = Document(f"{self.subject}: sweep", "".join(map(paragraph, str(self).splitlines())))
        page.add("result", "Result", figured(self))
        doubts = [
            (point.name, f"{doubt.kind}: {doubt.evidence}. Fix: {doubt.fix}")
            for point in self.points
            if point.measured is not None
            for doubt in point.measured.doubts
        ]
        page.add(
            "doubts", "Doubts", facts(doubts) if doubts else paragraph("No reason to doubt it was found.")
        )
        self._add_origin(page)
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


KIND = ResultKind(
    "sweep",
    SweepRecord,
    check_sweep,
    None,
    result=Sweep,
    entry="workbench.api.sweeping:sweep",
    takes=("budget_s", "calibration", "seed", "progress", "keep"),
    heading="Latency and throughput by size",
    button="Sweep the batch",
    hint="Latency and throughput of the config shown at batches of 1, 4 and 16",
    step="one batch size after another",
    tabs=("latency",),
)
