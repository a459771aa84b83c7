"""Job: time a few runs of one session from outside, with the profiler on or off."""

from __future__ import annotations

from array import array
from itertools import cycle
from pathlib import Path
from typing import Any

from workbench.core.worker import sampling
from workbench.core.worker.feeding import make_calls
from workbench.core.worker.session import make_session, run_options, weights_beside
from workbench.core.worker.values import read_values


def run(
    model: str,
    plan: dict[str, Any],
    feeds: str,
    trace_prefix: str | None,
    warmup_runs: int,
    max_runs: int,
    budget_s: float,
    per_node_memory: bool = False,
    optimized: str | None = None,
) -> dict[str, Any]:
    """Warm up, then run until the budget is spent, at least once and at most `max_runs` times.

    `optimized` is the path for ORT's optimized graph, with the weights in a file beside it.
    """
    attributes: dict[str, Any] = {}
    if per_node_memory:
        attributes["enable_mem_pattern"] = False  # otherwise ORT plans one block and nodes allocate nothing
    if trace_prefix is not None:
        attributes |= {"enable_profiling": True, "profile_file_prefix": trace_prefix}
    if optimized is not None:
        attributes["optimized_model_filepath"] = optimized
        weights = weights_beside(f"{Path(optimized).name}.weights")
        plan = {**plan, "entries": {**plan["entries"], **weights}}
    session = make_session(model, plan, **attributes)
    calls = make_calls(session, read_values(Path(feeds)), run_options(plan), bind=bool(plan["io_binding"]))
    turn = cycle(calls)
    for _ in range(warmup_runs):
        next(turn).run()
    if warmup_runs:
        for call in calls:
            call.keep_outputs()
    _, samples = sampling.block(lambda: next(turn).run, budget_s, 1, max_runs, None, slow_down=0.0)
    return {
        "samples_s": [sample / 1e9 for sample in array("q", samples)],
        "trace": session.end_profiling() if trace_prefix is not None else None,
        "providers": session.get_providers(),
    }
