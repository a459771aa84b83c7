"""Before and after on one axis: the density of every run above its samples, the medians at their marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from workbench.figures.marks import draw_row
from workbench.figures.palette import style_of_run
from workbench.figures.strips import LatencyData, Strip, latency_data
from workbench.figures.template import latency_axis, new_figure, set_title
from workbench.figures.words import plain, plain_lines
from workbench.records.comparison import ComparisonRecord

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LatencyData", "latency_data", "latency_figure", "latency_table"]

ROW, AXIS = 104, 56  # pixels: of a run, of the axis below
ABOVE, BELOW = 0.78, 0.42  # rows above the first and below the last
LABEL_COLUMNS, MOST_CONFIG = 17, 44  # letters of a line beside a row, and of a config there


def latency_figure(record: ComparisonRecord, *, titled: bool = True) -> go.Figure:
    """Draw a row for each run on one axis: density, samples, median. `titled` puts the verdict above."""
    data, figure = latency_data(record), new_figure()
    count = len(data.rows)
    for index, row in enumerate(data.rows):
        draw_row(figure, row, data.scale, style_of_run(index), -float(index))
        if not row.drawn:
            _explain_absent(figure, row, -index)
    labels = [_label(row, index) for index, row in enumerate(data.rows)]
    figure.update_yaxes(
        tickvals=[-index for index in range(count)], ticktext=labels, range=[BELOW - count, ABOVE],
        showgrid=False, zeroline=False, fixedrange=True, ticks="", tickfont={"size": 13},
    )  # fmt: skip
    figure.update_xaxes(**latency_axis(data.scale, "latency of one run", data.span_s, data.view_s))
    return set_title(figure, data.title if titled else (), _note(data), ROW * count + AXIS)


def _label(row: Strip, index: int) -> str:
    """Return the escaped label beside a row, its letter in the colour of the run."""
    config = plain_lines(row.text, LABEL_COLUMNS, MOST_CONFIG)
    color = style_of_run(index).color
    return f"<span style='color:{color}'><b>{plain(row.label)}</b></span><br>{config}"


def _explain_absent(figure: go.Figure, row: Strip, height: float) -> None:
    text = "nothing was measured" if row.failure is None else "failed"
    figure.add_annotation(
        text=text, hovertext=plain_lines(row.failure or "", MOST_CONFIG), x=0.02, xref="paper",
        xanchor="left", y=height, showarrow=False,
    )  # fmt: skip


def latency_table(record: ComparisonRecord) -> pd.DataFrame:
    """Return a row for each run; `note` says why a cell is empty."""
    import pandas as pd

    rows = []
    for row in latency_data(record).rows:
        cells: dict[str, object] = {"label": row.label, "config": row.text}
        cells |= {"samples": row.measured, "samples_set_aside": row.measured_aside}
        for estimate in (row.median, row.p90, row.p99):
            for end, value_s in (("", estimate.value), ("_low", estimate.low), ("_high", estimate.high)):
                cells[f"{estimate.name}{end}_ms"] = None if value_s is None else value_s * 1e3
        estimates = (row.median, row.p90, row.p99)
        notes = [f"{estimate.name}: {estimate.note}" for estimate in estimates if estimate.note]
        cells["note"] = "; ".join([row.failure, *notes] if row.failure else notes)
        rows.append(cells)
    return pd.DataFrame(rows)


def _note(data: LatencyData) -> str:
    """Return what a reader of the figure may ask: what is drawn, what is left out, what failed."""
    parts = [data.model, "above: density; below: each sample; the line: median; the bar: its 95 % interval"]
    if any(row.aside_s for row in data.rows):
        parts.append("hollow samples were disturbed by other work and set aside")
    parts += [
        f"all samples of {row.label} were disturbed by other work" for row in data.rows if row.all_aside
    ]
    parts += [
        f"{row.beyond:,} of {row.label} beyond the right edge, up to {data.scale.text(row.most_s)}"
        for row in data.rows
        if row.beyond and row.most_s is not None
    ]
    if data.view_s is not None:
        parts.append("double-click shows the samples beyond the edge")
    parts += [f"{row.label} {row.failure}" for row in data.rows if row.failure]
    return "; ".join(part for part in (*parts, data.note) if part)
