"""Predicted against measured gains, and what `wb.improve` recovers of a planted loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx

from benchmarks.flaws.checking import Looked
from workbench.api.advising import improve
from workbench.api.comparing import compare
from workbench.config import Config, PreparedModel
from workbench.records.findings import FindingRecord
from workbench.records.run import Run

SEED = 1_000  # of the fresh measurement; the choice was made with others
IMPROVE_BUDGETS = 8.0  # of one measurement


def gain_row(finding: FindingRecord, looked: Looked, budget_s: float) -> dict[str, Any] | None:
    """Return the predicted and the measured speed-up of a fix; None if it is no change of the config."""
    if finding.fix.config is None or finding.fix.kind != "config" or finding.gain.speed_up is None:
        return None
    result = looked.to_try(finding).try_fix(budget_s, progress=False, keep=False)
    verdict = result.comparison.verdict
    return {
        "confidence": finding.confidence,
        "predicted": finding.gain.speed_up,
        "measured": verdict.ratio,
        "low": verdict.low,
        "high": verdict.high,
        "verdict": verdict.kind,
        "kept": result.kept,
    }


def improve_row(looked: Looked, folder: Path, budget_s: float) -> dict[str, Any]:
    """Improve the planted model, then measure start, end and sound model anew, interleaved."""
    planted = looked.planted
    better = improve(
        looked.model, planted.config, IMPROVE_BUDGETS * budget_s, inputs=looked.inputs,
        calibration=planted.calibration, progress=False, keep=False,
    )  # fmt: skip
    row: dict[str, Any] = {
        "steps": [f"{step.finding.id}: {'kept' if step.kept else 'not kept'}" for step in better.steps],
        "verdict": "tie",
        "recovered": None,
    }
    if better.config == planted.config:
        return row
    sound = _sound_config(looked, folder)
    result = compare(
        looked.model, planted.config, better.config, *([] if sound is None else [sound]),
        inputs=looked.inputs, calibration=planted.calibration, budget_s=2 * budget_s,
        seed=SEED, progress=False, keep=False,
    )  # fmt: skip
    verdict = result.verdict
    row |= {"verdict": verdict.kind, "ratio": verdict.ratio, "low": verdict.low, "high": verdict.high}
    start_s, end_s, *rest = (_median_s(run) for run in result.runs)
    sound_s = rest[0] if rest else None
    if start_s and end_s and sound_s and start_s > sound_s:
        row["recovered"] = (start_s - end_s) / (start_s - sound_s)
        row["lost"] = start_s / sound_s
    return row


def _sound_config(looked: Looked, folder: Path) -> Config | None:
    """Return the config that runs the sound model in the place of the planted one."""
    sound = looked.planted.sound
    if sound is None:
        return None
    path = folder / "sound_twin.onnx"
    onnx.save(sound, path)
    return looked.planted.sound_config.replace(precision=PreparedModel(str(path)))


def _median_s(run: Run) -> float | None:
    return run.latency.median_s
