"""ORT's five levels: nodes left, and latency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.figures.palette import TEXT, style_of_run
from workbench.figures.template import apply, set_title
from workbench.figures.words import plain

if TYPE_CHECKING:
    from workbench.explain.levels import LevelsRecord

HEIGHT = 340


@dataclass(frozen=True, slots=True)
class LevelBars:
    """In the order of the levels; None: not measured."""

    levels: tuple[str, ...]
    nodes: tuple[int | None, ...]
    median_ms: tuple[float | None, ...]
    speedup: tuple[str, ...]  # in words, with the interval


def levels_data(record: LevelsRecord) -> LevelBars:
    """Units changed and sentences made, nothing computed."""
    return LevelBars(
        levels=tuple(one.level for one in record.rows),
        nodes=tuple(one.nodes for one in record.rows),
        median_ms=tuple(None if one.median_s is None else one.median_s * 1e3 for one in record.rows),
        speedup=tuple(
            "baseline" if one.verdict is None
            else one.verdict if one.speedup is None or one.low is None or one.high is None
            else f"{one.speedup:.2f}× ({one.low:.2f} to {one.high:.2f})"
            for one in record.rows
        ),
    )  # fmt: skip


def levels_figure(record: LevelsRecord) -> go.Figure:
    """Two panels over the same levels."""
    data = levels_data(record)
    figure = apply(make_subplots(rows=1, cols=2, horizontal_spacing=0.12))
    first, second = style_of_run(0), style_of_run(1)
    outline = {"color": TEXT, "width": 1}
    names = [plain(level) for level in data.levels]
    figure.add_bar(
        x=names, y=data.nodes, marker={"color": first.color, "line": outline}, row=1, col=1,
        hovertemplate="%{x}: %{y} nodes<extra></extra>",
    )  # fmt: skip
    figure.add_bar(
        x=names, y=data.median_ms, row=1, col=2,
        marker={"color": second.color, "pattern": {"shape": second.pattern}, "line": outline},
        customdata=[plain(words) for words in data.speedup],
        hovertemplate="%{x}: %{y:.4g} ms, %{customdata}<extra></extra>",
    )  # fmt: skip
    figure.update_yaxes(title_text="nodes", row=1, col=1)
    figure.update_yaxes(title_text="median latency (ms)", row=1, col=2)
    figure.update_layout(showlegend=False)
    told = [
        f"{level} {words}"
        for level, words in zip(data.levels, data.speedup, strict=True)
        if words != "baseline"
    ]
    note = f"speed against level disabled, with 95 % intervals: {', '.join(told)}"
    return set_title(figure, [f"{record.model_name}: ORT's levels side by side"], note, HEIGHT)
