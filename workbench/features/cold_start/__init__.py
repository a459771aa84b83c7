"""What a start costs, step by step: process, import, load, first run, until runs are steady."""

from __future__ import annotations

import threading
from typing import Any

from workbench.core.bundle.run import labels_of
from workbench.core.config import Config
from workbench.core.feature import Feature
from workbench.core.measure.limits import Limits
from workbench.core.models import Model
from workbench.core.prepare.replayed import replayed
from workbench.core.prepare.runnable import make_runnable
from workbench.features.base.examining import ExaminedRun
from workbench.features.base.per_run import PerRun
from workbench.features.base.result import origin_of
from workbench.features.base.running import Feeds, finding_inputs, opened_with
from workbench.features.cold_start.chart import cold_start_chart
from workbench.features.cold_start.record import ColdStartRecord, check_starts
from workbench.features.cold_start.starts import measure_starts


class ColdStarts(PerRun):
    """Configs from no process to a steady one. Made by `wb.cold_start`."""

    kind = "cold start"
    record: ColdStartRecord

    @property
    def starts(self) -> tuple[ColdStartRecord, ...]:
        """One record per config."""
        return tuple(self.by_label.values())

    def _in_words(self) -> str:
        return "\n".join(map(str, self.starts))  # each holds its label, and what saving ahead is worth


@finding_inputs
def cold_start(
    model: Model | Any,
    *configs: Config,
    inputs: Feeds = None,
    seed: int = 0,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
) -> ColdStarts:
    """Measure each config from no process to a steady one, also with its graph pre-optimized."""
    source, fed = opened_with(model, inputs, seed)
    calibration = replayed(calibration)
    records: dict[str, ColdStartRecord] = {}
    chosen = configs or (Config(),)
    for label, config in zip(labels_of(len(chosen)), chosen, strict=True):
        runnable = make_runnable(source, config, fed.feeds, calibration=calibration, cancel=cancel)
        records[label] = measure_starts(runnable, label=label, limits=limits, cancel=cancel)
    return ColdStarts.of(records, origin_of(source, None, fed, cancel=cancel))


def examine(run: ExaminedRun) -> ColdStartRecord:
    """Start the config of the run in fresh processes."""
    runnable = run.runnable()
    run.announce("cold start")
    return measure_starts(runnable, label=run.label, cancel=run.cancel)


FEATURE = Feature(
    "cold start",
    ColdStartRecord,
    check_starts,
    result=ColdStarts,
    chart=cold_start_chart,
    per="run",
    side_by_side=True,
    call=cold_start,
    takes=("inputs", "seed", "calibration"),
    examine=examine,
    fact="cold",
    heading="Cold start",
    button="Cold start",
    hint="A and B from no process to a steady one, step by step",
    effort=(3.0, 10, 20),
    tabs=("Memory and start",),
)
