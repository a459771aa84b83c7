"""The flame view in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.difference.changes import Difference
from workbench.analysis.profile.tables import BETWEEN_NODES, SCHEDULING, group_table
from workbench.text import in_time
from workbench.views.flame.pictures import ProfiledRun

MOST = 3


def sentence(shown: Sequence[ProfiledRun], difference: Difference | None) -> str:
    """Return the sentence of the difference, or of where most of the time goes."""
    if difference is not None:
        return f"{difference}."
    return ". ".join(_of(run) for run in shown) + "."


def heading(shown: Sequence[ProfiledRun], difference: Difference | None) -> tuple[str, str]:
    """Return a short title, and the line below it: what a difference consists of, or the whole sentence."""
    whole = sentence(shown, difference)
    title, colon, parts = whole.partition("): ")
    if difference is not None:
        return (f"{title})", parts) if colon else (whole, "")
    if not all(run.profile.steady.runs for run in shown):
        return whole, ""
    return ", ".join(f"{run.label} {in_time(run.profile.run_s)}" for run in shown), whole


def _of(shown: ProfiledRun) -> str:
    steady = shown.profile.steady
    if not steady.runs:
        return f"{shown.label}: no run was completed in this trace"
    table = group_table(steady, "op_type")
    gaps = table["op_type"].isin((BETWEEN_NODES, SCHEDULING))
    top = table[~gaps].head(MOST)
    parts = [f"{op} {share * 100:.0f} %" for op, share in zip(top["op_type"], top["share"], strict=True)]
    parts.append(f"no node {float(table[gaps]['share'].sum()) * 100:.0f} %")
    return f"{shown.label}: {shown.profile.time_words}; {', '.join(parts)}"
