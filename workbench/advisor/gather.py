"""Collection of evidence for the rules: an explanation, a profile, the weights and already known facts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.advisor.evidence import Evidence
from workbench.advisor.weights import scan_weights
from workbench.analysis.cold_start import ColdStartRecord
from workbench.analysis.difference.joining import in_the_names_of
from workbench.analysis.explanation import Explained, explain
from workbench.analysis.memory.by_node import MemoryRecord
from workbench.analysis.profile.running import Execution, profile_execution
from workbench.analysis.profile.session_profile import Profile
from workbench.analysis.slower.profiled_config import profiled_config
from workbench.analysis.threads.scaling import ThreadScalingRecord
from workbench.config import Config
from workbench.measurement.machine import read_machine
from workbench.models.declared import declared_inputs
from workbench.models.inputs import Inputs
from workbench.models.model import Model
from workbench.models.sizes import free_dims
from workbench.preparation.runnable import Runnable, make_runnable
from workbench.records.run import Run


@dataclass(frozen=True, slots=True)
class Known:
    """Facts that already exist for the same config of the same model."""

    explained: Explained | None = None
    profile: Profile | None = None
    cold: ColdStartRecord | None = None
    memory: MemoryRecord | None = None
    scaling: ThreadScalingRecord | None = None
    run: Run | None = None
    runnable: Runnable | None = None
    pacing_s: float | None = None


def gather(
    model: Model,
    config: Config,
    inputs: Inputs,
    *,
    known: Known | None = None,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Evidence:
    """Make the missing facts, except a cold start, a memory profile and a thread scan."""
    known = known or Known()
    explained = known.explained
    if explained is None:
        on_step("explanation")
        explained = explain(model, config, passes=False, calibration=calibration, cancel=cancel)
    runnable = known.runnable
    if runnable is None:
        on_step("preparation")
        runnable = make_runnable(model, config, inputs.feeds, calibration=calibration, cancel=cancel)
    profile = known.profile
    if profile is None:
        on_step("profile")
        execution = Execution(runnable.model.path, runnable.config, runnable.feeds)
        profile = profile_execution(execution, cancel=cancel)
    on_step("weights")
    joined = in_the_names_of(explained, profile)
    return Evidence(
        model_name=model.name,
        config=config,
        machine=read_machine(),
        structure=runnable.model.structure,
        explained=explained,
        profiled=profiled_config("", config, joined, runnable.model.structure),
        weights=scan_weights(runnable.model, cancel=cancel),
        run=known.run,
        cold=known.cold,
        memory=known.memory,
        scaling=known.scaling,
        size_bytes=model.description.size_bytes,
        sizes=measured_sizes(model, inputs),
        pacing_s=known.pacing_s,
    )


def measured_sizes(model: Model, inputs: Inputs) -> tuple[tuple[str, int], ...]:
    """Return the free dimensions by symbolic name, with their sizes in the inputs."""
    shapes = dict(_shapes(inputs))
    sizes: dict[str, int] = {}
    for name, axis, dim in free_dims(declared_inputs(model.structure)):
        shape = shapes.get(name, ())
        if isinstance(dim, str) and axis < len(shape):
            sizes[dim] = shape[axis]
    return tuple(sizes.items())


def _shapes(inputs: Inputs) -> list[tuple[str, tuple[int, ...]]]:
    feed = next(iter(inputs.feeds), {})
    return [(name, tuple(getattr(value, "shape", ()))) for name, value in feed.items()]
