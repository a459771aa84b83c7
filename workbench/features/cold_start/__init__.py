"""What a start costs, step by step: process, import, load, first run, until runs are steady."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from workbench.core.bundle.run import labels_of
from workbench.core.config import Config
from workbench.core.feature import Feature
from workbench.core.measure.limits import Limits
from workbench.core.models import Model
from workbench.core.prepare.preparing import Prepared
from workbench.core.prepare.runnable import Runnable, make_runnable
from workbench.core.text import in_mib, in_ms
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.values import write_values
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, mebibytes, milliseconds, series_look
from workbench.features.base.examining import ExaminedRun
from workbench.features.base.measured import PerRun
from workbench.features.base.result import origin_of
from workbench.features.base.running import Feeds, finding_inputs, opened_with
from workbench.features.cold_start.record import (
    WAYS,
    ColdStartRecord,
    GraphInCache,
    ProcessStart,
    Way,
    check_starts,
)
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


_STEADY = "steady run"
# Without a saved graph, `load` of the memory is what `read` of the time is with one.
_LOOKS = {
    step: series_look(index, name)
    for step, index, name in (
        ("process start", 0, "process start"), ("import", 1, "import"), ("read", 2, "read or load"),
        ("load", 2, "read or load"), ("optimize", 3, "optimize"), ("prepack", 4, "prepack"),
        ("first run", 5, "first run"), (_STEADY, 6, _STEADY),
    )
}  # fmt: skip
_LOADED_WHOLE = (  # loading is one step then
    ("process start", "process_s"),
    ("import", "import_s"),
    ("read", "load_s"),
    ("first run", "first_run_s"),
)


def cold_start_chart(by_label: Mapping[str, ColdStartRecord]) -> Chart:
    """Return a row for each config, and one more with its graph pre-optimized, or without its saved graph."""
    starts, rows = by_label.values(), []
    for start in starts:
        name = start.label if start.saved is None else f"{start.label}, {start.saved.words}"
        rows.append(_row(name, _timed_steps(start), start.resident()))
        others: tuple[tuple[str, Way], ...] = (
            ("pre-optimized", "saved_ahead"),
            ("saved graph left out", "without_saving"),
        )
        for words, way in others:
            if runs := getattr(start, way):
                steps = {step: median(getattr(run, field) for run in runs) for step, field in _LOADED_WHOLE}
                rows.append(_row(f"{start.label}, {words}", steps, start.resident(way)))
    axes = [Axis("time since the process was asked for (ms)", "stack")]
    if any(value.value is not None for row in rows for value in row.values[1]):
        axes.append(Axis("resident memory, what each stage added (MiB)", "stack"))
    rows = [ChartRow(row.label, row.values[: len(axes)], row.totals[: len(axes)]) for row in rows]
    steady = " and ".join(str(in_ms(dict(start.steps)[_STEADY] or 0.0)) for start in starts)
    firsts = ", ".join(f"{start.label} {in_ms(start.until_first_answer_s, 3)}" for start in starts)
    sentences = (f"Cold start to the first answer: {firsts}", *map(str, starts))
    return Chart(sentences, tuple(axes), tuple(rows), f"once steady, a run takes {steady}")


def _timed_steps(start: ColdStartRecord) -> dict[str, float | None]:
    """Return the steps of a start; where its graph cannot be saved, loading less prepacking is one step."""
    steps = dict(start.steps)
    if steps["read"] is None:
        loaded_s = max(0.0, start.load_s - start.prepack_s)
        steps = {
            ("load" if step == "read" else step): loaded_s if step == "read" else seconds
            for step, seconds in steps.items()
            if step != "optimize"
        }
    return steps


def _row(
    label: str, steps: dict[str, float | None] | dict[str, float], resident: Sequence[tuple[str, int | None]]
) -> ChartRow:
    """Return times and memory of a start; the steady run is no part of starting."""
    times = tuple(
        Value(milliseconds(seconds), f"{step}: {in_ms(seconds) or 'not known'}", _LOOKS[step])
        for step, seconds in steps.items()
        if step != _STEADY
    )
    sizes = tuple(
        Value(mebibytes(size), f"{stage}: {in_mib(size) or 'not known'}", _LOOKS[stage])
        for stage, size in _added(resident)
    )
    whole_s = sum(seconds or 0.0 for step, seconds in steps.items() if step != _STEADY)
    largest = max((size for _, size in resident if size is not None), default=None)
    return ChartRow(label, (times, sizes), (in_ms(whole_s) or "", in_mib(largest) or "not known"))


def _added(resident: Sequence[tuple[str, int | None]]) -> list[tuple[str, int | None]]:
    """Return what each stage added; memory that a stage gave back counts as nothing added."""
    added: list[tuple[str, int | None]] = []
    before = 0
    for stage, size in resident:
        added.append((stage, None if size is None else max(0, size - before)))
        before = max(before, size or 0)
    return added


class ColdStarts(PerRun):
    """Configs from no process to a steady one. Made by `wb.cold_start`."""

    kind = "cold start"
    record: ColdStartRecord

    @property
    def starts(self) -> tuple[ColdStartRecord, ...]:
        """One record per config."""
        return tuple(self.by_label.values())

    def _in_words(self) -> str:
        return "\n".join(map(str, self.starts))  # each holds its label, and what saving ahead is worth


@finding_inputs
def cold_start(
    model: Model | Any,
    *configs: Config,
    inputs: Feeds = None,
    seed: int = 0,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
) -> ColdStarts:
    """Measure each config from no process to a steady one, also with its graph pre-optimized."""
    source, fed = opened_with(model, inputs, seed)
    records: dict[str, ColdStartRecord] = {}
    chosen = configs or (Config(),)
    for label, config in zip(labels_of(len(chosen)), chosen, strict=True):
        runnable = make_runnable(source, config, fed.feeds, calibration=calibration, cancel=cancel)
        records[label] = measure_starts(runnable, label=label, limits=worker_limits, cancel=cancel)
    return ColdStarts.of(records, origin_of(source, None, fed, cancel=cancel))


def examine(run: ExaminedRun) -> ColdStartRecord:
    """Start the config of the run in fresh processes."""
    runnable = run.runnable()
    run.announce("cold start")
    return measure_starts(runnable, label=run.label, cancel=run.cancel)


FEATURE = Feature(
    "cold start",
    ColdStartRecord,
    check_starts,
    result=ColdStarts,
    chart=cold_start_chart,
    per="run",
    side_by_side=True,
    call=cold_start,
    takes=("inputs", "seed", "calibration"),
    examine=examine,
    fact="cold",
    heading="Cold start",
    button="Cold start",
    hint="A and B from no process to a steady one, step by step",
    effort=(3.0, 10, 20),
    tabs=("Memory and start",),
)
