"""What notebooks call for profiles: `profile` runs a model under ORT's profiler, `read_profile` reads one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.config import Config
from workbench.explain.coldstart.coldstart import ColdStart
from workbench.explain.memory.memory import memory_of
from workbench.explain.profile.profile import Profile, read_profile
from workbench.explain.profile.running import Execution, profile_execution
from workbench.explain.roofline.peaks import PeakTable, measure_peaks
from workbench.explain.roofline.roofline import roofline
from workbench.explain.threads.scaling import ThreadScaling, scaling_of, thread_configs
from workbench.explain.threads.sharing import sharing_of
from workbench.measure.limits import Limits

if TYPE_CHECKING:
    from workbench.models import Inputs, Model

    Given: TypeAlias = Inputs | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | None

__all__ = [
    "Profile",
    "cold_start",
    "memory_of",
    "peaks",
    "profile",
    "read_profile",
    "roofline",
    "sharing_of",
    "threads",
]

THREADS_BUDGET_S = 30.0


def profile(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Given = None,
    seed: int = 0,
    budget_s: float = 1.0,
    per_node_memory: bool = False,
    keep_trace: str | os.PathLike[str] | None = None,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
) -> Profile:
    """Run a model for a moment with ORT's profiler on, in a process of its own, and read what it wrote.

    The cost of the profiler is measured too and stands in the notes. `per_node_memory` turns the memory
    pattern off, so that each node's own allocations show. `keep_trace` leaves ORT's file at that path.

    >>> import workbench as wb
    >>> wb.profile.__name__
    'profile'
    """
    loaded, fed = _opened(model, inputs, seed)
    execution = Execution(
        model=loaded.path,
        config=config or Config(),
        feeds=fed.feeds,
        budget_s=budget_s,
        per_node_memory=per_node_memory,
        limits=limits or Limits(),
    )
    return profile_execution(
        execution, keep_trace=None if keep_trace is None else Path(keep_trace), cancel=cancel
    )


def peaks(threads: Iterable[int] | None = None) -> PeakTable:
    """What this machine can do through ORT, a row a thread count: one, and all cores, unless told."""
    from workbench.config.config import usable_cores

    return measure_peaks(tuple(threads or sorted({1, usable_cores()})))


def cold_start(
    model: Model | Any, *configs: Config, inputs: Given = None, seed: int = 0, limits: Limits | None = None
) -> tuple[ColdStart, ...]:
    """Each config from no process to a steady one, step by step; also with its graph saved ahead."""
    from workbench.explain.coldstart.coldstart import cold_start as start
    from workbench.explain.profile.running import can_be_saved

    loaded, fed = _opened(model, inputs, seed)
    return tuple(
        start(
            loaded.path,
            config,
            fed.feeds,
            label=chr(ord("A") + index),
            savable=can_be_saved(config),
            limits=limits,
        )
        for index, config in enumerate(configs or (Config(),))
    )


def threads(
    model: Model | Any,
    config: Config | None = None,
    *,
    most_threads: int | None = None,
    budget_s: float = THREADS_BUDGET_S,
    inputs: Given = None,
    seed: int = 0,
) -> ThreadScaling:
    """Latency and processor time of 1, 2, 4… threads with and without spinning, in one comparison."""
    from workbench.config.config import usable_cores
    from workbench.results import compare

    configs = thread_configs(config or Config(), most_threads or usable_cores())
    found = compare(model, *configs, inputs=inputs, budget_s=budget_s, seed=seed, keep=False)
    return scaling_of(found.record)


def _opened(model: Any, inputs: Given, seed: int) -> tuple[Model, Inputs]:
    from workbench.models import Inputs, Model, load

    loaded = model if isinstance(model, Model) else load(model)
    return loaded, inputs if isinstance(inputs, Inputs) else loaded.inputs(inputs, seed=seed)
