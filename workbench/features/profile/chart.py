"""Where a run's time goes, by op type, gaps included."""

from __future__ import annotations

from workbench.core.text import in_ms
from workbench.drawing.chart import GREY, Axis, Chart, Look, Value, one_value, rows_left_out
from workbench.drawing.palette import style_of_op_type
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.tables import BETWEEN_NODES, SCHEDULING

_MOST_OPS = 15


def op_type_chart(profile: SessionProfile) -> Chart:
    """Return a row for each op type: its own time in a run. Time of no node has grey rows."""
    table = profile.by("op_type")
    rows = []
    columns = (table[name].tolist() for name in ("op_type", "self_s", "share", "calls"))
    for name, own_s, share, calls in list(zip(*columns, strict=True))[:_MOST_OPS]:
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
