"""The pictures of one profile or two, as frozen data, and the sentence about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.text import in_time
from workbench.features.profile.difference.changes import Difference
from workbench.features.profile.flame.differing import change_by_node, differing
from workbench.features.profile.flame.frames import FlamePane, Picture
from workbench.features.profile.flame.merged import Order, devices, merged
from workbench.features.profile.flame.timeline import MOST_SPANS, timeline
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.tables import BETWEEN_NODES, SCHEDULING, group_table

PROFILED = "with the profiler on, so longer than in the other pictures"
SHARES = "shares of the profiled runs; the profiler costs a small node relatively more than a large one"
DIFFERING = "Left, less time in B; right, more. Below: why, what became what, and the single nodes."
_MOST_OPS = 3  # in the sentence


@dataclass(frozen=True, slots=True, eq=False)
class ProfiledRun:
    """A profile and its label."""

    label: str
    profile: SessionProfile


def pictures(shown: Sequence[ProfiledRun], difference: Difference | None) -> tuple[Picture, ...]:
    """Return the pictures by module, by operator and in time; of two runs the difference is first."""
    drawn = [
        _merged("module", "By module", shown, difference),
        _merged("operator", "By operator", shown, difference),
        _in_time(shown),
    ]
    if difference is not None:
        drawn.insert(0, _difference(shown, difference))
    return tuple(drawn)


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


def _merged(order: Order, title: str, shown: Sequence[ProfiledRun], difference: Difference | None) -> Picture:
    panes = []
    for run, pane in zip(shown, _means(order, shown, difference), strict=True):
        panes.append(pane)
        kernels = devices(run.profile, order)
        if kernels is not None:
            panes.append(
                FlamePane(f"{run.label}, device", "kernels, beside the nodes that launched them", kernels)
            )
    return Picture(order, title, f"The mean run: {SHARES}. The widest stand left.", tuple(panes))


def _means(order: Order, shown: Sequence[ProfiledRun], difference: Difference | None) -> list[FlamePane]:
    """Return the mean run of each profile; boxes stand in the same order in all of them."""
    changes = () if difference is None else change_by_node(difference)
    drawn = merged([run.profile for run in shown], order, changes)
    return [
        FlamePane(run.label, _runs(run.profile), frames) for run, frames in zip(shown, drawn, strict=True)
    ]


def _in_time(shown: Sequence[ProfiledRun]) -> Picture:
    panes: list[FlamePane] = []
    views = []
    for run in shown:
        lanes, view_s = timeline(run.profile, run.label, MOST_SPANS // max(1, len(shown)))
        panes += lanes
        views.append(view_s)
    view = (min(low for low, _ in views), max(high for _, high in views)) if views else None
    return Picture(
        "time", "In time", f"One run as it happened, {PROFILED}. Zoom out for the others.", tuple(panes), view
    )


def _difference(shown: Sequence[ProfiledRun], difference: Difference) -> Picture:
    pane = FlamePane(
        "Difference", "each node of B against the nodes of A that it replaced", differing(difference)
    )
    return Picture("difference", "Difference", DIFFERING, (*_means("operator", shown[:2], difference), pane))


def _runs(profile: SessionProfile) -> str:
    return f"of {profile.time_words}" if profile.steady.runs else "no run"


def _of(shown: ProfiledRun) -> str:
    steady = shown.profile.steady
    if not steady.runs:
        return f"{shown.label}: no run was completed in this trace"
    table = group_table(steady, "op_type")
    if not table["self_s"].sum():  # runs of no microsecond: nothing is a share of them
        return f"{shown.label}: {shown.profile.time_words}"
    gaps = table["op_type"].isin((BETWEEN_NODES, SCHEDULING))
    top = table[~gaps].head(_MOST_OPS)
    parts = [f"{op} {share * 100:.0f} %" for op, share in zip(top["op_type"], top["share"], strict=True)]
    parts.append(f"no node {float(table[gaps]['share'].sum()) * 100:.0f} %")
    return f"{shown.label}: {shown.profile.time_words}; {', '.join(parts)}"
