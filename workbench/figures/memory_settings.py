"""Memory and latency with each memory setting turned over, against the config as asked."""

from __future__ import annotations

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.analysis.memory.settings import MemorySetting, MemorySettingsRecord
from workbench.figures.palette import TEXT, style_of_run
from workbench.figures.template import apply, set_title
from workbench.figures.words import plain

MIB = 1 << 20
BAR_PIXELS = 58
_BARS = (("peak", "peak_bytes"), ("after loading", "loaded_bytes"), ("held by the arena", "arena_held_bytes"))


def memory_settings_figure(found: MemorySettingsRecord) -> go.Figure:
    """Memory left, latency right; what is not known has no bar."""
    figure = make_subplots(
        rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.06, column_widths=[0.6, 0.4]
    )
    names = [plain(row.name) for row in found.rows]
    for index, (name, field) in enumerate(_BARS):
        sizes = [getattr(row, field) for row in found.rows]
        style = style_of_run(index)
        figure.add_trace(
            go.Bar(
                x=[None if size is None else size / MIB for size in sizes],
                y=names,
                name=name,
                orientation="h",
                marker={
                    "color": style.color,
                    "pattern": {"shape": style.pattern},
                    "line": {"color": TEXT, "width": 1},
                },
                hovertemplate=f"{name}: %{{x:,.4g}} MiB<extra>%{{y}}</extra>",
            ),
            row=1,
            col=1,
        )
    style = style_of_run(len(_BARS))
    figure.add_trace(
        go.Bar(
            x=[None if row.latency_s is None else row.latency_s * 1e3 for row in found.rows],
            y=names,
            name="latency",
            orientation="h",
            marker={"color": style.color, "line": {"color": TEXT, "width": 1}},
            customdata=[[plain(row.verdict or "the baseline")] for row in found.rows],
            text=[plain(_verdict(row)) for row in found.rows],
            textposition="auto",
            hovertemplate="%{x:,.4g} ms, %{customdata[0]}<extra>%{y}</extra>",
        ),
        row=1,
        col=2,
    )
    figure.update_layout(barmode="group", bargap=0.25)
    figure.update_xaxes(
        title_text="memory above the imported library (MiB)", rangemode="tozero", row=1, col=1
    )
    figure.update_xaxes(title_text="median latency (ms)", rangemode="tozero", row=1, col=2)
    figure.update_yaxes(autorange="reversed")
    head, *rest = str(found).split("; ")
    return set_title(apply(figure), [head], ". ".join(rest), 90 + BAR_PIXELS * len(found.rows))


def _verdict(row: MemorySetting) -> str:
    """In the bar: what was judged, with the ratio where it is one."""
    if row.verdict is None:
        return "baseline"
    told = row.ratio is not None and row.verdict in ("faster", "slower")
    return f"{row.verdict}, {row.ratio:.2f}×" if told else row.verdict
