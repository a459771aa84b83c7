"""Continuing an earlier comparison: what must be the same, and what was already spent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.core.bundle.limits import INTEGER
from workbench.core.bundle.machine import Machine, SoftwareVersions
from workbench.core.bundle.preparation import Preparation
from workbench.core.errors import ConfigError
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.limits import Limits
from workbench.core.models import Inputs
from workbench.core.models.model import Model

ANEW = "compare anew: wb.compare(model, a, b)"
_OF_THE_DAY = frozenset({"memory_bytes", "memory_limit_bytes", "platform"})  # a kernel update changes these


def check_same_machine(earlier: Machine, now: Machine) -> None:
    """Refuse to combine the rounds of two machines."""
    for field in fields(Machine):
        before, after = getattr(earlier, field.name), getattr(now, field.name)
        if field.name not in _OF_THE_DAY and before != after:
            raise ConfigError(
                f"this comparison is of another machine: {field.name} {before!r} instead of {after!r}",
                ANEW,
            )


def check_same_software(earlier: SoftwareVersions, now: SoftwareVersions) -> None:
    """Refuse to combine the rounds of two versions of the software that runs the model."""
    for name in ("onnxruntime", "python", "numpy"):
        before, after = getattr(earlier, name), getattr(now, name)
        if before != after:
            raise ConfigError(f"this comparison was measured with {name} {before}, now it is {after}", ANEW)


def check_same_files(earlier: ComparisonRecord, candidates: Sequence[Candidate]) -> None:
    """Refuse a failed config, and a prepared model file that differs from the measured one."""
    for run, candidate in zip(earlier.runs, candidates, strict=True):
        if run.failure is not None:
            raise ConfigError(
                f"{run.label} failed in this comparison: {run.failure.problem}", run.failure.fix
            )
        if candidate.failure is None:
            check_same_file(run.label, run.preparation, candidate.preparation)


def check_same_file(label: str, earlier: Preparation | None, now: Preparation | None) -> None:
    """Refuse a prepared model file that differs from the measured one."""
    before = None if earlier is None else earlier.sha256
    after = None if now is None else now.sha256
    if before != after:
        raise ConfigError(
            f"the model file prepared for {label} is not the one that was measured",
            f"give the same calibration data with result.attach(model, calibration=…), or {ANEW}",
        )


def final_looks(verdicts: Iterable[Verdict]) -> dict[str, tuple[int, ...]]:
    """Return the rounds at which each candidate's verdict was final, by label."""
    return {verdict.label: (*verdict.looks, verdict.rounds) for verdict in verdicts}


def last_round(earlier: ComparisonRecord) -> int:
    """Return the number of the last round."""
    return max((process.round for run in earlier.runs for process in run.processes), default=0)


def request_to_continue(
    earlier: ComparisonRecord,
    model: Model,
    inputs: Inputs,
    *,
    budget_s: float,
    calibration: Any = None,
    limits: Limits | None = None,
) -> CompareRequest:
    """Return a request for more rounds of a comparison; the inputs must be the measured ones."""
    if model.sha256 != earlier.model.sha256:
        raise ConfigError(f"{model.name} is not the model of this comparison", ANEW)
    now, before = inputs.record(), earlier.inputs
    if (now.made_by, now.seed, now.shapes) != (before.made_by, before.seed, before.shapes):
        raise ConfigError(
            f"these inputs are not those of this comparison ({before.made_by})",
            "give the same ones: result.attach(model, inputs=…)",
        )
    protocol = earlier.protocol
    return CompareRequest.of(
        model,
        [run.config for run in earlier.runs],
        inputs,
        budget_s=budget_s,
        smallest_effect=protocol.smallest_effect,
        pacing_s=protocol.pacing_s,
        tolerance=protocol.tolerance,
        clock=earlier.verdicts[0].clock if earlier.verdicts else "wall",
        calibration=calibration,
        seed=(protocol.seed + last_round(earlier)) % INTEGER,  # a new order of the configs
        allow_fallback=protocol.allow_fallback,
        limits=limits or Limits(),
        inputs=earlier.inputs,
        earlier=earlier,
    )
