"""What a start costs, step by step: process, import, load, first run, until runs are steady."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from workbench.core.bundle.run import labels_of
from workbench.core.config import Config
from workbench.core.feature import Feature
from workbench.core.measure.limits import Limits
from workbench.core.models import Model
from workbench.core.prepare.replayed import replayed
from workbench.core.prepare.runnable import make_runnable
from workbench.core.text import in_mib, in_ms
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, mebibytes, milliseconds, series_look
from workbench.features.base.examining import ExaminedRun
from workbench.features.base.measured import PerRun
from workbench.features.base.result import origin_of
from workbench.features.base.running import Feeds, finding_inputs, opened_with
from workbench.features.cold_start.record import ColdStartRecord, Way, check_starts
from workbench.features.cold_start.starts import measure_starts

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
    limits: Limits | None = None,
) -> ColdStarts:
    """Measure each config from no process to a steady one, also with its graph pre-optimized."""
    source, fed = opened_with(model, inputs, seed)
    calibration = replayed(calibration)
    records: dict[str, ColdStartRecord] = {}
    chosen = configs or (Config(),)
    for label, config in zip(labels_of(len(chosen)), chosen, strict=True):
        runnable = make_runnable(source, config, fed.feeds, calibration=calibration, cancel=cancel)
        records[label] = measure_starts(runnable, label=label, limits=limits, cancel=cancel)
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
