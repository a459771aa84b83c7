"""Layer errors and sensitivity as figures: where the error is made, and what leaving it out would cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.figures.palette import BLUE, GREEN, PURPLE, TEXT, VERMILLION
from workbench.figures.scene import Scene
from workbench.figures.shapes import Mark, Rect, Text
from workbench.figures.template import apply, set_title
from workbench.figures.words import plain, plain_lines
from workbench.text import in_ms

if TYPE_CHECKING:
    from workbench.records.layers import LayerErrorsRecord
    from workbench.records.reasons import WhySlowerRecord
    from workbench.records.sensitivity import SensitivityRecord

ROW = 26
MOST_ROWS = 40  # of a figure; the table has them all
MOST_NAME = 44
WIDTH, MARGIN, LINE = 760, 16, 18
NAME, BAR_SPAN = 300, 250
_MARKS = (
    ("weights", "weight_db", BLUE, "circle"),
    ("rounding of its input", "input_db", VERMILLION, "diamond"),
    ("output so far", "output_db", GREEN, "square-open"),
)


@dataclass(frozen=True, slots=True)
class Bar:
    """One layer of a picture: a name, a length, and how that reads."""

    name: str
    value: float
    text: str


def layer_errors_figure(record: LayerErrorsRecord) -> go.Figure:
    """A row a layer, the worst at the top; further left is worse."""
    layers = record.worst[:MOST_ROWS]
    figure = apply(go.Figure())
    for name, field, color, symbol in _MARKS:
        values = [getattr(one, field) for one in layers]
        if all(value is None for value in values):
            continue
        figure.add_scatter(
            x=values, y=[_name(one.node) for one in layers], mode="markers", name=name,
            marker={"color": color, "symbol": symbol, "size": 10},
            customdata=[plain(f"{one.node} ({one.op_type})") for one in layers],
            hovertemplate=f"%{{customdata}}<br>{name}: %{{x:.1f}} dB<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title_text="signal over noise (dB), further left is worse")
    figure.update_yaxes(categoryorder="array", categoryarray=[_name(one.node) for one in reversed(layers)])
    more = len(record.layers) - len(layers)
    note = f"{record.how}; {record.item_count} items of {record.made_by}"
    note += f"; {more} better layers are not drawn" if more > 0 else ""
    return set_title(figure, [str(record)], note, ROW * max(3, len(layers)) + 110)


def layer_errors_scene(record: LayerErrorsRecord) -> Scene:
    """The noise that each layer makes by itself, the worst at the top."""
    known = [one for one in record.worst if one.weakest_db is not None][:MOST_ROWS]
    bars = [Bar(one.node, 10 ** (-one.weakest_db / 20), f"{one.weakest_db:.1f} dB") for one in known]  # type: ignore[operator]
    return _bars(str(record), "noise of weights or input, as a share of the signal", bars)


def sensitivity_figure(record: SensitivityRecord) -> go.Figure:
    """Errors at the left, the time that quantizing saves at the right; a layer has the same row in both."""
    rows = record.worst[:MOST_ROWS]
    there = any(one.gain_s is not None for one in rows)
    figure = make_subplots(1, 2 if there else 1, shared_yaxes=True, horizontal_spacing=0.05)
    names = [_name(one.name) for one in rows]
    figure.add_bar(
        row=1, col=1, x=[None if one.error is None else one.error * 100 for one in rows], y=names,
        orientation="h", marker={"color": VERMILLION}, showlegend=False,
        customdata=[plain(one.problem or "") for one in rows],
        hovertemplate="%{y}: error %{x:.3g} %<br>%{customdata}<extra></extra>",
    )  # fmt: skip
    how = "alone" if record.mode == "alone" else "without it"
    figure.update_xaxes(title_text=f"error, {how} (%)", row=1, col=1)
    if there:
        bounds = [(one.gain_low_s, one.gain_s, one.gain_high_s) for one in rows]
        figure.add_bar(
            row=1, col=2, x=[None if one.gain_s is None else one.gain_s * 1e6 for one in rows], y=names,
            orientation="h", marker={"color": BLUE, "pattern": {"shape": "/"}}, showlegend=False,
            error_x={
                "type": "data", "symmetric": False, "color": TEXT,
                "array": [_reach(high, value) for _, value, high in bounds],
                "arrayminus": [_reach(value, low) for low, value, _ in bounds],
            } if any(high is not None for _, _, high in bounds) else None,
            hovertemplate="%{y}: saves %{x:.4g} µs a run<extra></extra>",
        )  # fmt: skip
        figure.update_xaxes(title_text="saved (µs a run)", row=1, col=2)
    if record.whole_error is not None:
        figure.add_vline(
            x=record.whole_error * 100, line={"color": PURPLE, "dash": "dash"}, row=1, col=1,
            annotation={"text": "all quantized", "font": {"color": PURPLE}},
        )  # fmt: skip
    figure.update_yaxes(categoryorder="array", categoryarray=list(reversed(names)))
    note = f"{record.item_count} items of {record.made_by}"
    note += f"; time saved by quantizing it: {record.latency_how}" if there else ""
    return set_title(apply(figure), [str(record)], note, ROW * max(3, len(rows)) + 110)


def sensitivity_scene(record: SensitivityRecord) -> Scene:
    """A bar a layer: its error."""
    known = [one for one in record.worst if one.error is not None][:MOST_ROWS]
    bars = [
        Bar(one.name, one.error or 0.0, f"{(one.error or 0.0) * 100:.3g} %" + _saves(one.gain_s))
        for one in known
    ]
    return _bars(str(record), f"error, {record.mode}, and the time that quantizing saves", bars)


def why_slower_figure(record: WhySlowerRecord) -> go.Figure:
    """A bar a reason, the costliest at the top; what was seen and what to do about it in its hint."""
    known = [one for one in record.reasons if one.cost_s is not None]
    names = [_name(one.kind) for one in known]
    figure = apply(go.Figure())
    figure.add_bar(
        x=[(one.cost_s or 0.0) * 1e3 for one in known], y=names, orientation="h",
        marker={"color": VERMILLION}, showlegend=False,
        customdata=[f"{plain_lines(one.sentence, 60)}<br>{plain_lines(one.fix, 60)}" for one in known],
        hovertemplate="%{y}: %{x:.4g} ms a run<br>%{customdata}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(title_text="time of a run (ms)", rangemode="tozero")
    figure.update_yaxes(categoryorder="array", categoryarray=list(reversed(names)))
    note = "by reason; the same nodes may stand in several; times of nodes under the profiler, no latencies"
    return set_title(figure, [record.headline], note, ROW * max(2, len(known)) + 110)


def why_slower_scene(record: WhySlowerRecord) -> Scene:
    """A bar a reason: the time that its nodes take of a run."""
    known = [one for one in record.reasons if one.cost_s is not None]
    bars = [Bar(one.kind, one.cost_s or 0.0, in_ms(one.cost_s) or "") for one in known]
    return _bars(record.headline, "time of a run, by reason; the same nodes may stand in several", bars)


def _bars(title: str, note: str, bars: Sequence[Bar]) -> Scene:
    from workbench.figures.lettering import broken

    marks: list[Mark] = []
    y = float(MARGIN)
    for text, size, bold in ((title, 14, True), (note, 12, False)):
        for line in broken(text, size, WIDTH - 2 * MARGIN, bold=bold):
            y += LINE
            marks.append(Text(MARGIN, y, line, size, bold, room=WIDTH - 2 * MARGIN))
    y += 10
    marks += _drawn(bars, y)
    return Scene(WIDTH, y + ROW * len(bars) + MARGIN, title, tuple(marks))


def _drawn(bars: Sequence[Bar], y: float) -> Iterator[Mark]:
    per = BAR_SPAN / (max((bar.value for bar in bars), default=0.0) or 1.0)
    for bar in bars:
        yield Text(MARGIN + NAME - 8, y + 13, bar.name, anchor="end", room=NAME - 8)
        yield Rect(MARGIN + NAME, y, max(1.0, bar.value * per), 16, VERMILLION, 0.55, VERMILLION)
        start = MARGIN + NAME + BAR_SPAN + 10
        yield Text(start, y + 13, bar.text, room=WIDTH - MARGIN - start)
        y += ROW


def _name(name: str) -> str:
    """The end of a long one tells it from others."""
    short = name if len(name) <= MOST_NAME else f"…{name[-MOST_NAME:]}"
    return plain(short)


def _saves(gain_s: float | None) -> str:
    return "" if gain_s is None else f", {gain_s * 1e6:+.3g} µs"


def _reach(high: float | None, low: float | None) -> float | None:
    return None if high is None or low is None else (high - low) * 1e6
