"""The timed loops of the worker, with as little as possible between two readings of the clock."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from statistics import median
from typing import Any

from workbench.core.worker import usage

STEADY_RUNS = 8  # runs in each of the two windows compared
STEADY_CHANGE = 0.02  # the newer median may be lower than the older one by at most this share

Run = Callable[[], object]
Clock = Callable[[], int]  # nanoseconds


def block(
    next_run: Callable[[], Run],
    seconds: float,
    min_runs: int,
    max_runs: int,
    pacing_s: float | None,
    slow_down: float,
    whole: int = 1,
    clock: Clock = time.perf_counter_ns,
) -> tuple[dict[str, Any], bytes]:
    """Run a multiple of `whole` times for about `seconds`; return each run's nanoseconds as the payload."""
    samples = array("q")
    delay_before, cpu_before = usage.run_delay_ns(), time.process_time_ns()
    began = clock()
    deadline = began + int(seconds * 1e9)
    most = -(-max_runs // whole) * whole
    _sample(samples, next_run, deadline, min_runs, most, pacing_s, slow_down, whole, clock)
    wall_ns = clock() - began
    cpu_ns = time.process_time_ns() - cpu_before
    delay_after = usage.run_delay_ns()
    delay_ns = None if delay_before is None or delay_after is None else delay_after - delay_before
    return {"wall_ns": wall_ns, "cpu_ns": cpu_ns, "run_delay_ns": delay_ns}, samples.tobytes()


def warm_up(
    next_run: Callable[[], Run], floor_s: float, bound_s: float, floor_runs: int, pacing_s: float | None
) -> tuple[dict[str, Any], bytes]:
    """Run until the latency no longer falls, between the minimum and the bound."""
    samples = array("q")
    began = time.perf_counter_ns()
    steady = False
    while not steady:
        now = time.perf_counter_ns() - began
        if now > bound_s * 1e9 and len(samples) >= 2:
            break
        chunk_s = min(floor_s, bound_s) / 4
        deadline = time.perf_counter_ns() + int(chunk_s * 1e9)
        _sample(samples, next_run, deadline, 1, 500, pacing_s, 0.0, 1)
        done_s = (time.perf_counter_ns() - began) / 1e9
        steady = done_s >= floor_s and len(samples) >= floor_runs and is_steady(samples)
    return {"steady": steady}, samples.tobytes()


def is_steady(samples: array[int]) -> bool:
    """Return whether the newest runs are no faster than the previous ones."""
    window = max(STEADY_RUNS, len(samples) // 4) if len(samples) >= 2 * STEADY_RUNS else len(samples) // 2
    if window < 1:
        return False
    newer = median(samples[-window:])
    older = median(samples[-2 * window : -window])
    return newer >= older * (1 - STEADY_CHANGE)


def _sample(
    samples: array[int],
    next_run: Callable[[], Run],
    deadline_ns: int,
    min_runs: int,
    max_runs: int,
    pacing_s: float | None,
    slow_down: float,
    whole: int,
    clock: Clock = time.perf_counter_ns,
) -> None:
    append = samples.append
    for done in range(1, max_runs + 1):
        if pacing_s:
            time.sleep(pacing_s)
        run = next_run()
        start = clock()
        run()
        end = clock()
        if slow_down:
            end = _wait_until(end + int((end - start) * slow_down), clock)
        append(end - start)
        if end >= deadline_ns and done >= min_runs and done % whole == 0:
            return


def _wait_until(moment_ns: int, clock: Clock) -> int:
    """Wait inside a sample: the known slow-down of `benchmarks.honesty`."""
    while (now := clock()) < moment_ns:
        pass
    return now
