"""A profile: ORT's own record of a few executions. Good for shares; latency is measured without it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Self

from workbench.analysis.profile.reader import read_trace
from workbench.analysis.profile.tables import (
    Grouping,
    Measured,
    group_table,
    measured,
    node_table,
    run_seconds,
    span_table,
    variation_table,
)
from workbench.analysis.profile.trace import Trace
from workbench.analysis.profile.tree import Tree, build_tree
from workbench.analysis.profile.writing import save_trace
from workbench.records.display import to_table
from workbench.text import counted, in_ms

if TYPE_CHECKING:
    import pandas as pd
    from onnx import ModelProto

MOST_ROWS = 12
STEADY = 0.75  # as in judge.pairs


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


class Profile:
    """Where the time of a few executions went. Made by `wb.profile` and `wb.read_profile`.

    >>> import workbench as wb
    >>> wb.Profile.__name__
    'Profile'
    """

    def __init__(
        self,
        trace: Trace,
        *,
        warmup_runs: int | None = None,
        overhead: Overhead | None = None,
        optimized: ModelProto | None = None,
        scopes: Mapping[str, str] | None = None,
    ) -> None:
        self.trace = trace
        self.overhead = overhead
        self.optimized = optimized  # the graph that ran, without its large weights
        self.scopes = dict(scopes or {})  # modules of nodes whose names do not tell them
        self._warmup_runs = warmup_runs

    def with_trace(self, trace: Trace, optimized: ModelProto | None, scopes: Mapping[str, str]) -> Self:
        """Return the same runs with another trace of the same events."""
        return type(self)(
            trace,
            warmup_runs=self._warmup_runs,
            overhead=self.overhead,
            optimized=optimized,
            scopes=scopes,
        )

    @cached_property
    def tree(self) -> Tree:
        """Every event with its parent, its share of the wall clock, and what of it is its own."""
        return build_tree(self.trace)

    @property
    def told_warmup_runs(self) -> int | None:
        """The number given when the profile was made, or None."""
        return self._warmup_runs

    @property
    def warmup_runs(self) -> int:
        """The first runs, which no table counts; by default one, when there are three or more."""
        if self._warmup_runs is not None:
            return min(self._warmup_runs, len(self.tree.runs))
        return 1 if len(self.tree.runs) > 2 else 0

    @cached_property
    def measured(self) -> Measured:
        """The events that tables count."""
        runs = range(self.warmup_runs, len(self.tree.runs))
        return measured(self.trace, self.tree, runs, self.scopes)

    @cached_property
    def steady(self) -> Measured:
        """The events of the fastest three quarters of the runs, without those that something interrupted.

        Comparisons use the same part of their samples. Means over it still add up.
        """
        durations = self.runs_s
        count = max(1, round(STEADY * len(durations))) if durations else 0
        fastest = sorted(range(len(durations)), key=durations.__getitem__)[:count]
        return measured(
            self.trace, self.tree, [self.warmup_runs + run for run in sorted(fastest)], self.scopes
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what is missing in the trace, and on the profiler's cost."""
        own = [] if self.tree.runs else ["no run was completed in this trace, so the tables are empty"]
        return (*self.trace.notes, *own, *([str(self.overhead)] if self.overhead else []))

    @property
    def runs_s(self) -> tuple[float, ...]:
        """The duration of each counted run, with the profiler on."""
        return tuple(float(seconds) for seconds in run_seconds(self.measured))

    def to_frame(self) -> pd.DataFrame:
        """A row an executed node: node, op_type, provider, scope, calls, total_s, self_s, mean_s, share."""
        return node_table(self.measured)

    def node_times_s(self) -> dict[str, float]:
        """Return the own time of each node in one run, over the steady runs: the times that flames show."""
        table, runs = node_table(self.steady), self.steady.runs or 1
        return {
            str(node): float(own_s) / runs for node, own_s in zip(table["node"], table["self_s"], strict=True)
        }

    def by(self, group: Grouping) -> pd.DataFrame:
        """A row a group (op_type, node, scope, provider, thread); gaps are rows, so shares sum to one."""
        return group_table(self.measured, group)

    def variation(self, group: Grouping = "node") -> pd.DataFrame:
        """Over the counted runs, what varies most first: lowest, quartiles, highest of each group."""
        return variation_table(self.measured, group)

    def spans(self) -> pd.DataFrame:
        """A row an event with its parent: the tree as flame views draw it."""
        return span_table(self.trace, self.tree)

    def save_trace(self, path: str | os.PathLike[str]) -> Path:
        """Write the trace as ORT writes it, for speedscope and Perfetto; of a long one the first runs."""
        return save_trace(self.trace, self.tree, path)

    def scaled_to(self, latency_s: float) -> pd.DataFrame:
        """The node table with `scaled_s`: its share of an unprofiled latency. An estimate, labelled so."""
        table = self.to_frame()
        table["scaled_s"] = table["share"] * latency_s
        return table

    def __str__(self) -> str:
        runs = self.runs_s
        summary = "no run was completed"
        if runs:
            summary = f"{counted(len(runs), 'run')}, {in_ms(median(runs))} at the median with the profiler on"
        notes = (note[:1].upper() + note[1:] for note in self.notes)
        return ". ".join((f"{summary}, {counted(len(self.trace), 'event')}", *notes))

    def __repr__(self) -> str:
        return f"<Profile: {self}>"

    def _repr_html_(self) -> str:
        table = self.by("op_type").head(MOST_ROWS)
        columns = (table[name].tolist() for name in ("op_type", "calls", "self_s", "share"))
        rows: Iterable[tuple[object, ...]] = (
            (op_type, calls, in_ms(own), f"{share * 100:.1f} %")
            for op_type, calls, own, share in zip(*columns, strict=True)
        )
        return to_table(("op type", "calls", "own time", "share"), rows, str(self))


def read_profile(path: str | os.PathLike[str], *, warmup_runs: int | None = None) -> Profile:
    """Read a trace that ORT wrote, of any version and provider, as far as it goes.

    `warmup_runs`: how many of the first runs the tables leave out; by default one, when there are three.

    >>> import workbench as wb
    >>> wb.read_profile.__name__
    'read_profile'
    """
    return Profile(read_trace(path), warmup_runs=warmup_runs)
