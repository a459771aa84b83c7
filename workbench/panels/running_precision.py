"""What the accuracy tab runs: how right a config is, which layers err, what costs it its time."""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.panels.jobs import Job
from workbench.panels.running import Subject, Work, compared
from workbench.panels.state import BenchState


def accuracy(state: BenchState, subject: Subject) -> Work:
    """Both configs on the same examples: the sample's own, or the given ones, or random ones."""
    data, seed, calibration = state.given or None, state.seed, state.calibration or None

    def work(job: Job) -> dict[str, Any]:
        job.step("evaluating")
        found = wb.accuracy(
            subject.model, *subject.both.values(), data=data, calibration=calibration, seed=seed,
            progress=job.tell, cancel=job.cancel,
        )  # fmt: skip
        return {"accuracy": found}

    return work


def why_slower(state: BenchState, subject: Subject) -> Work:
    """Of the comparison that is shown, where it is about the panels as they are."""
    result = compared(state, subject)
    if result is None:
        raise WorkbenchError(
            "A and B as they are in the panels have not been compared.",
            "Press Compare first: what is explained is what was measured.",
        )

    def work(job: Job) -> dict[str, Any]:
        job.step("A and B under ORT's profiler")
        found = wb.why_slower(result, progress=job.tell, cancel=job.cancel)
        return {f"why slower/{result.verdict.label}": found}

    return work


def layer_errors(state: BenchState, subject: Subject) -> Work:
    """Of each config that has a precision."""
    configs = {label: one for label, one in subject.both.items() if one.precision is not None}
    if not configs:
        raise without_precision("Neither A nor B has")
    given = examples(state)

    def work(job: Job) -> dict[str, Any]:
        found = {}
        for label, config in configs.items():
            job.step(f"{label}: every tensor of both models")
            found[f"layer errors/{label}"] = wb.layer_errors(
                subject.model, config, progress=job.tell, cancel=job.cancel, **given
            )
        return found

    return work


def sensitivity(state: BenchState, subject: Subject) -> Work:
    """Each layer quantized alone, for the config that is shown."""
    label, config = subject.one
    if config.precision is None:
        raise without_precision(f"{label} has")
    given = examples(state)

    def work(job: Job) -> dict[str, Any]:
        job.step(f"{label}: each layer quantized alone")
        found = wb.sensitivity(subject.model, config, progress=job.tell, cancel=job.cancel, **given)
        return {f"sensitivity/{label}": found}

    return work


def without_precision(whose: str) -> WorkbenchError:
    """There is no layer that could err."""
    return WorkbenchError(
        f"{whose} no precision, so no layer is quantized.",
        "Choose one in the section precision, such as dynamic int8.",
    )


def examples(state: BenchState) -> dict[str, Any]:
    """What layers are looked at with."""
    return {"data": state.given or None, "calibration": state.calibration or None, "seed": state.seed}
