"""Where a run's time goes: by op type, gaps included, and one run in time by thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.analysis.profile.session_profile import Profile
from workbench.analysis.profile.tables import BETWEEN_NODES, SCHEDULING
from workbench.figures.chart import GREY, Axis, Chart, Look, Value, one_value, rows_left_out
from workbench.figures.palette import TEXT, style_of_op_type
from workbench.figures.words import plain
from workbench.text import in_ms

if TYPE_CHECKING:
    import plotly.graph_objects as go


MOST_OPS = 15
MOST_SPANS = 2000  # plotly's bars become slow beyond a few thousand
THREAD_PIXELS = 60


def op_type_chart(profile: Profile) -> Chart:
    """Return a row for each op type: its own time in a run. Time of no node has grey rows."""
    table = profile.by("op_type")
    rows = []
    columns = (table[name].tolist() for name in ("op_type", "self_s", "share", "calls"))
    for name, own_s, share, calls in list(zip(*columns, strict=True))[:MOST_OPS]:
        style = style_of_op_type(str(name))
        look = GREY if name in (BETWEEN_NODES, SCHEDULING) else Look(style.color, style.pattern)
        text = (
            f"{in_ms(own_s, 3)} ({share * 100:.1f} %)"
            if share is not None and share == share
            else "not known"
        )
        value = Value(own_s * 1e3, text, look, detail=f"{calls:.4g} calls a run")
        rows.append(one_value(str(name), value))
    axis = Axis("own time a run (ms)")
    title = f"Where the time of a run goes, by op type; shares of {profile.time_words}; {profile}"
    return Chart((title,), (axis,), tuple(rows), rows_left_out(len(table), len(rows), "op types"))


def timeline_figure(profile: Profile, run: int | None = None) -> go.Figure:
    """Draw the nodes of one counted run, by default the last, in time: a lane for each thread."""
    import plotly.graph_objects as go

    from workbench.figures.template import new_figure, set_title

    spans = profile.spans()
    number = profile.warmup_runs + (len(profile.runs_s) - 1 if run is None else run)
    nodes = spans[(spans["kind"] == "node") & (spans["run"] == number)]
    left_out = max(0, len(nodes) - MOST_SPANS)
    nodes = nodes.nlargest(MOST_SPANS, "duration_s").sort_values("start_s")
    begin = float(nodes["start_s"].min()) if len(nodes) else 0.0
    threads = {thread: f"thread {i + 1}" for i, thread in enumerate(dict.fromkeys(nodes["thread"]))}
    ops = [str(op) for op in nodes["op_type"]]
    styles = [style_of_op_type(op) for op in ops]
    figure = new_figure(
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
    return set_title(figure, ["One run in time, by thread"], note, 60 + THREAD_PIXELS * len(threads))
