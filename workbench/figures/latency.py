"""Before and after: every sample of every run, the median with its interval, and the verdict above."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from workbench.figures.marks import draw_marks, draw_samples, explain
from workbench.figures.palette import style_of_run
from workbench.figures.scale import Scale
from workbench.figures.strips import LatencyData, Strip, latency_data
from workbench.figures.template import NARROW_COLUMNS, apply, latency_axis, set_title
from workbench.figures.words import plain, plain_lines
from workbench.judge.percentiles import Estimate
from workbench.records.comparison import ComparisonRecord

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LatencyData", "latency_data", "latency_figure", "latency_table"]

# Pixels: of a line of text above a strip, of a strip with its marks, and below it.
LINE, STRIP, GAP = 18, 78, 16
MOST_CONFIG = 3 * NARROW_COLUMNS
AXIS = 100  # and the legend


def latency_figure(record: ComparisonRecord, *, titled: bool = True) -> go.Figure:
    """Draw a row for each run; the height of a point means nothing. `titled` puts the verdict above."""
    data = latency_data(record)
    texts = ["<br>".join(_told(row, data.scale)) for row in data.rows]
    heights = [LINE * (text.count("<br>") + 1) + 4 for text in texts]
    strips = [STRIP + GAP if row.drawn else GAP for row in data.rows]
    whole = sum(heights) + sum(strips)
    figure, top = apply(go.Figure()), 0
    for index, row in enumerate(data.rows):
        figure.add_annotation(
            text=texts[index], x=0, xref="paper", xanchor="left", xshift=-4, align="left", showarrow=False,
            y=1 - top / whole, yref="paper", yanchor="top",
        )  # fmt: skip
        top += heights[index]
        if row.drawn:
            axis = "" if index == 0 else str(index + 1)
            domain = [1 - (top + STRIP) / whole, 1 - top / whole]
            hidden = {"fixedrange": True, "showgrid": False, "zeroline": False, "showticklabels": False}
            figure.update_layout({f"yaxis{axis}": {"domain": domain, "range": [0, 1], **hidden}})
            draw_samples(figure, row, data.scale, style_of_run(index), f"y{axis}")
            draw_marks(figure, row, data.scale, style_of_run(index), f"y{axis}")
        top += strips[index]
    explain(figure)
    x_axis = latency_axis(data.scale, "latency of one run", data.span_s, data.view_s)
    figure.update_xaxes(anchor="free", position=0, **x_axis)
    return set_title(figure, data.title if titled else (), _note(data), whole + AXIS)


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


def _told(row: Strip, scale: Scale) -> Iterator[str]:
    """Yield the escaped lines above a strip."""
    label, *rest = plain_lines(f"{row.label} {row.text}", NARROW_COLUMNS, MOST_CONFIG).partition(" ")
    yield f"<b>{label}</b>{''.join(rest)}"
    if row.failure is not None:
        yield f"<b>{plain_lines(row.failure, NARROW_COLUMNS)}</b>"
    if row.all_aside:
        yield f"all {row.measured_aside:,} samples were disturbed by other work"
    if row.drawn:
        yield f"median {in_words(row.median, scale)}"
        tail = [f"{estimate.name} {in_words(estimate, scale)}" for estimate in (row.p90, row.p99)]
        yield (" · " if row.p90.value is not None and row.p99.value is not None else "<br>").join(tail)
    if row.measured and row.measured_aside:
        yield f"{row.measured_aside:,} of {row.measured + row.measured_aside:,} samples set aside"
    if row.beyond and row.most_s is not None:
        yield f"{row.beyond:,} beyond the right edge, up to {scale.text(row.most_s)}"
    if not row.drawn and row.failure is None:
        yield "nothing was measured"


def in_words(estimate: Estimate, scale: Scale) -> str:
    """Return an estimate with its interval, or why it is unknown."""
    if estimate.value is None:
        return plain(f"unknown, {estimate.note}")
    if estimate.low is None or estimate.high is None or estimate.name != "p50":
        return scale.text(estimate.value)
    return f"{scale.text(estimate.value)} ({scale.number(estimate.low)} to {scale.number(estimate.high)})"


def _note(data: LatencyData) -> str:
    parts = [data.model, data.note]
    if data.view_s is not None:
        parts.append("double-click shows the samples beyond the edge")
    return "; ".join(part for part in parts if part)
