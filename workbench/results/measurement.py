"""One config measured alone, as notebooks hold it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.errors import BundleError
from workbench.judge.compare import compare
from workbench.judge.continuing import request_to_continue
from workbench.judge.goal import MOST_PERCENTILES
from workbench.judge.measurement import MeasurementRecord
from workbench.measurement.bar import bar
from workbench.measurement.limits import Limits, Progress
from workbench.models import Inputs, Model, load
from workbench.records.comparison import Doubt
from workbench.records.kinds import about_comparison, check_measured_runs
from workbench.records.origin import Origin
from workbench.records.run import Run
from workbench.results.examining import check_same, inputs_again, missing_model
from workbench.results.registry import ResultKind
from workbench.results.result import Result

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.figures.scene import Scene
    from workbench.report.document import Document


class Measurement(Result):
    """One config measured alone: percentiles, throughput, load, memory. Made by `wb.measure`.

    >>> import workbench as wb
    >>> wb.Measurement.__name__
    'Measurement'
    """

    record: MeasurementRecord
    _model: Model | None = None
    _inputs: Inputs | None = None
    _calibration: Any = None

    @property
    def run(self) -> Run:
        """The run, with every sample."""
        return self.record.run

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Reasons not to trust it fully, each with a fix."""
        return self.record.measured.doubts

    def attach(self, model: Model | str | Path | Any, *, inputs: Any = None, calibration: Any = None) -> Self:
        """Give a reopened result its model, the same one, so that `measure_more` can go on."""
        loaded = load(model)
        check_same(loaded, self.record.measured)
        self._model, self._calibration = loaded, calibration
        if inputs is not None:
            self._inputs = loaded.inputs(inputs)
        return self

    def measure_more(
        self,
        *,
        budget_s: float = 30.0,
        progress: bool | Callable[[Progress], None] = True,
        cancel: threading.Event | None = None,
        limits: Limits | None = None,
        keep: bool = True,
    ) -> Self:
        """Measure further rounds and return a result that holds the earlier ones too.

        A reopened result needs its model (`attach`), the same machine and the same versions.
        """
        if self._model is None:
            raise missing_model("measuring cannot go on: the model is not at hand", "measure_more()")
        earlier = self.record.measured
        inputs = self._inputs or inputs_again(self._model, earlier)
        request = request_to_continue(
            earlier, self._model, inputs, budget_s=budget_s, calibration=self._calibration, limits=limits
        )
        with bar(progress) as on_progress:
            measured = compare(
                replace(request, goal=self.record.goal), on_progress=on_progress, cancel=cancel
            )
        result = type(self)(replace(self.record, measured=measured), structure=self.structure)
        result.attach(self._model, inputs=inputs, calibration=self._calibration)
        if keep:
            result.keep()
        return result

    def to_python(self, model: Any = "model.onnx") -> str:
        """Return plain ONNX Runtime code that runs the config."""
        return self.run.config.to_python(model)

    def figure(self) -> go.Figure:
        """Draw every sample, the median and its interval."""
        from workbench.figures.latency import latency_figure

        return latency_figure(self.record.measured)

    def timeline_figure(self) -> go.Figure:
        """Draw block medians in the order measured, so that drift and disturbance are visible."""
        from workbench.figures.timeline import timeline_figure

        return timeline_figure(self.record.measured)

    def ecdf_figure(self) -> go.Figure:
        """Draw the share of runs that took no longer than a given time."""
        from workbench.figures.ecdf import ecdf_figure

        return ecdf_figure(self.record.measured)

    def still(self) -> Scene:
        """Draw mean and percentiles with their intervals."""
        from workbench.figures.measurement import measurement_scene

        return measurement_scene(self.record)

    def document(self) -> Document:
        """Return its page: the figures, every sample, and how it was measured."""
        from workbench.report.comparison import add_measured, add_protocol, lead
        from workbench.report.document import Document
        from workbench.report.pieces import paragraph, picture, table

        record = self.record
        page = Document(f"{self.subject}: measured", paragraph(record.headline) + lead(record.measured))
        page.add(
            "result", "Result", picture(self.still()) + table(self.to_frame(), "In numbers", opened=True)
        )
        add_measured(page, record.measured)
        add_protocol(page, record.measured)
        return page


def check_measurement(record: MeasurementRecord, fix: str) -> None:
    """Refuse a record that no measurement could have made."""
    check_measured_runs(record.measured, fix, least=1)
    if len(record.measured.runs) != 1:
        raise BundleError("measured.runs: expected one run.", fix)
    if not 0 < len(record.percentiles) <= MOST_PERCENTILES:
        raise BundleError(f"percentiles: expected 1 to {MOST_PERCENTILES}.", fix)
    if any(not 0 < percent < 100 for percent in record.percentiles):
        raise BundleError("percentiles: expected numbers between 0 and 100.", fix)


def about_measurement(record: MeasurementRecord) -> Origin:
    """Return the origin of a measurement: that of its run."""
    return replace(about_comparison(record.measured), config=record.run.config)


KIND = ResultKind(
    "measurement",
    MeasurementRecord,
    check_measurement,
    about_measurement,
    result=Measurement,
    entry="workbench.api.measuring:measure",
    takes=("inputs", "budget_s", "calibration", "progress", "keep"),
    heading="Measured alone",
    button="Measure alone",
    hint="Mean, percentiles and throughput of the config shown, with intervals; nothing is compared",
    step="runs of one config, round after round",
    tabs=("latency",),
)
