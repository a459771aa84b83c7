"""Versions of ONNX Runtime side by side: passes, nodes, placement, latency, outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.bundle.estimate import Estimate
from workbench.core.bundle.run import Run
from workbench.core.config.runtime import name_of
from workbench.core.text import counted, in_ms, one_line, shorten
from workbench.drawing.chart import Chart, run_look
from workbench.features.explain.observe import Observation
from workbench.features.explain.placement.records import placed_in_words
from workbench.features.variants.variant import ComparedRecord, Variant, side_by_side

Changed = Literal["outputs", "latency", "nothing"]
TITLE = "versions of ONNX Runtime side by side"
_LONGEST = 160  # characters of what changed
_WORDS = {"new_passes": "passes added:", "lost_passes": "passes gone:", "new_ops": "operators"}


@dataclass(frozen=True, slots=True)
class VersionRow(Variant):
    """One environment, by the label of its run. None: this version does not tell, or nothing was measured."""

    environment: str  # the name of its folder
    onnxruntime: str
    python: str
    numpy: str
    nodes: int | None = None
    ops: tuple[tuple[str, int], ...] = ()  # of the optimized graph, the most frequent first
    passes: tuple[str, ...] | None = None  # that changed the graph
    placement: tuple[tuple[str, int], ...] | None = None  # nodes of each provider
    problem: str | None = None  # why the graph is not known

    @classmethod
    def seen(
        cls, record: ComparisonRecord, run: Run, software: Mapping[str, str], graph: Observation | str
    ) -> VersionRow:
        """Return the row of one environment, whose graph was observed, or why it is not known."""
        facts: dict[str, Any] = {name: software.get(name, "?") for name in ("onnxruntime", "python", "numpy")}
        if isinstance(graph, str):
            facts["problem"] = graph
        else:
            fired = dict.fromkeys(step.name for step in graph.applied if step.fired)
            placed = Counter(provider for provider, keys in graph.assignment for _ in keys)
            kinds = graph.final.kinds
            facts |= {"nodes": kinds.total(), "ops": tuple(kinds.most_common())}
            facts |= {"passes": tuple(fired) if graph.applied else None}
            facts |= {"placement": tuple(placed.most_common()) or None}
        place = "this environment" if run.config.runtime is None else name_of(run.config.runtime)
        return cls.of(run.label, run, record, environment=place, **facts)

    @property
    def placed(self) -> str | None:
        """Return the nodes of each provider in words."""
        return None if self.placement is None else placed_in_words(self.placement)

    def since(self, first: VersionRow) -> dict[str, Any]:
        """Return the columns that say what changed from the first version."""
        counts = Counter(dict(self.ops))
        counts.subtract(dict(first.ops))
        changed = counts if self.ops and first.ops else {}
        return {
            "passes": None if self.passes is None else len(self.passes),
            "new_passes": ", ".join(added(first.passes, self.passes)),
            "lost_passes": ", ".join(added(self.passes, first.passes)),
            "new_ops": ", ".join(f"{count:+d} {shorten(name)}" for name, count in changed.items() if count),
            "placement": self.placed,
        }

    def in_words(self, first: VersionRow) -> list[str]:
        """Return what changed from the first version."""
        if self.problem is not None:
            return [f"its graph is not known: {self.problem.splitlines()[0]}"]
        since = self.since(first)
        parts = [f"{start} {one_line(since[key], _LONGEST)}" for key, start in _WORDS.items() if since[key]]
        if first.placed and self.placed and first.placed != self.placed:
            parts.append(f"placed {self.placed}")
        return parts or ["the same graph"]


def added(before: Sequence[str] | None, after: Sequence[str] | None) -> list[str]:
    """Return the names that only the second has; none where either is not known."""
    return [] if before is None or after is None else [name for name in after if name not in set(before)]


@dataclass(frozen=True, slots=True)
class BisectStep:
    """A release measured beside the first one, and whether it has the change."""

    release: str
    is_changed: bool
    is_settled: bool  # False: the interval holds the middle of the change, or outputs were not compared
    ratio: Estimate  # the first release's time over its own
    outputs_agree: bool | None


@dataclass(frozen=True, slots=True)
class OpTime:
    """The own time of one operator in a run, on the environment of a label."""

    name: str
    op_type: str
    nodes: float
    self_s: float


@dataclass(frozen=True, slots=True)
class VersionsRecord(ComparedRecord):
    """One model and config on several versions, measured in one comparison."""

    columns = (
        "label=name environment onnxruntime nodes load_s median_s=latency_s"
        " ratio=ratio.value low=ratio.low high=ratio.high verdict outputs_agree"
    )

    rows: tuple[VersionRow, ...]
    changed: Changed | None = None  # None: no release was searched for
    steps: tuple[BisectStep, ...] = ()
    operators: tuple[tuple[str, int], ...] = ()  # of the model's file
    profiles: tuple[OpTime, ...] = ()

    def to_frame(self) -> DataFrame:
        """Return one row per environment, with what changed from the first one."""
        frame = ComparedRecord.to_frame(self)
        since = data_frame([row.since(self.rows[0]) for row in self.rows]).astype({"passes": "Int64"})
        for name in reversed(since.columns):
            frame.insert(4, name, since[name])
        frame["problem"] = [row.problem or row.failure for row in self.rows]
        return frame

    def __str__(self) -> str:
        first, lines = self.rows[0], [self.found] if self.found else []
        for row in self.rows:
            nodes = "nodes not known" if row.nodes is None else counted(row.nodes, "node")
            place = "" if row.environment == row.onnxruntime else f", {shorten(row.environment)}"
            name = f"{row.name} (ONNX Runtime {shorten(row.onnxruntime)}{place})"
            since = [] if row is first else row.in_words(first)
            lines.append("; ".join([f"{name}: {nodes}, {in_ms(row.latency_s) or 'not measured'}", *since]))
        return "\n".join(lines)

    @property
    def found(self) -> str:
        """What the search found, in words; empty where none was asked for."""
        first, last = (shorten(row.onnxruntime) for row in (self.rows[0], self.rows[-1]))
        doubt = "" if all(step.is_settled for step in self.steps) else "; not every step was settled"
        if self.changed == "nothing":
            return f"No change of outputs or latency is proved between {first} and {last}"
        change = f"The {self.changed} changed from {first} to {last}, in {counted(len(self.steps), 'step')}"
        return "" if self.changed is None else change + doubt


def versions_chart(record: VersionsRecord) -> Chart:
    """Return a row for each environment."""
    rows = (
        (one_line(f"{row.name}: {row.onnxruntime}", 40), row, row.nodes, run_look(index))
        for index, row in enumerate(record.rows)
    )
    changes = (f"{row.name}: {', '.join(row.in_words(record.rows[0]))}" for row in record.rows[1:])
    title = "; ".join([f"{record.model_name}: {record.found or TITLE}", *changes])
    return side_by_side(title, "A", rows)
