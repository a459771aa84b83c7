"""`wb.measure`: one config of one model."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

from workbench.core.bounds import check_number
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.kinds import about_comparison, check_measured_runs
from workbench.core.bundle.origin import Origin
from workbench.core.bundle.run import Run
from workbench.core.command import Command
from workbench.core.config import Config
from workbench.core.errors import BundleError, ConfigError
from workbench.core.feature import Feature
from workbench.core.measure.compare_request import check_seed
from workbench.core.measure.gates import FINE, OPEN, Gate, was_measured
from workbench.core.measure.goal import MOST_PERCENTILES, PrecisionGoal, check_percentiles
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.measure.measurement import MeasurementRecord, in_words
from workbench.core.measure.percentiles import percentiles
from workbench.core.models import Model
from workbench.core.text import quoted
from workbench.drawing.chart_scene import chart_scene
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import paragraph, picture, table
from workbench.features.base.examining import Continued
from workbench.features.base.running import (
    PRECISION,
    Feeds,
    finding_inputs,
    inputs_of,
    kept,
    measure_runs,
    opened_for,
)


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


def measurement_gates(record: MeasurementRecord) -> Iterator[Gate]:
    """Yield a check for each percentile; one that had to be known and is not is open."""
    if not was_measured(record.measured, "A"):
        yield Gate("measured", OPEN, record.headline)
        return
    for estimate in percentiles(record.run, record.percentiles):
        is_open = record.until_settled and estimate in record.unsettled
        yield Gate(estimate.name, OPEN if is_open else FINE, in_words(estimate))


PERCENTILES = (50.0, 90.0, 95.0, 99.0)
_PATIENCE = 6.0  # times the default budget: about a minute for a small model
MOST_PRECISION = 1.0


@finding_inputs
def measure(
    model: Model | Any,
    config: Config | None = None,
    *,
    percentiles: Sequence[float] | float = PERCENTILES,
    until: Literal["settled"] | None = None,
    precision: float = PRECISION,
    inputs: Feeds = None,
    budget_s: float | None = None,
    pacing_s: float | None = None,
    calibration: Any = None,
    seed: int = 0,
    allow_fallback: bool = False,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> Measurement:
    """Measure one config: mean and percentiles, throughput, first run, load and memory, with intervals.

    By default measuring ends when the median is known within `precision` (5 %). `until="settled"` goes on
    until each of the `percentiles` is, or the budget ends: by default about a minute for a small model, more
    for a slow one. `budget_s` bounds the time, `pacing_s` leaves that pause before each run, as requests that
    arrive now and then would. A config none of whose nodes would run on a provider that it asks for is an
    error, unless `allow_fallback=True`. `keep` adds the result to the history. Ctrl-C or `cancel` stop it
    and leave no process behind.
    """
    began = time.perf_counter()
    check_seed(seed)
    wanted = check_percentiles(percentiles)
    if until not in (None, "settled"):
        raise ConfigError(f"until={quoted(until)} is no end", 'give "settled", or leave it out')
    allowed = "give a share above 0 and up to 1: 0.05 is 5 % of the percentile to each side"
    check_number("precision", precision, allowed, most=MOST_PRECISION)
    chosen = Config() if config is None else config
    loaded = opened_for(model, (chosen,), "wb.measure(model, wb.Config(…))")
    fed = inputs_of(loaded, inputs, seed, (chosen,), calibration)
    settled = until == "settled"
    goal = PrecisionGoal(wanted, precision, _PATIENCE) if settled else PrecisionGoal((50.0,), precision)
    measured = measure_runs(
        loaded,
        (chosen,),
        fed,
        progress=progress,
        cancel=cancel,
        limits=worker_limits,
        budget_s=budget_s,
        pacing_s=pacing_s,
        calibration=calibration,
        seed=seed,
        allow_fallback=allow_fallback,
        goal=goal,
        began=began,
    )
    record = MeasurementRecord(wanted, precision, settled, measured)
    result = Measurement(record, structure=loaded.structure.SerializeToString())
    return kept(result.with_model(loaded, fed, calibration), keep)


FEATURE = Feature(
    "measurement",
    MeasurementRecord,
    check_measurement,
    about_measurement,
    result=Measurement,
    chart="workbench.drawing.still:measurement_chart",
    call="workbench.features.measure:measure",
    takes=("inputs", "budget_s", "calibration", "progress", "keep"),
    heading="Measured alone",
    button="Measure alone",
    hint="Mean, percentiles and throughput of the config shown, with intervals; nothing is compared",
    step="runs of one config, round after round",
    effort=(8.0, 6, 400),
    tabs=("Timing",),
    gates=measurement_gates,
    command=Command(
        example="bert-base --a level=all --percentile 99 --until settled",
        names={"percentiles": "percentile"},
        hints={
            "percentiles": "percentiles of the latency; default 50, 90, 95, 99",
            "until": "go on until the percentiles are known, within the budget",
            "precision": "the share of a percentile within which it counts as known",
        },
    ),
)
