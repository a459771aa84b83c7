"""The model of a comparison that was made elsewhere or earlier, as far as it is on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from workbench.apps.panels.answers import is_file_of
from workbench.apps.panels.jobs import Job, Jobs
from workbench.apps.panels.state import BenchState
from workbench.core.bundle.comparison import ComparisonRecord, InputsRecord
from workbench.core.errors import WorkbenchError
from workbench.core.models.samples import sample_names


def look_for_model(state: BenchState, jobs: Jobs) -> Job | None:
    """Start to look for the model of the comparison on the screen, unless it is open or looked for."""
    result = state.result
    if result is None or state.model is not None or jobs.running is not None:
        return None

    def done(opened: tuple[Any, str] | None) -> None:
        set_found(state, result, opened)
        if state.result is not result:  # another one is on the screen by now
            look_for_model(state, jobs)

    look = partial(find_model, result.record, tuple(state.recent))
    return jobs.start("opening", look, done, partial(setattr, state, "model_error"))


def find_model(record: ComparisonRecord, recent: Iterable[str], job: Job) -> tuple[Any, str] | None:
    """Return the compared model with the source that opens it: the sample of its name, or a recent file.

    Nothing is downloaded. None: it is not here.
    """
    from workbench.core.models import load  # and onnx with it

    name = record.model.name
    files = (source for source in recent if Path(source).stem == name and Path(source).is_file())
    for source in (*([name] if name in sample_names() else []), *files):
        job.step(f"looking for {name}")
        try:
            model = load(source)
        except WorkbenchError:
            continue
        if is_file_of(record, model):
            model.describe()
            return model, source
    return None


def set_found(state: BenchState, result: Any, opened: tuple[Any, str] | None) -> None:
    """Set the model of a comparison that is on the screen, and the sizes of its inputs."""
    if opened is None or state.model is not None or state.result is not result:
        return
    inputs = result.record.inputs
    with state.hold_trait_notifications():
        state.model_error = None
        state.model, state.source = opened
        state.dims, state.seed, state.data = sizes_of(state.model, inputs), inputs.seed or 0, ""


def sizes_of(model: Any, inputs: InputsRecord) -> tuple[tuple[str, int], ...]:
    """Return the sizes of free axes in recorded inputs; none where the default random inputs are these."""
    try:
        if model.inputs(seed=inputs.seed or 0).shapes == inputs.shapes:
            return ()
    except WorkbenchError:
        return ()
    from workbench.core.models.usual import sizes_in  # and onnx with it

    return tuple(sizes_in(model.structure, inputs.shapes).items())
