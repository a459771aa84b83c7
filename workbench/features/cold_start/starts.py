"""Cold start, step by step, in fresh processes: as asked, unpacked, with and without its saved graph."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from workbench.core.config import Config
from workbench.core.measure.limits import Limits
from workbench.core.prepare.preparing import Prepared
from workbench.core.prepare.runnable import Runnable
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.values import write_values
from workbench.features.cold_start.record import WAYS, ColdStartRecord, GraphInCache, ProcessStart, Way
from workbench.features.profile.running import Execution, can_be_saved, run_job

SAVING_STEPS = {"saved graph": "pre-optimized", "compiled model": "compiled"}  # to the graph in words
REPEATS = 3  # at most
FEWEST = 2
CLOSE = 0.15  # share of the time to the first answer that two starts may differ by
STEADY_S = 0.1
NO_PREPACKING = ("session.disable_prepacking", "1")


def measure_starts(
    runnable: Runnable,
    *,
    label: str = "A",
    repeats: int = REPEATS,
    limits: Limits | None = None,
    cancel: threading.Event | None = None,
) -> ColdStartRecord:
    """Start processes in turns, so that a drift of the machine affects all ways alike.

    The last turn is left out where the starts of each way agree.
    """
    model, config, feeds = runnable.model.path, runnable.config, runnable.feeds
    limits = limits or Limits()
    bare = config.replace(session_entries=dict([*config.session_entries, NO_PREPACKING]))
    starts: dict[Way, list[ProcessStart]] = {way: [] for way in WAYS}
    with WorkerFolder() as folder:
        write_values(folder / "feeds", feeds)
        ways: dict[Way, tuple[Path, Config]] = {
            "as_asked": (model, config),
            "without_prepacking": (model, bare),
        }
        unsaved = unsaved_start(runnable)
        if unsaved is not None:
            ways["without_saving"] = unsaved
        elif can_be_saved(config):
            saved = folder / "saved.onnx"
            execution = Execution(
                model, config, feeds, warmup_runs=0, max_runs=1, budget_s=0.0, limits=limits
            )
            run_job(execution, folder, optimized=saved, cancel=cancel)
            ways["saved_ahead"] = (saved, config.replace(level="disabled", disabled_passes=()))
        for turn in range(repeats):
            if turn >= FEWEST and all(map(are_close, filter(None, starts.values()))):
                break
            for way, (path, session_config) in ways.items():
                starts[way].append(_start(path, session_config, folder / "feeds", limits, cancel))
    asked, bare_starts, ahead, unsaved_starts = (tuple(starts[way]) for way in WAYS)
    return ColdStartRecord(label, asked, bare_starts, ahead, unsaved_starts, in_cache(runnable.prepared))


def in_cache(prepared: Prepared) -> GraphInCache | None:
    """Return the saved graph that a config loads, from the record of its step."""
    step = prepared.steps[-1] if prepared.steps else None
    if step is None or step.name not in SAVING_STEPS:
        return None
    return GraphInCache(SAVING_STEPS[step.name], step.cached, step.duration_s)


def unsaved_start(runnable: Runnable) -> tuple[Path, Config] | None:
    """Return the file before its graph was saved, and the config that makes it ready at every load."""
    prepared = runnable.prepared
    if in_cache(prepared) is None:
        return None
    before = prepared.stages[-2] if len(prepared.stages) > 1 else prepared.original
    return before.path, prepared.asked.runtime_only


def are_close(starts: Sequence[ProcessStart]) -> bool:
    """Return whether the starts of one way agree on the times to load and to the first answer."""
    loads, answers = ([getattr(start, name) for start in starts] for name in ("load_s", "first_answer_s"))
    return all(max(times) - min(times) <= CLOSE * min(answers) for times in (loads, answers))


def _start(
    model: Path, config: Config, feeds: Path, limits: Limits, cancel: threading.Event | None
) -> ProcessStart:
    with (
        WorkerFolder() as folder,
        Worker(
            folder, name="coldstart", python=config.interpreter, memory_bytes=limits.memory_bytes
        ) as worker,
    ):
        hello = worker.hello(timeout_s=limits.start_s, cancel=cancel)

        def ask(kind: str, stage: str, limit_s: float, **body: Any) -> Any:
            return worker.request(kind, body, stage=stage, timeout_s=limit_s, cancel=cancel)

        plan = config.plan().to_dict()
        loaded = ask("load", "load", limits.load_s, model=str(model), plan=plan).body
        first = ask("first_run", "first run", limits.run_s, feeds=str(feeds)).body
        run = ask("usage", "run", limits.run_s).body
        bounds = {"floor_s": STEADY_S, "bound_s": 4 * STEADY_S, "floor_runs": 8, "pacing_s": None}
        warm = ask("warm_up", "warm-up", limits.run_s, **bounds)
        steady = ask("usage", "run", limits.run_s).body
    samples = array("q")
    samples.frombytes(warm.payload)
    return ProcessStart(
        process_s=max(0.0, hello["spawn_s"] - hello["import_s"]),
        import_s=hello["import_s"],
        load_s=loaded["load_s"],
        first_run_s=first["first_run_s"],
        steady_s=median(samples[len(samples) // 2 :]) / 1e9,
        bare_bytes=hello.get("bare_bytes"),
        import_bytes=loaded["rss_start_bytes"],
        load_bytes=loaded["rss_loaded_bytes"],
        run_bytes=run["rss_bytes"],
        steady_bytes=steady["rss_bytes"],
    )
