"""Where a run's time goes: by op type as bars, gaps included, and one run in time by thread."""

from __future__ import annotations

import plotly.graph_objects as go

from workbench.analysis.profile.profile import Profile
from workbench.analysis.profile.tables import BETWEEN_NODES, SCHEDULING
from workbench.figures.palette import TEXT, style_of_op_type
from workbench.figures.template import apply, set_title
from workbench.figures.words import plain

MOST_BARS = 15
MOST_SPANS = 2000  # plotly's bars become slow beyond a few thousand
BAR_PIXELS, THREAD_PIXELS = 24, 60


def op_type_figure(profile: Profile) -> go.Figure:
    """Own time a run of each op type; what no node takes is a grey bar of its own."""
    table = profile.by("op_type")
    runs = len(profile.runs_s) or 1
    shown = table.head(MOST_BARS).iloc[::-1]
    names = [str(name) for name in shown["op_type"]]
    gaps = (BETWEEN_NODES, SCHEDULING)
    styles = [style_of_op_type(name) for name in names]
    figure = go.Figure(
        go.Bar(
            x=[own * 1e3 / runs for own in shown["self_s"]],
            y=[plain(name) for name in names],
            orientation="h",
            marker={
                "color": [TEXT if n in gaps else s.color for n, s in zip(names, styles, strict=True)],
                "pattern": {
                    "shape": ["." if n in gaps else s.pattern for n, s in zip(names, styles, strict=True)]
                },
                "line": {"color": TEXT, "width": 1},
            },
            customdata=list(zip(shown["share"] * 100, shown["calls"] / runs, strict=True)),
            hovertemplate="%{y}<br>%{x:.4g} ms a run (%{customdata[0]:.1f} %)"
            "<br>%{customdata[1]:.4g} calls a run<extra></extra>",
        )
    )
    figure.update_xaxes(title_text="own time a run, with the profiler on (ms)")
    left_out = "" if len(table) <= MOST_BARS else f"; {len(table) - MOST_BARS} more op types in the table"
    title = f"Where the time goes, by op type{left_out}"
    return set_title(apply(figure), [title], str(profile), 60 + BAR_PIXELS * len(names))


def timeline_figure(profile: Profile, run: int | None = None) -> go.Figure:
    """The nodes of one counted run (the last unless told) in time, a lane a thread."""
    spans = profile.spans()
    number = profile.warmup_runs + (len(profile.runs_s) - 1 if run is None else run)
    nodes = spans[(spans["kind"] == "node") & (spans["run"] == number)]
    left_out = max(0, len(nodes) - MOST_SPANS)
    nodes = nodes.nlargest(MOST_SPANS, "duration_s").sort_values("start_s")
    begin = float(nodes["start_s"].min()) if len(nodes) else 0.0
    threads = {thread: f"thread {i + 1}" for i, thread in enumerate(dict.fromkeys(nodes["thread"]))}
    ops = [str(op) for op in nodes["op_type"]]
    styles = [style_of_op_type(op) for op in ops]
    figure = go.Figure(
        go.Bar(
            base=[(start - begin) * 1e3 for start in nodes["start_s"]],
            x=[duration * 1e3 for duration in nodes["duration_s"]],
            y=[threads[thread] for thread in nodes["thread"]],
            orientation="h",
            marker={
                "color": [style.color for style in styles],
                "pattern": {"shape": [style.pattern for style in styles]},
                "line": {"color": TEXT, "width": 0.5},
            },
            customdata=[[plain(str(name)), plain(op)] for name, op in zip(nodes["name"], ops, strict=True)],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}, %{x:.4g} ms<extra></extra>",
        )
    )
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(title_text="time in the run, with the profiler on (ms)")
    note = f"the {left_out} shortest nodes are not drawn" if left_out else "every node is drawn"
    return set_title(apply(figure), ["One run in time, by thread"], note, 60 + THREAD_PIXELS * len(threads))
