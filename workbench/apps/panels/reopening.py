"""The model of a comparison that was made elsewhere or earlier, as far as it is on this machine."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels.jobs import Job, Jobs
from workbench.apps.panels.state import BenchState
from workbench.core.models.recorded import find_model, sizes_of


def look_for_model(state: BenchState, jobs: Jobs, *, wait: bool = False) -> None:
    """Look for the model of the comparison shown last, unless it is open or looked for; set its inputs."""
    result = shown_last(state)
    if result is None or state.model is not None or jobs.running is not None:
        return

    def done(opened: tuple[Any, str] | None) -> None:
        if shown_last(state) is not result:  # another one was opened meanwhile
            look_for_model(state, jobs)
        elif opened is not None and state.model is None:
            inputs = result.record.inputs
            with state.hold_trait_notifications():
                state.model_error = None
                state.model, state.source = opened
                state.dims, state.seed, state.data = sizes_of(state.model, inputs), inputs.seed or 0, ""

    def look(job: Job) -> tuple[Any, str] | None:
        job.step(f"looking for {result.record.model.name}")
        return find_model(result.record, state.recent)

    jobs.start("opening", look, done, partial(setattr, state, "model_error"), wait=wait)


def shown_last(state: BenchState) -> Any:
    """Return the comparison on the screen, else the one that was folded last."""
    answers = (state.answer, *reversed(state.folded))
    return next((answer.result for answer in answers if answer.result is not None), None)
