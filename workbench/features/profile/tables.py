"""A profile as tables by node, op type, module, provider and thread; gaps are named rows.

Times are those of one run, profiled times multiplied by `Measured.scale`: the latency without the profiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.models.graph_walk import dotted, module_of
from workbench.core.rewrites.graphs import with_bodies
from workbench.features.profile.trace import NO_CODE, Codes, EventKind, Interning, Trace, node_name
from workbench.features.profile.tree import NO_PARENT, EventTree

_ADDED = ("_nchwc", "_nhwc", "_reorder", "_output_0")  # by ORT and exporters, to the name of a tensor


def scope_of(name: str) -> str:
    """Return the module path that exporters put before the last slash; "" where there is none."""
    return name.rpartition("/")[0]


def scopes_of(optimized: Any, source: Any) -> dict[str, str]:
    """Return modules by node of the optimized model, for nodes whose own name does not hold one."""
    known = dict(_told(source))
    scopes: dict[str, str] = {}
    for node in (node for graph in with_bodies(optimized.graph) for node in graph.node):
        if scope_of(node.name):
            continue
        for name in (*node.output, node.name):
            scope = next(
                (known[spelling] for spelling in _spellings(name) if spelling in known), None
            ) or scope_of(name)
            if scope:
                scopes[node.name] = scope
                break
    return scopes


def _told(model: Any) -> Iterator[tuple[str, str]]:
    """Yield modules from metadata, by the names of nodes and of their outputs."""
    for node in (node for graph in with_bodies(model.graph) for node in graph.node):
        scope = "/".join(dotted(module_of(node)))
        if scope:
            for name in (node.name, *node.output):
                yield name, scope


def _spellings(name: str) -> Iterator[str]:
    yield name
    for ending in _ADDED:
        name = name.removesuffix(ending)
        yield name


Grouping: TypeAlias = Literal["node", "op_type", "scope", "provider", "thread"]
BETWEEN_NODES = "(between nodes)"
SCHEDULING = "(scheduling)"  # of a run, around its executor: checking feeds, fetching outputs
FENCES = "(fences)"  # of older ORT: nodes waiting for tensors of another device
_GAPS = {EventKind.EXECUTOR: BETWEEN_NODES, EventKind.RUN: SCHEDULING, EventKind.FENCE: FENCES}
FEW_RUNS_FOR_P90 = 64


@dataclass(frozen=True, slots=True, eq=False)
class CountedEvents:
    """The events of the runs that count: warm-up runs and what lies outside of runs left out."""

    trace: Trace
    tree: EventTree
    events: Codes  # nodes, executors, runs and others of these runs that take wall-clock time
    run: Codes  # of each of these events: a position in `chosen`
    chosen: tuple[int, ...]  # runs of the tree, in order
    scopes: Mapping[str, str]  # of nodes whose names do not tell their module
    scale: float = 1.0  # the latency over the mean duration of the profiled runs

    @property
    def runs(self) -> int:
        return len(self.chosen)

    @property
    def per_run(self) -> float:
        """Seconds of one run, at the scale of the latency, for a microsecond in all runs."""
        return self.scale / 1e6 / (self.runs or 1)

    def scope(self, node: str) -> str:
        """Return the module that a node belongs to; "" where it is unknown."""
        return self.scopes.get(node) or scope_of(node)

    def labels(self, by: Grouping) -> list[str]:
        """Return the group of each event."""
        return [self._label(int(event), by) for event in self.events]

    def _label(self, event: int, by: Grouping) -> str:
        kind = EventKind(self.tree.kind[event])
        if by == "thread":
            return str(self.trace.tid[event])
        if kind in _GAPS:
            return _GAPS[kind]
        name = node_name(self.trace.name_of(event))
        call = self.trace.call_of(event)
        if by == "node":
            return name
        if by == "scope":
            return self.scope(name)
        label = None if call is None else (call.op_type if by == "op_type" else call.provider)
        return label or "(not told)"


def measured(
    trace: Trace,
    tree: EventTree,
    runs: Sequence[int],
    scopes: Mapping[str, str],
    scale: float = 1.0,
) -> CountedEvents:
    """Select everything inside of these runs, without a device's kernels, which run beside them."""
    position = np.full(len(tree.runs) + 1, NO_PARENT, np.int32)  # the last one is for events of no run
    position[list(runs)] = np.arange(len(runs), dtype=np.int32)
    run = position[tree.run]
    events = np.flatnonzero((run >= 0) & (tree.kind != EventKind.KERNEL) & ~np.isnan(tree.self_us))
    return CountedEvents(trace, tree, events.astype(np.int32), run[events], tuple(runs), scopes, scale)


def node_table(runs: CountedEvents) -> DataFrame:
    """Return a row per executed node: calls and times of one run, and its share of the run."""
    is_node = runs.tree.kind[runs.events] == EventKind.NODE
    events = runs.events[is_node]
    rows = data_frame(
        {
            "name": runs.trace.name[events],
            "call": runs.trace.call[events],
            "total_s": runs.trace.duration_us[events] * runs.per_run,
            "self_s": runs.tree.self_us[events] * runs.per_run,
        }
    )
    groups = rows.groupby("name", sort=False)
    table = groups.agg(
        call=("call", "first"), calls=("call", "size"), total_s=("total_s", "sum"), self_s=("self_s", "sum")
    ).reset_index()
    names = [node_name(runs.trace.names[code]) for code in table["name"]]
    calls = [None if code == NO_CODE else runs.trace.calls[code] for code in table["call"]]
    whole = mean_seconds(runs) * runs.scale
    result = data_frame(
        {
            "node": names,
            "op_type": [None if call is None else call.op_type for call in calls],
            "provider": [None if call is None else call.provider for call in calls],
            "scope": [runs.scope(name) for name in names],
            "calls": table["calls"] / (runs.runs or 1),
            "total_s": table["total_s"],
            "self_s": table["self_s"],
            "mean_s": table["total_s"] / table["calls"] * (runs.runs or 1),
            "share": table["self_s"] / whole if whole else None,
        }
    )
    return result.sort_values("self_s", ascending=False, ignore_index=True)


def group_table(runs: CountedEvents, by: Grouping) -> DataFrame:
    """Return a row per group: calls and times of one run, share of it. The shares sum to one."""
    counts = runs.tree.kind[runs.events] == EventKind.NODE
    rows = data_frame(
        {
            by: runs.labels(by),
            "calls": counts / (runs.runs or 1),
            "total_s": np.where(counts, runs.trace.duration_us[runs.events], np.nan) * runs.per_run,
            "self_s": runs.tree.self_us[runs.events] * runs.per_run,
        }
    )
    table = rows.groupby(by, sort=False).agg(
        calls=("calls", "sum"),
        total_s=("total_s", lambda values: values.sum(min_count=1)),
        self_s=("self_s", "sum"),
    )
    table["mean_s"] = table["total_s"] / table["calls"].where(table["calls"] > 0)
    whole = table["self_s"].sum()
    table["share"] = table["self_s"] / whole if whole else None
    return table.reset_index().sort_values("self_s", ascending=False, ignore_index=True)


def variation_table(runs: CountedEvents, by: Grouping = "node") -> DataFrame:
    """How each group's time a run varies: lowest, quartiles, highest; spread is (q75 - q25) / median.

    p90_s is given from 64 runs on: fewer cannot tell it.
    """
    names, sums = seconds_by_run(runs, by)
    low, first, middle, third, high = (
        np.quantile(sums, (0, 0.25, 0.5, 0.75, 1), axis=1) if runs.runs else np.full((5, len(names)), np.nan)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(middle > 0, (third - first) / middle, np.nan)
    p90 = np.quantile(sums, 0.9, axis=1) if runs.runs >= FEW_RUNS_FOR_P90 else None
    data = {
        by: names, "min_s": low, "q25_s": first, "median_s": middle, "q75_s": third, "max_s": high,
        "p90_s": p90, "spread": spread, "excess_s": third - first,
    }  # fmt: skip
    return data_frame(data).sort_values("excess_s", ascending=False, ignore_index=True)


def seconds_by_run(runs: CountedEvents, by: Grouping) -> tuple[list[str], Any]:
    """Return the groups, and the own seconds of each (a row) in each run (a column)."""
    positions = Interning()
    rows = np.array([positions[label] for label in runs.labels(by)], np.int64)
    sums = np.zeros((len(positions), runs.runs))
    np.add.at(sums, (rows, runs.run), runs.tree.self_us[runs.events] / 1e6 * runs.scale)
    return list(positions), sums


def mean_seconds(runs: CountedEvents) -> float:
    """Return the mean duration of the runs with the profiler on; 0.0 without a run."""
    events = [runs.tree.runs[run] for run in runs.chosen]
    return float((runs.trace.duration_us[events] / 1e6).mean()) if events else 0.0


def span_table(trace: Trace, tree: EventTree) -> DataFrame:
    """A row an event of the tree: what flame views draw. Starts count from the first event."""
    taking = np.flatnonzero(~np.isnan(tree.self_us))
    calls = [trace.call_of(int(event)) for event in taking]
    return data_frame(
        {
            "event": taking,
            "parent": tree.parent[taking],
            "kind": [EventKind(kind).name.lower() for kind in tree.kind[taking]],
            "name": [node_name(trace.name_of(int(event))) for event in taking],
            "op_type": [None if call is None else call.op_type for call in calls],
            "provider": [None if call is None else call.provider for call in calls],
            "run": [None if run == NO_PARENT else int(run) for run in tree.run[taking]],
            "thread": trace.tid[taking],
            "start_s": trace.start_us[taking] / 1e6,
            "duration_s": trace.duration_us[taking] / 1e6,
            "share_s": tree.share_us[taking] / 1e6,
            "self_s": tree.self_us[taking] / 1e6,
        }
    )
