"""The model of a comparison that was made elsewhere or earlier, as far as it is on this machine."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels.jobs import Job, Jobs
from workbench.apps.panels.state import BenchState
from workbench.features.compare.model_here import find_model, sizes_of


def look_for_model(state: BenchState, jobs: Jobs) -> Job | None:
    """Start to look for the model of the comparison on the screen, unless it is open or looked for."""
    result = state.result
    if result is None or state.model is not None or jobs.running is not None:
        return None

    def done(opened: tuple[Any, str] | None) -> None:
        set_found(state, result, opened)
        if state.result is not result:  # another one is on the screen by now
            look_for_model(state, jobs)

    def look(job: Job) -> tuple[Any, str] | None:
        job.step(f"looking for {result.record.model.name}")
        return find_model(result.record, state.recent)

    return jobs.start("opening", look, done, partial(setattr, state, "model_error"))


def set_found(state: BenchState, result: Any, opened: tuple[Any, str] | None) -> None:
    """Set the model of a comparison that is on the screen, and the sizes of its inputs."""
    if opened is None or state.model is not None or state.result is not result:
        return
    inputs = result.record.inputs
    with state.hold_trait_notifications():
        state.model_error = None
        state.model, state.source = opened
        state.dims, state.seed, state.data = sizes_of(state.model, inputs), inputs.seed or 0, ""
