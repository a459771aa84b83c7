"""Predicted against measured gains, and what `wb.improve` recovers of a planted loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx

from benchmarks.flaws.checking import Looked
from workbench.core.config import Config, PreparedModel
from workbench.features.compare.call import compare
from workbench.features.findings.result import Finding
from workbench.features.improve.result import improve

SEED = 1_000  # of the fresh measurement; the choice was made with others
IMPROVE_BUDGETS = 12.0  # of one measurement; with less than 30 s left, improving tries nothing more


def gain_row(finding: Finding, budget_s: float) -> dict[str, Any] | None:
    """Return the predicted and the measured speed-up of a fix; None if it is no change of the config."""
    record = finding.record
    if record.fix.config is None or record.fix.kind != "config" or record.gain.speed_up is None:
        return None
    result = finding.try_fix(budget_s, progress=False, keep=False)
    verdict = result.comparison.verdict
    return {
        "confidence": record.confidence,
        "predicted": record.gain.speed_up,
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
        looked.model, planted.config, budget_s=IMPROVE_BUDGETS * budget_s, inputs=looked.inputs,
        calibration=planted.calibration, progress=False, keep=False,
    )  # fmt: skip
    row: dict[str, Any] = {
        "steps": [f"{step.finding.id}: {'kept' if step.kept else 'not kept'}" for step in better.steps],
        "ended": better.record.ended,
        "verdict": "tie",
        "recovered": None,
    }
    changed = better.config != planted.config
    sound = _sound_config(looked, folder)
    others = [*([better.config] if changed else []), *([] if sound is None else [sound])]
    if not others:
        return row
    result = compare(
        looked.model, planted.config, *others, inputs=looked.inputs, calibration=planted.calibration,
        budget_s=2 * budget_s, seed=SEED, progress=False, keep=False,
    )  # fmt: skip
    end = result.verdicts[0] if changed else None
    if end is not None:
        row |= {"verdict": end.kind, "ratio": end.ratio, "low": end.low, "high": end.high}
    if sound is not None:
        loss = result.verdicts[-1]
        end_ratio = 1.0 if end is None else end.ratio
        row |= {"lost": loss.ratio, "loss": loss.kind, "recovered": recovered(end_ratio, loss.ratio)}
    return row


def recovered(end: float | None, sound: float | None) -> float | None:
    """Return the recovered share of the lost time; both are ratios of the start's time over theirs."""
    if not end or not sound or sound <= 1:
        return None
    return (1 - 1 / end) / (1 - 1 / sound)


def _sound_config(looked: Looked, folder: Path) -> Config | None:
    """Return the config that runs the sound model in the place of the planted one, if there is one."""
    planted = looked.planted
    if planted.sound is None:
        return None if planted.sound_config == planted.config else planted.sound_config
    path = folder / "sound_twin.onnx"
    onnx.save(planted.sound, path)
    return planted.sound_config.replace(precision=PreparedModel(str(path)))
