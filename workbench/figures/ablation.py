"""What each pass is worth, with its interval, above the control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from workbench.figures.palette import BLUE, TEXT, VERMILLION
from workbench.figures.template import apply, set_title
from workbench.figures.words import plain

if TYPE_CHECKING:
    from workbench.analysis.ablation import AblationRecord

ROW = 34
MOST_LETTERS = 120  # of names in the note
_LOOKS = {"helps": (BLUE, "circle"), "hurts": (VERMILLION, "diamond"), "no effect": (TEXT, "square")}
_UNSURE = (TEXT, "circle-open")


@dataclass(frozen=True, slots=True)
class Bar:
    """One pass, in percent; None: not measured."""

    name: str
    effect: str
    worth: float | None
    low: float | None
    high: float | None


def ablation_data(record: AblationRecord) -> tuple[Bar, ...]:
    """The control last."""
    return tuple(
        Bar(
            one.name,
            one.effect,
            *(None if value is None else value * 100 for value in (one.worth, one.low, one.high)),
        )
        for one in (*record.rows, record.control)
    )


def ablation_figure(record: AblationRecord) -> go.Figure:
    """A point with its interval a pass; right of zero the pass helps."""
    bars = ablation_data(record)
    figure = apply(go.Figure())
    for effect in dict.fromkeys(bar.effect for bar in bars):
        rows = [bar for bar in bars if bar.effect == effect]
        color, symbol = _LOOKS.get(effect, _UNSURE)
        figure.add_scatter(
            x=[bar.worth for bar in rows],
            y=[_label(bar) for bar in rows],
            mode="markers",
            name=effect,
            marker={"color": color, "symbol": symbol, "size": 10},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [_length(bar.high, bar.worth) for bar in rows],
                "arrayminus": [_length(bar.worth, bar.low) for bar in rows],
                "color": color,
            },
            hovertemplate="%{y}: %{x:.1f} % slower without it<extra></extra>",
        )
    figure.add_vline(x=0, line={"color": TEXT, "width": 1})
    figure.update_layout(
        xaxis={"title_text": "slower without the pass (%)"},
        yaxis={"categoryorder": "array", "categoryarray": [_label(bar) for bar in reversed(bars)]},
    )
    note = "each pass was switched off alone; the control is the same config measured twice"
    if record.hurts:
        names = plain(", ".join(record.hurts), MOST_LETTERS)
        note = f"these passes make the model slower here: {names}; {note}"
    return set_title(
        figure, [f"{record.model_name}: what each pass is worth here"], note, ROW * len(bars) + 110
    )


def _label(bar: Bar) -> str:
    return plain(bar.name, 60) if bar.worth is not None else f"{plain(bar.name, 60)} (not measured)"


def _length(high: float | None, low: float | None) -> float | None:
    return None if high is None or low is None else high - low
