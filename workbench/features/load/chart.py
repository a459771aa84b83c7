"""Throughput against p99: a line for each config, from the fewest callers to the most."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.core.measure.percentiles import Figure
from workbench.core.text import in_ms
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    Look,
    ReferenceLine,
    Value,
    headlines,
    run_look,
    time_value,
    value_of,
)
from workbench.drawing.words import plain
from workbench.features.load.points import PointSummary, in_words, is_enough, knees_of, summaries

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.features.load.record import LoadTestRecord

_HEIGHT = 420
_AXES = (
    Axis("answers a second"),
    Axis("p99 latency (ms)"),
    Axis("processor time a request (ms)"),
)


def load_chart(record: LoadTestRecord) -> Chart:
    """Return a row for each amount of load, with a bar for each config."""
    rows = summaries(record)
    enough = [best for best in knees_of(rows, record) if best and is_enough(best, rows)]
    chart_rows = []
    for point in record.points:
        here = [row for row in rows if row.point == point]
        rates = tuple(_throughput(row, is_marked=row in enough) for row in here)
        p99, cpu = tuple(_time(row, row.p99) for row in here), tuple(_time(row, row.cpu) for row in here)
        chart_rows.append(ChartRow(str(point), (rates, p99, cpu)))
    axes = _AXES
    if record.max_p99_s is not None:
        line = ReferenceLine(record.max_p99_s * 1e3, "budget")
        axes = (_AXES[0], replace(_AXES[1], lines=(line,)), _AXES[2])
    note = "enough: the fewest callers within 5 % of the best throughput" if enough else ""
    return Chart(headlines(in_words(record), len(record.runs)), axes, tuple(chart_rows), note, columns=3)


def load_figure(record: LoadTestRecord) -> go.Figure:
    """Draw p99 against throughput with plotly; a curve that bends upwards passed its knee."""
    from workbench.drawing.scale import scale_of
    from workbench.drawing.template import error_bars, new_figure, set_title

    rows, figure = summaries(record), new_figure()
    knees = knees_of(rows, record)
    enough = [best for best in knees if best and is_enough(best, rows)]
    known = [row for row in rows if row.throughput.value is not None and row.p50.value is not None]
    scale = scale_of([row.p99.value or row.p50.value for row in known])
    for index, run in enumerate(record.runs):
        drawn = [row for row in known if row.run is run]
        style = run_look(index)
        figure.add_scatter(
            x=[row.throughput.value for row in drawn],
            y=[scale.of(row.p99.value or row.p50.value or 0.0) for row in drawn],
            error_x=error_bars((_ends(row.throughput) for row in drawn), 0.0, thickness=1),
            name=plain(f"{run.label}: {run.sessions_in_words}"),
            mode="lines+markers+text",
            text=[f"{row.point.callers}{', enough' if row in enough else ''}" for row in drawn],
            textposition="top left",
            marker={"symbol": style.symbol, "size": [14 if row in knees else 8 for row in drawn]},
            line={"color": style.color, "dash": style.dash},
            customdata=[[plain(_details(row))] for row in drawn],
            hovertemplate="%{customdata[0]}<extra></extra>",
            showlegend=True,
        )
    if record.max_p99_s is not None:
        figure.add_hline(y=scale.of(record.max_p99_s), line_dash="dot", annotation_text="budget")
    figure.update_xaxes(title_text="answers a second", rangemode="tozero")
    figure.update_yaxes(
        title_text=f"p99 latency ({scale.unit}; p50 where p99 is not known)", rangemode="tozero"
    )
    return set_title(
        figure,
        headlines(in_words(record), len(record.runs)),
        "the number at each point is its callers",
        _HEIGHT,
    )


def _look(row: PointSummary) -> Look:
    return run_look((ord(row.run.label[:1] or "A") - ord("A")) % 26, row.run.label)


def _throughput(row: PointSummary, *, is_marked: bool) -> Value:
    figure, look = row.throughput, _look(row)
    if figure.value is None:
        return Value(None, row.run.failure.problem if row.run.failure else figure.note, look)
    enough = ", enough" if is_marked else ""
    missed = ", less than asked for" if row.reached is False else ""
    return value_of(figure, f"{figure.value:,.4g}{enough}{missed}", look, _details(row))


def _time(row: PointSummary, figure: Figure) -> Value:
    return time_value(figure, _look(row), figure.note, digits=3)


def _ends(figure: Figure) -> tuple[float | None, float | None, float | None]:
    return figure.low, figure.value, figure.high


def _details(row: PointSummary) -> str:
    waited = "" if row.waited_s is None else f", of it {in_ms(row.waited_s, 3)} waiting on average"
    p99 = in_ms(row.p99.value, 3) or row.p99.note
    return (
        f"{row.run.label}, {row.point}: {row.throughput.value or 0.0:,.4g} answers/s, "
        f"p50 {in_ms(row.p50.value, 3) or 'not known'}, p99 {p99}{waited}, "
        f"{in_ms(row.cpu.value, 3) or 'unknown'} of processor time a request"
    )
