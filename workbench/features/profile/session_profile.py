"""A profile: ORT's own record of a few executions. It gives shares; the latency is measured without it.

Each time that a table, figure or view shows is a share of the steady runs times one latency, `Profile.run_s`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Self

from workbench.core.bundle.display import DataFrame
from workbench.core.models.graph import Graph
from workbench.core.models.graph_walk import read_graph
from workbench.core.text import counted, in_ms, in_time
from workbench.features.profile.tables import (
    CountedEvents,
    Grouping,
    group_table,
    mean_seconds,
    measured,
    node_table,
    span_table,
    variation_table,
)
from workbench.features.profile.trace import Trace
from workbench.features.profile.tree import EventTree, build_tree
from workbench.features.profile.writing import save_trace

if TYPE_CHECKING:
    from onnx import ModelProto

_STEADY = 0.75  # as in judge.pairs


@dataclass(frozen=True, slots=True)
class Overhead:
    """The same runs without and with the profiler, each in a process of its own, one after the other."""

    plain_s: tuple[float, ...]
    profiled_s: tuple[float, ...]

    @property
    def ratio(self) -> float | None:
        """Profiled over plain, of the medians; None when a side has no run or took no time."""
        if not self.plain_s or not self.profiled_s or not median(self.plain_s):
            return None
        return median(self.profiled_s) / median(self.plain_s)

    def __str__(self) -> str:
        if self.ratio is None:
            return "the profiler's own cost was not measured"
        plain, profiled = in_ms(median(self.plain_s)), in_ms(median(self.profiled_s))
        count = min(len(self.plain_s), len(self.profiled_s))
        summary = f"medians of at least {counted(count, 'run')}, one process after the other"
        how = f"{(self.ratio - 1) * 100:+.0f} %; {summary}"
        return f"profiling changed a run from {plain} to {profiled} ({how})"


class SessionProfile:
    """Where the time of a few executions went. Made by `wb.profile` and `wb.read_profile`."""

    def __init__(
        self,
        trace: Trace,
        *,
        warmup_runs: int | None = None,
        overhead: Overhead | None = None,
        optimized: ModelProto | None = None,
        scopes: Mapping[str, str] | None = None,
        latency_s: float | None = None,
    ) -> None:
        self.trace = trace
        self.latency_s = latency_s  # measured without the profiler, by a comparison
        self.overhead = overhead
        self.optimized = optimized  # the graph that ran, without its large weights
        self.scopes = dict(scopes or {})  # modules of nodes whose names do not tell them
        self.told_warmup_runs = warmup_runs

    @property
    def arguments(self) -> dict[str, Any]:
        """What makes the same profile again."""
        return {
            "trace": self.trace, "warmup_runs": self.told_warmup_runs, "overhead": self.overhead,
            "optimized": self.optimized, "scopes": self.scopes, "latency_s": self.latency_s,
        }  # fmt: skip

    def with_trace(self, trace: Trace, optimized: ModelProto | None, scopes: Mapping[str, str]) -> Self:
        """Return the same runs with another trace of the same events."""
        return type(self)(**self.arguments | {"trace": trace, "optimized": optimized, "scopes": scopes})

    def scaled_to(self, latency_s: float | None) -> Self:
        """Return the same runs as shares of a latency that was measured better; None changes nothing."""
        if latency_s is None:
            return self
        scaled = copy(self)
        for name in ("measured", "steady"):
            vars(scaled).pop(name, None)
        scaled.latency_s = latency_s
        return scaled

    @cached_property
    def graph(self) -> Graph | None:
        """The graph that ran, as the explanation reads its own."""
        return None if self.optimized is None else read_graph(self.optimized)

    @cached_property
    def tree(self) -> EventTree:
        """Every event with its parent, its share of the wall clock, and what of it is its own."""
        return build_tree(self.trace)

    @property
    def warmup_runs(self) -> int:
        """The first runs, which no table counts; by default one, when there are three or more."""
        if self.told_warmup_runs is not None:
            return min(self.told_warmup_runs, len(self.tree.runs))
        return 1 if len(self.tree.runs) > 2 else 0

    @cached_property
    def measured(self) -> CountedEvents:
        """The events of all runs after the warm-up."""
        runs = range(self.warmup_runs, len(self.tree.runs))
        return measured(self.trace, self.tree, runs, self.scopes, self.steady.scale)

    @cached_property
    def steady(self) -> CountedEvents:
        """The events of the fastest three quarters of the runs, without those that something interrupted.

        Comparisons use the same part of their samples. Means over it still add up, to `run_s`.
        """
        durations = self.runs_s
        count = max(1, round(_STEADY * len(durations))) if durations else 0
        fastest = sorted(range(len(durations)), key=durations.__getitem__)[:count]
        chosen = [self.warmup_runs + run for run in sorted(fastest)]
        runs = measured(self.trace, self.tree, chosen, self.scopes)
        mean_s, plain_s = mean_seconds(runs), self.unprofiled_s
        return replace(runs, scale=plain_s / mean_s if plain_s and mean_s else 1.0)

    @property
    def unprofiled_s(self) -> float | None:
        """The latency without the profiler: a comparison's median, else that of the runs before; or None."""
        if self.latency_s is not None:
            return self.latency_s
        return median(self.overhead.plain_s) if self.overhead and self.overhead.plain_s else None

    @property
    def run_s(self) -> float:
        """The time that tables, figures and views divide: `unprofiled_s`, or the mean of the steady runs."""
        return mean_seconds(self.steady) * self.steady.scale

    @property
    def time_words(self) -> str:
        """Which time `run_s` is: "4.83 ms, the measured median"."""
        if self.latency_s is not None:
            return f"{in_time(self.run_s, 4)}, the measured median"
        if self.unprofiled_s:
            return f"{in_time(self.run_s, 4)}, the median without the profiler"
        fastest = f"fastest {self.steady.runs} of {counted(len(self.runs_s), 'run')}"
        return f"{in_time(self.run_s, 4)}, the mean of the {fastest}, with the profiler on"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what is missing in the trace, and on the profiler's cost."""
        own = [] if self.tree.runs else ["no run was completed in this trace, so the tables are empty"]
        return (*self.trace.notes, *own, *([str(self.overhead)] if self.overhead else []))

    @property
    def runs_s(self) -> tuple[float, ...]:
        """The duration of each counted run, with the profiler on."""
        counted_runs = list(self.tree.runs[self.warmup_runs :])
        return tuple((self.trace.duration_us[counted_runs] / 1e6).tolist())

    def to_frame(self) -> DataFrame:
        """Return a row per executed node: op_type, provider, scope, calls and times of one run, share."""
        return node_table(self.steady)

    def node_times_s(self) -> dict[str, float]:
        """Return the own time of each node in one run."""
        table = node_table(self.steady)
        return {str(node): float(own_s) for node, own_s in zip(table["node"], table["self_s"], strict=True)}

    def by(self, group: Grouping) -> DataFrame:
        """Return a row per op_type, node, scope, provider or thread; gaps are rows, so shares sum to one."""
        return group_table(self.steady, group)

    def variation(self, group: Grouping = "node") -> DataFrame:
        """Over the counted runs, what varies most first: lowest, quartiles, highest of each group."""
        return variation_table(self.measured, group)

    def spans(self) -> DataFrame:
        """A row an event with its parent: the tree as flame views draw it."""
        return span_table(self.trace, self.tree)

    def save_trace(self, path: str | os.PathLike[str]) -> Path:
        """Write the trace as ORT writes it, for speedscope and Perfetto; of a long one the first runs."""
        return save_trace(self.trace, self.tree, path)

    def __str__(self) -> str:
        runs = self.runs_s
        summary = "no run was completed"
        if runs:
            summary = f"{counted(len(runs), 'run')}, {in_ms(median(runs))} at the median with the profiler on"
        notes = (note[:1].upper() + note[1:] for note in self.notes)
        return ". ".join((f"{summary}, {counted(len(self.trace), 'event')}", *notes))

    def __repr__(self) -> str:
        return f"<Profile: {self}>"
