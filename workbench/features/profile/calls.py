"""`wb.profile`, `wb.memory`, `wb.roofline`: where time and memory go."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.bundle.atomic import check_place
from workbench.core.config import Config
from workbench.core.cpu import usable_cores
from workbench.core.measure.limits import Limits
from workbench.core.models import Model
from workbench.core.prepare.runnable import make_runnable
from workbench.features.base.result import origin_of
from workbench.features.base.running import Feeds, finding_inputs, kept, opened_with
from workbench.features.profile.memory.by_node import MEMORY_BUDGET_S, memory_as_asked
from workbench.features.profile.memory.result import Memory
from workbench.features.profile.reader import read_trace
from workbench.features.profile.result import Profile
from workbench.features.profile.roofline.peaks import PeakRow, keep_peaks, measure_peaks
from workbench.features.profile.roofline.peaks_result import Peaks
from workbench.features.profile.roofline.result import Roofline
from workbench.features.profile.running import Execution, profile_execution


@finding_inputs
def profile(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Feeds = None,
    seed: int = 0,
    budget_s: float = 1.0,
    per_node_memory: bool = False,
    keep_trace: str | os.PathLike[str] | None = None,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> Profile:
    """Run a model for a moment with ORT's profiler on, in a process of its own, and read what it wrote.

    The cost of the profiler is measured too and stands in the notes. `per_node_memory` turns the memory
    pattern off, so that each node's own allocations show; of such runs the cost is not measured. `keep_trace`
    leaves ORT's file at that path, `keep` adds the result to the history.
    """
    check_number("budget_s", budget_s, "give seconds, like 1.0", least=0)
    trace = None if keep_trace is None else Path(keep_trace).expanduser()
    if trace is not None:
        check_place(trace)
    source, fed = opened_with(model, inputs, seed)
    runnable = make_runnable(source, config or Config(), fed.feeds, calibration=calibration, cancel=cancel)
    execution = Execution.of(
        runnable, budget_s=budget_s, per_node_memory=per_node_memory, limits=worker_limits or Limits()
    )
    profiled = profile_execution(execution, keep_trace=trace, cancel=cancel)
    result = Profile.of(profiled, origin_of(source, config or Config(), fed, cancel=cancel))
    return kept(result, keep)


def read_profile(path: str | os.PathLike[str], *, warmup_runs: int | None = None) -> Profile:
    """Read a trace that ORT wrote, of any version and provider, as far as it goes.

    `warmup_runs`: how many of the first runs the tables leave out; by default one, when there are three.
    """
    return Profile(read_trace(path), warmup_runs=warmup_runs)


@finding_inputs
def memory(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Feeds = None,
    seed: int = 0,
    calibration: Any = None,
    cancel: threading.Event | None = None,
) -> Memory:
    """Measure memory over one run: weights, activations, each node's temporaries, and what the arena holds.

    Each node's own allocations show without the memory pattern only, so nodes are from a run without it; the
    arena's totals are from a run with the config as it is.
    """
    source, fed = opened_with(model, inputs, seed)
    by_node, as_asked = (
        profile(
            source, config, inputs=fed, seed=seed, budget_s=MEMORY_BUDGET_S, per_node_memory=alone,
            calibration=calibration, cancel=cancel, keep=False,
        )
        for alone in (True, False)
    )  # fmt: skip
    return Memory(memory_as_asked(by_node, as_asked), by_node.about)


def peaks(threads: Iterable[int] | None = None, *, cancel: threading.Event | None = None) -> Peaks:
    """Measure what this machine can do through ORT per thread count, by default one and all cores.

    Rooflines use what was measured last; call it again when the machine is quieter.
    """
    counts = tuple(threads or sorted({1, usable_cores()}))
    table = measure_peaks(counts, cancel=cancel)
    for row in table.rows:
        keep_peaks(row)
    return Peaks(table, origin_of(None))


def roofline(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Feeds = None,
    seed: int = 0,
    budget_s: float = 1.0,
    peaks: PeakRow | None = None,
    calibration: Any = None,
    cancel: threading.Event | None = None,
) -> Roofline:
    """Set each node's time against the least that this machine needs, and sum up the model's limit.

    The peaks are measured through ORT with as many threads as the config asks for, unless they are given.
    A profile may stand in the place of the model.
    """
    if not isinstance(model, Profile):
        model = profile(
            model, config, inputs=inputs, seed=seed, budget_s=budget_s, calibration=calibration,
            cancel=cancel, keep=False,
        )  # fmt: skip
    table: Roofline = model.roofline(peaks, cancel=cancel)
    return table
