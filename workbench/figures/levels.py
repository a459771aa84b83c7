"""ORT's five levels: nodes left, load time, latency, and what each gains with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.figures.palette import TEXT, style_of_run
from workbench.figures.template import apply, set_title
from workbench.figures.words import plain

if TYPE_CHECKING:
    from workbench.analysis.levels import LevelsRecord

HEIGHT = 560


@dataclass(frozen=True, slots=True)
class LevelBars:
    """In the order of the levels; None: not measured."""

    levels: tuple[str, ...]
    nodes: tuple[int | None, ...]
    load_ms: tuple[float | None, ...]
    median_ms: tuple[float | None, ...]
    ratio: tuple[float | None, ...]  # against the level "disabled"
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    speedup: tuple[str, ...]  # in words, with the interval
    outputs: str  # whether they agree with those of the level "disabled", in words


def levels_data(record: LevelsRecord) -> LevelBars:
    """Units changed and sentences made, nothing computed."""
    return LevelBars(
        levels=tuple(one.level for one in record.rows),
        nodes=tuple(one.nodes for one in record.rows),
        load_ms=tuple(_ms(one.load_s) for one in record.rows),
        median_ms=tuple(_ms(one.median_s) for one in record.rows),
        ratio=tuple(one.speedup for one in record.rows),
        low=tuple(one.low for one in record.rows),
        high=tuple(one.high for one in record.rows),
        speedup=tuple(
            "baseline" if one.verdict is None
            else one.verdict if one.speedup is None or one.low is None or one.high is None
            else f"{one.speedup:.2f}× ({one.low:.2f} to {one.high:.2f})"
            for one in record.rows
        ),
        outputs=_outputs(record),
    )  # fmt: skip


def levels_figure(record: LevelsRecord) -> go.Figure:
    """Four panels over the same levels."""
    data = levels_data(record)
    figure = apply(make_subplots(rows=2, cols=2, horizontal_spacing=0.12, vertical_spacing=0.16))
    names = [plain(level) for level in data.levels]
    gains = [plain(gain) for gain in data.speedup]
    panels = (
        (1, 1, data.nodes, "nodes", "%{y} nodes", 0),
        (1, 2, data.load_ms, "load time (ms)", "loads in %{y:.4g} ms", 0),
        (2, 1, data.median_ms, "median latency (ms)", "%{y:.4g} ms", 1),
    )
    for row, column, values, title, words, style in panels:
        look = style_of_run(style)
        marker = {
            "color": look.color,
            "pattern": {"shape": look.pattern},
            "line": {"color": TEXT, "width": 1},
        }
        figure.add_bar(
            x=names, y=values, marker=marker, row=row, col=column, customdata=gains,
            hovertemplate=f"%{{x}}: {words}, %{{customdata}}<extra></extra>",
        )  # fmt: skip
        figure.update_yaxes(title_text=title, row=row, col=column)
    _speedups(figure, data)
    figure.update_layout(showlegend=False)
    told = [
        f"{level} {gain}" for level, gain in zip(data.levels, data.speedup, strict=True) if gain != "baseline"
    ]
    note = f"speed against level disabled, with 95 % intervals: {', '.join(told)}. {data.outputs}"
    return set_title(figure, [f"{record.model_name}: ORT's levels side by side"], note, HEIGHT)


def _speedups(figure: go.Figure, data: LevelBars) -> None:
    look = style_of_run(1)
    known = [
        (level, ratio, low, high)
        for level, ratio, low, high in zip(data.levels, data.ratio, data.low, data.high, strict=True)
        if ratio is not None and low is not None and high is not None
    ]
    figure.add_scatter(
        x=[plain(level) for level, *_ in known], y=[ratio for _, ratio, _, _ in known],
        mode="markers", row=2, col=2,
        marker={"color": look.color, "size": 10, "line": {"color": TEXT, "width": 1}},
        error_y={
            "type": "data", "symmetric": False, "color": look.color,
            "array": [high - ratio for _, ratio, _, high in known],
            "arrayminus": [ratio - low for _, ratio, low, _ in known],
        },
        hovertemplate="%{x}: %{y:.2f}×<extra></extra>",
    )  # fmt: skip
    figure.add_hline(y=1, line={"color": TEXT, "width": 1, "dash": "dot"}, row=2, col=2)
    figure.update_yaxes(title_text="times as fast as disabled", row=2, col=2)
    figure.update_xaxes(categoryorder="array", categoryarray=[plain(level) for level in data.levels])
    figure.update_xaxes(range=[-0.5, len(data.levels) - 0.5], row=2, col=2)


def _outputs(record: LevelsRecord) -> str:
    compared = [one for one in record.rows if one.verdict is not None]
    differ = [one.level for one in compared if one.outputs_agree is False]
    unknown = [one.level for one in compared if one.outputs_agree is None]
    told = []
    if differ:
        told.append(f"Outputs differ at {', '.join(differ)}")
    if unknown:
        told.append(f"Outputs were not compared at {', '.join(unknown)}")
    return ". ".join(told) or "Outputs agree at every level"


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
