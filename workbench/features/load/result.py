"""Configs under load: throughput against p99, the knee, processor time a request."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from textwrap import indent

from workbench.core.bundle.display import DataFrame
from workbench.core.command import Command
from workbench.core.config import Config, script_steps
from workbench.core.config.foreign import check_trusted
from workbench.core.config.plan import SessionPlan
from workbench.core.config.script import script, session_of
from workbench.core.cpu import usable_cores
from workbench.core.errors import ConfigError
from workbench.core.feature import Feature
from workbench.core.form import Field, counts_or_names, numbers, whole_numbers
from workbench.core.text import in_digits, in_ms
from workbench.features.base.result import Result, run_of
from workbench.features.load.points import PointSummary, in_words, knee, load_frame, load_gates, summaries
from workbench.features.load.record import LoadRun, LoadTestRecord, check_load_test

_MOST_AT_FIRST = 32  # callers


@dataclass(frozen=True, slots=True)
class BudgetBreak:
    """The load at which p99 of one config passes the budget, by lines between the measured loads.

    `low` is where the upper end of the interval of p99 passes it, `high` where the lower end does. None: it
    does not within the loads that were measured, or p99 is not known there.
    """

    run: LoadRun
    max_p99_s: float
    unit: str  # callers, or requests/s
    least: float  # the smallest and the largest load that p99 is known at; 0: at none
    most: float
    load: float | None
    low: float | None
    high: float | None
    unsure: float | None  # the least load whose interval has no upper end; None: each has one

    def __str__(self) -> str:
        head = f"{self.run.label}: p99 of {in_ms(self.max_p99_s, 3)}"
        if not self.most:
            return f"{head} is not settled: p99 is not known at any load; measure longer"
        if self.load is None:
            kept = f"{head} is kept up to {self._in_words(self.most)}, the most measured"
            if self.low is not None:
                return f"{kept}; it may break from {self._in_words(self.low)} on (95 % CI)"
            return f"{kept} (no interval at {self._in_words(self.unsure)})" if self.unsure else kept
        if self.load <= self.least:
            return f"{head} breaks already at {self._in_words(self.least)}, the least measured"
        where = f"{head} breaks at {self._in_words(self.load)}"
        if self.low is None:
            return f"{where} (no interval)"
        high = "beyond the most measured" if self.high is None else in_digits(self.high, 3)
        return f"{where} (95 % CI {in_digits(self.low, 3)} to {high})"

    def _in_words(self, load: float) -> str:
        return f"{in_digits(load, 3)} {self.unit.removesuffix('s') if load == 1 else self.unit}"


def budget_breaks(record: LoadTestRecord, max_p99_s: float) -> tuple[BudgetBreak, ...]:
    """Return one for each config. Where rates were asked for, the load is the rate at the most callers."""
    rows = summaries(record)
    return tuple(_break(run, [row for row in rows if row.run is run], max_p99_s) for run in record.runs)


def whole_text(record: LoadTestRecord) -> str:
    """Return the text of the record, and at which load its budget breaks."""
    if record.max_p99_s is None:
        return in_words(record)
    return "\n".join([in_words(record), *map(str, budget_breaks(record, record.max_p99_s))])


def _break(run: LoadRun, rows: Sequence[PointSummary], budget_s: float) -> BudgetBreak:
    is_rate = any(row.point.rate_hz is not None for row in rows)
    if is_rate:
        most_callers = max(row.point.callers for row in rows if row.point.rate_hz is not None)
        rows = [row for row in rows if row.point.callers == most_callers]
    loads = [row.point.rate_hz if is_rate else row.point.callers for row in rows]
    known = sorted(
        (
            (float(load), row)
            for load, row in zip(loads, rows, strict=True)
            if load and row.p99.value is not None
        ),
        key=lambda pair: pair[0],
    )

    def passing(end: Callable[[PointSummary], float | None]) -> float | None:
        return _crossing([(load, value) for load, row in known if (value := end(row)) is not None], budget_s)

    return BudgetBreak(
        run=run,
        max_p99_s=budget_s,
        unit="requests/s" if is_rate else "callers",
        least=known[0][0] if known else 0.0,
        most=known[-1][0] if known else 0.0,
        load=passing(lambda row: row.p99.value),
        low=passing(lambda row: row.p99.high),
        high=passing(lambda row: row.p99.low),
        unsure=next((load for load, row in known if row.p99.high is None), None),
    )


def _crossing(curve: Sequence[tuple[float, float]], budget_s: float) -> float | None:
    """Return the first load at which a curve of (load, seconds) passes the budget; None: it does not."""
    if curve and curve[0][1] > budget_s:
        return curve[0][0]
    for (load, seconds), (more, later) in pairwise(curve):
        if later > budget_s >= seconds:
            return load + (more - load) * (budget_s - seconds) / (later - seconds)
    return None


_ARENA = """ort.create_and_register_allocator(
    ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT), None
)"""
_ONE_PROCESS = "# Each caller was a process of its own: start this script once for each.\n"
_CALLERS = '''def load_test(feeds, callers={callers}, seconds=3.0):
    """Let callers send requests back to back; return the seconds that each answer took."""
    latencies, end = [], time.perf_counter() + seconds

    def caller(session):
        while (start := time.perf_counter()) < end:
            session.run(None, feeds, run_options)
            latencies.append(time.perf_counter() - start)

    threads = [
        threading.Thread(target=caller, args=(sessions[number % len(sessions)],)) for number in range(callers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return latencies'''


class LoadTest(Result):
    """Configs under load. Made by `wb.load_test`."""

    record: LoadTestRecord

    @property
    def points(self) -> tuple[PointSummary, ...]:
        """Every config at every amount of load: throughput, percentiles, processor time, verdict."""
        return summaries(self.record)

    def to_frame(self) -> DataFrame:
        """Return one row per config and amount of load."""
        return load_frame(self.record)

    def to_python(self, model: str | os.PathLike[str], label: str = "A") -> str:
        """Return a plain onnxruntime script: the sessions of one config, and its callers at the knee."""
        run = run_of(self.record.runs, label)
        if run.processes:
            return f"{_ONE_PROCESS}{load_script(run, model, 1)}"
        return load_script(run, model, self._best_callers(run))

    def best_callers(self, config: Config) -> int:
        """Return how many callers of one session of a config are best: its knee, else the first amount."""
        run = next(
            (
                run
                for run in self.record.runs
                if run.config == config and run.sessions == 1 and not run.processes
            ),
            None,
        )
        if run is None:
            raise ConfigError(
                "this load test has no run of this config with one session",
                "load that config: wb.load_test(model, config), or give the number of callers",
            )
        return self._best_callers(run)

    def _best_callers(self, run: LoadRun) -> int:
        best = knee([row for row in self.points if row.run is run])
        return best.point.callers if best else self.record.points[0].callers

    def breaks_at(self, max_p99_s: float) -> tuple[BudgetBreak, ...]:
        """Return for each config at which load p99 passes a budget, with the interval of that load."""
        return budget_breaks(self.record, max_p99_s)

    def _in_words(self) -> str:
        return whole_text(self.record)


def load_script(run: LoadRun, model: str | os.PathLike[str], callers: int) -> str:
    """Return the script: the session of the config as often as asked for, and the loop of the callers."""
    config, file = run.config, os.fspath(model)
    before = ["import threading\nimport time\n\nimport onnxruntime as ort"]
    check_trusted(config)
    if config.changes_model:
        steps = script_steps.steps(config, model, config.runtime_only.plan())
        file, before = steps.file, ["import threading\nimport time", *steps.lines()]
    plan = _with_shared(config.session_config.plan(), run)
    at = 2 if config.changes_model else 1
    before[at:at] = _shared_lines(plan, run)  # behind the imports: ORT wants them before the first session
    sessions = ["sessions = [session]"]
    if run.sessions > 1:
        again = indent("\n".join(session_of(plan, repr(file))), "    ")
        sessions += [f"for _ in range({run.sessions - 1}):", again, "    sessions.append(session)"]
    text = script(plan, file, config.runtime, before)
    return "\n".join([text, *sessions, "", "", _CALLERS.format(callers=callers)]) + "\n"


def _with_shared(plan: SessionPlan, run: LoadRun) -> SessionPlan:
    """Return the plan of sessions that use what their process shares."""
    attributes, entries = plan.attributes, plan.entries
    if "threads" in run.shared:
        attributes = (*attributes, ("use_per_session_threads", False))
    if "arena" in run.shared:
        entries = (*entries, ("session.use_env_allocators", "1"))
    return replace(plan, attributes=attributes, entries=entries)


def _shared_lines(plan: SessionPlan, run: LoadRun) -> list[str]:
    lines = []
    if "threads" in run.shared:
        sizes = dict(plan.attributes)
        intra, inter = (sizes.get(f"{pool}_op_num_threads", 0) for pool in ("intra", "inter"))
        lines.append(f"ort.set_global_thread_pool_sizes({intra}, {inter})")
    if "arena" in run.shared:
        lines.append(_ARENA)
    return lines


def _callers(_model: object, _data: str) -> str:
    """Return numbers of callers up to twice the cores, beyond which they only wait longer."""
    most = min(2 * usable_cores(), _MOST_AT_FIRST)
    return ", ".join(str(1 << power) for power in range(most.bit_length()))


FEATURE = Feature(
    "load test", LoadTestRecord, check_load_test, result=LoadTest,
    chart="workbench.features.load.chart:load_chart",
    figure="workbench.features.load.chart:load_figure",
    per="runs",
    call="workbench.features.load.call:load_test",
    takes=("inputs", "seed", "calibration", "progress", "keep"),
    heading="Several callers at once",
    button="Load test",
    hint="Several callers at once on all configs: throughput against p99, and the knee",
    step="under load",
    role="bears load",
    tabs=("Explore",),
    gates=load_gates,
    command=Command(
        example="bert-base --a intra_op_threads=4 --b intra_op_threads=1 --sessions 1 --sessions 4",
        hints={
            "rate_hz": "requests that arrive a second; default: each caller sends its next after the answer",
            "max_p99_s": "a budget: the result says at which load p99 passes it",
        },
        text=str,
    ),
    form=(
        Field(
            "callers",
            "callers",
            "Threads that call the model at once",
            whole_numbers,
            _callers,
            before="Ask with",
        ),
        Field(
            "sessions",
            "sessions",
            "Sessions that the callers share: 1, 4, or 4+threads+arena, with one thread pool and arena; "
            "processes: each caller is a process with its own",
            counts_or_names,
            "1",
            before="callers through",
        ),
        Field(
            "rate_hz",
            "rate 1/s",
            "Requests arrive at random at this rate. Empty: each caller sends its next one after the answer",
            numbers,
            example="100",
            before="sessions, at a rate (1/s) of",
        ),
        Field("duration_s", "seconds", "Time of each number of callers", float, "2", before="each for"),
        Field(
            "max_p99_s",
            "p99 budget s",
            "Seconds: at which load does p99 pass it?",
            float,
            example="0.02",
            before="s, and say when p99 passes (s)",
        ),
    ),
)  # fmt: skip
