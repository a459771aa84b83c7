"""The time and the share of each stage, a row for each, and the whole first."""

from __future__ import annotations

from workbench.core.measure.percentiles import Figure
from workbench.core.text import in_digits
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    Look,
    Value,
    one_value,
    percent,
    run_look,
    time_value,
)
from workbench.features.pipelines.record import PipelineRun, PipelinesRecord

_AXES = (
    Axis("time of a pass (ms)"),
    Axis("share of the whole (%)"),
    Axis("whole with this session twice as fast (×)", "dot"),
)
_WHOLE = Figure("share", 1.0)


def pipelines_chart(record: PipelinesRecord) -> Chart:
    """Return a row for each pipeline and each of its stages."""
    rows = tuple(row for index, run in enumerate(record.runs) for row in _rows(index, run))
    note = "functions gain nothing from a faster session"
    return Chart(
        tuple(line.replace(": ", "; ", 1) for line in str(record).splitlines()), _AXES, rows, note, columns=3
    )


def _rows(index: int, run: PipelineRun) -> list[ChartRow]:
    look = run_look(index, run.label)
    if not run.slices:
        absent = "not measured" if run.failure is None else run.failure.problem
        return [one_value(run.label, *(Value(None, absent, look) for _ in _AXES))]
    rows = [
        one_value(f"{run.label}: whole", _time(run.whole, look), _share(_WHOLE, look), Value(None, "", look))
    ]
    for stage in run.figures:
        gain = stage.gain(2) if stage.stage.function is None else Figure("speed-up")
        text = "" if gain.value is None else f"{in_digits(gain.value, 3)}×"
        values = Value(gain.value, text, look, gain.low, gain.high, stage.stage.in_words)
        rows.append(
            one_value(
                f"{run.label}: {stage.stage.name}", _time(stage.time, look), _share(stage.share, look), values
            )
        )
    return rows


def _time(figure: Figure, look: Look) -> Value:
    return time_value(figure.value, look, figure.note, digits=3, low=figure.low, high=figure.high)


def _share(figure: Figure, look: Look) -> Value:
    text = f"{in_digits(100 * (figure.value or 0.0), 3)} %"
    return Value(percent(figure.value), text, look, percent(figure.low), percent(figure.high))
