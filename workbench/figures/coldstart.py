"""From nothing to the first answer, step by step, a bar a config."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from workbench.explain.coldstart.coldstart import ColdStart
from workbench.figures.palette import PALE, STRONG, TEXT
from workbench.figures.template import apply, set_title
from workbench.figures.words import plain

_PATTERNS = ("", "/", "x", "-", "\\", ".", "+")
_COLORS = (*STRONG, *PALE)
STEADY = "steady run"
BAR_PIXELS = 56


def cold_start_figure(starts: Sequence[ColdStart]) -> go.Figure:
    """Stacked steps; the steady run stands in the title's note, since it is no part of starting."""
    figure = go.Figure()
    steps = [name for name, _ in starts[0].steps if name != STEADY] if starts else []
    for index, step in enumerate(steps):
        seconds = [dict(start.steps)[step] for start in starts]
        figure.add_trace(
            go.Bar(
                x=[None if value is None else value * 1e3 for value in seconds],
                y=[plain(start.label) for start in starts],
                name=step,
                orientation="h",
                marker={
                    "color": _COLORS[index],
                    "pattern": {"shape": _PATTERNS[index]},
                    "line": {"color": TEXT, "width": 1},
                },
                hovertemplate=f"{step}: %{{x:,.4g}} ms<extra>%{{y}}</extra>",
            )
        )
    figure.update_layout(barmode="stack")
    figure.update_xaxes(title_text="time since the process was asked for (ms)")
    figure.update_yaxes(autorange="reversed")
    sentences = [
        f"{start.label}: {start.until_first_answer_s * 1e3:,.4g} ms to the first answer" for start in starts
    ]
    steady = [dict(start.steps)[STEADY] or 0.0 for start in starts]
    note = "once steady, a run takes " + " and ".join(f"{seconds * 1e3:.4g} ms" for seconds in steady)
    return set_title(apply(figure), sentences, note, 80 + BAR_PIXELS * len(starts))
