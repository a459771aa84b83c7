"""Facts of a planted model that only measuring gives: its accuracy, a cold start, memory, a comparison."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.flaws.flaw import Planted
from workbench.core.models.inputs import Inputs
from workbench.core.models.model import Model
from workbench.features.cold_start import cold_start
from workbench.features.compare.call import compare
from workbench.features.findings.gather import known_accuracy
from workbench.features.findings.known import Known
from workbench.features.profile.calls import memory

BUDGET_S = 2.0  # of a comparison whose outputs count, not its times


def known_facts(planted: Planted, model: Model, inputs: Inputs) -> Known:
    """Return the facts that the flaw shows in."""
    config, calibration = planted.config, planted.calibration
    known = Known()
    if planted.data is not None:
        known = known_accuracy(model, config, planted.data, calibration=calibration)
    if "cold start" in planted.facts:
        starts = cold_start(model, config, inputs=inputs, calibration=calibration)
        known = replace(known, cold=starts.record)
    if "memory" in planted.facts:
        used = memory(model, config, inputs=inputs, calibration=calibration)
        known = replace(known, memory=used.record)
    if "comparison" in planted.facts:
        result = compare(
            model, planted.sound_config, config, inputs=inputs, calibration=calibration, budget_s=BUDGET_S,
            progress=False, keep=False,
        )  # fmt: skip
        known = replace(known, run=result.runs[1], comparison=result.record)
    return known
