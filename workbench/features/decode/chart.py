"""Milliseconds a token against its position, a line for each config."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.text import in_digits
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    Value,
    headlines,
    one_value,
    run_look,
    size_value,
    time_value,
)
from workbench.drawing.words import plain
from workbench.features.decode.points import DecodeFigures, figures_of, in_words

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.features.decode.record import DecodingRecord

_HEIGHT = 380
_AXES = (
    Axis("time to the first token (ms)"),
    Axis("time of each further token (ms)"),
    Axis("tokens a second"),
    Axis("cache after the last token (MiB)"),
)


def decoding_chart(record: DecodingRecord) -> Chart:
    """Return a row for each config."""
    several = bool(record.further)
    rows = tuple(_row(index, figures, several) for index, figures in enumerate(figures_of(record)))
    note = "" if several else f"{record.cases[0].name} of prompt"
    return Chart(headlines(in_words(record), len(record.runs)), _AXES, rows, note, columns=2)


def decoding_figure(record: DecodingRecord) -> go.Figure:
    """Draw each token's time with plotly, from the second on: the first one runs the prompt."""
    from workbench.drawing.scale import scale_of
    from workbench.drawing.template import new_figure, set_title

    figure, every = new_figure(), figures_of(record)
    scale = scale_of([row.token.value for row in every])
    for index, row in enumerate(every):
        style = run_look(index)
        places, name = range(1, len(row.position_s)), plain(_label(row, bool(record.further)))
        figure.add_scatter(
            x=[row.case.prompt_count + place for place in places],
            y=[scale.of(row.position_s[place]) for place in places],
            name=name,
            mode="lines+markers",
            marker={"symbol": style.symbol, "size": 5},
            line={"color": style.color, "dash": style.dash},
            hovertemplate=f"position %{{x}}: %{{y:.4~g}} {scale.unit}<extra>{name}</extra>",
            showlegend=True,
        )
    figure.update_xaxes(title_text="position of the token")
    figure.update_yaxes(title_text=f"median time of the token ({scale.unit})", rangemode="tozero")
    note = "the first token, which runs the prompt, stands in the sentences only"
    return set_title(figure, headlines(in_words(record), len(record.runs)), note, _HEIGHT)


def _label(figures: DecodeFigures, several: bool) -> str:
    return f"{figures.run.label}, {figures.case.name}" if several else figures.run.label


def _row(index: int, figures: DecodeFigures, several: bool) -> ChartRow:
    look, run = run_look(index), figures.run
    absent = "not measured" if run.failure is None else run.failure.problem
    times = (
        time_value(time.value, look, absent, digits=3, low=time.low, high=time.high)
        for time in (figures.first_token, figures.token)
    )
    rate = figures.tokens_per_s
    text = absent if rate.value is None else in_digits(rate.value, 3)
    if figures.roof_share is not None:
        text += f" ({figures.roof_share * 100:.0f} % of the roof)"
    speed = Value(rate.value, text, look, rate.low, rate.high)
    return one_value(_label(figures, several), *times, speed, size_value(run.cache_bytes, look, "no cache"))
