"""One config measured alone, as notebooks hold it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.kinds import about_comparison, check_measured_runs
from workbench.core.bundle.origin import Origin
from workbench.core.bundle.run import Run
from workbench.core.errors import BundleError
from workbench.core.feature import Feature
from workbench.core.measure.goal import MOST_PERCENTILES, PrecisionGoal
from workbench.core.measure.measurement import MeasurementRecord
from workbench.drawing.chart_scene import chart_scene
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import paragraph, picture, table
from workbench.features.base.continued import Continued


class Measurement(Continued):
    """One config measured alone: percentiles, throughput, load, memory. Made by `wb.measure`."""

    record: MeasurementRecord

    @property
    def run(self) -> Run:
        """The run, with every sample."""
        return self.record.run

    @property
    def _headline(self) -> str:  # type: ignore[override]
        return self.record.headline

    def _with_rounds(self, rounds: ComparisonRecord) -> Self:
        return type(self)(replace(self.record, measured=rounds), structure=self.structure)

    def _goal(self) -> PrecisionGoal | None:
        return self.record.goal

    def to_python(self, model: Any = "model.onnx") -> str:
        """Return plain ONNX Runtime code that runs the config."""
        return self.run.config.to_python(model, inputs=self.about.inputs)

    def document(self) -> Document:
        """Return its page: the figures, every sample, and how it was measured."""
        from workbench.features.base.page import add_measured, add_protocol, lead

        record = self.record
        page = Document(f"{self.subject}: measured", paragraph(record.headline) + lead(record.measured))
        page.add(
            "result",
            "Result",
            picture(chart_scene(self.chart())) + table(self.to_frame(), "In numbers", opened=True),
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


FEATURE = Feature(
    "measurement",
    MeasurementRecord,
    check_measurement,
    about_measurement,
    result=Measurement,
    chart="workbench.drawing.still:measurement_chart",
    call="workbench.features.measure.call:measure",
    takes=("inputs", "budget_s", "calibration", "progress", "keep"),
    heading="Measured alone",
    button="Measure alone",
    hint="Mean, percentiles and throughput of the config shown, with intervals; nothing is compared",
    step="runs of one config, round after round",
    effort=(8.0, 6, 400),
    tabs=("Timing",),
)
