"""The difference of two profiles: a row for every group of nodes that do the same work, and for the gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Literal, TypeAlias

import numpy as np

from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.text import in_time
from workbench.features.profile.difference.matching import Ancestors, Match, in_the_names_of, match
from workbench.features.profile.difference.traced import Traced
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.tables import (
    BETWEEN_NODES,
    SCHEDULING,
    CountedEvents,
    group_table,
    node_table,
)
from workbench.features.profile.trace import EventKind, node_name

ChangeKind: TypeAlias = Literal["same", "replaced", "module", "inserted", "only in A", "only in B", "gap"]
CHANGE_KINDS: dict[ChangeKind, str] = {
    "same": "the same node in both",
    "replaced": "other nodes do the same work",
    "module": "nodes of one module, matched by its name only",
    "inserted": "inserted by ONNX Runtime: reorders, copies, casts",
    "only in A": "no node of B does its work: folded, eliminated, or spread over many",
    "only in B": "no node of A did its work",
    "gap": "time that no node takes",
}
_PLURALS: dict[ChangeKind, str] = {
    "replaced": "replaced nodes",
    "same": "the same nodes",
    "module": "nodes of the same modules",
    "inserted": "inserted nodes",
    "only in A": "nodes only in A",
    "only in B": "nodes only in B",
    "gap": "gaps",
}
_MOST_OPS = 4  # of a label; the table has all
NOTABLE_SHARE = 0.01  # of a run; the sentence leaves out what makes less
NOTABLE_REST = 0.1  # of the difference; what is left out is summed up where it makes more


@dataclass(frozen=True, slots=True)
class NodeChange:
    """Nodes of A and the nodes of B that replace them; their own seconds per run."""

    kind: ChangeKind
    module: str
    a_nodes: tuple[str, ...]
    b_nodes: tuple[str, ...]
    a_ops: tuple[str, ...]
    b_ops: tuple[str, ...]
    a_s: float
    b_s: float
    fates: tuple[str, ...] = ()  # in B, of the source nodes of nodes only in A

    @property
    def difference_s(self) -> float:
        """B's time less A's: negative is a gain."""
        return self.b_s - self.a_s

    @property
    def label(self) -> str:
        """The operators of A and of B, as in "Conv → Conv + Relu"."""
        if self.kind == "gap":
            return self.a_ops[0]
        before, after = _ops(self.a_ops), _ops(self.b_ops)
        if self.kind == "same" or before == after:
            return after
        return f"{before or 'nothing'} → {after or ' or '.join(self.fates) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Difference:
    """All rows: their differences sum to the difference of the two runs."""

    rows: tuple[NodeChange, ...]
    a_s: float  # `SessionProfile.run_s` of A
    b_s: float

    @property
    def difference_s(self) -> float:
        """B's run less A's."""
        return self.b_s - self.a_s

    def of(self, kind: ChangeKind) -> float:
        """Return the sum of the differences of one kind of rows."""
        return fsum(row.difference_s for row in self.rows if row.kind == kind)

    @property
    def gained_s(self) -> float:
        return -fsum(row.difference_s for row in self.rows if row.difference_s < 0)

    @property
    def lost_s(self) -> float:
        return fsum(row.difference_s for row in self.rows if row.difference_s > 0)

    def to_frame(self) -> DataFrame:
        """One row per group, the largest gain first."""
        rows = sorted(self.rows, key=lambda row: row.difference_s)
        names = ("kind", "label", "module", "a_nodes", "b_nodes", "a_s", "b_s", "difference_s")
        return frame_of(rows, names)

    def __str__(self) -> str:
        way = "less" if self.difference_s < 0 else "more"
        sums = sorted(
            ((self.of(kind), name) for kind, name in _PLURALS.items()), key=lambda pair: -abs(pair[0])
        )
        least_s = NOTABLE_SHARE * max(self.a_s, self.b_s)
        notable = [f"{name} {in_time(sum_s, signed=True)}" for sum_s, name in sums if abs(sum_s) >= least_s]
        rest_s = fsum(sum_s for sum_s, _ in sums if abs(sum_s) < least_s)
        if notable and abs(rest_s) >= NOTABLE_REST * abs(self.difference_s):
            notable.append(f"the rest {in_time(rest_s, signed=True)}")
        parts = ", ".join(notable) or f"no kind of change makes {NOTABLE_SHARE * 100:.0f} % of a run"
        return (
            f"A run of B takes {in_time(abs(self.difference_s))} {way} than one of A "
            f"({in_time(self.a_s)} to {in_time(self.b_s)}): {parts}"
        )


def difference(a: SessionProfile, b: SessionProfile, explained_a: Traced, explained_b: Traced) -> Difference:
    """Match the executed nodes by provenance; both explanations must be of the profiled configs."""
    profiled_a, profiled_b = _Profiled.of(a, explained_a), _Profiled.of(b, explained_b)
    of_a = _of_executed(explained_a.ancestors(), profiled_a)
    of_b = _of_executed(explained_b.ancestors(explained_a.source), profiled_b)
    matches = match(of_a, of_b, profiled_a.module, profiled_b.module)
    fates = explained_b.fates
    rows = [_row(pair, profiled_a, profiled_b, _fates(pair, of_a, fates)) for pair in matches]
    gaps_a, gaps_b = profiled_a.gaps, profiled_b.gaps
    rows += [
        NodeChange("gap", "", (), (), (gap,), (gap,), gaps_a.get(gap, 0.0), gaps_b.get(gap, 0.0))
        for gap in dict.fromkeys((*gaps_a, *gaps_b))
    ]
    return Difference(tuple(rows), fsum(row.a_s for row in rows), fsum(row.b_s for row in rows))


@dataclass(frozen=True, slots=True)
class _Profiled:
    own_s: Mapping[str, float]  # by node, a run
    op: Mapping[str, str]
    module: Mapping[str, str]
    gaps: Mapping[str, float]
    inserted: frozenset[str]

    @staticmethod
    def of(profile: SessionProfile, explained: Traced) -> _Profiled:
        steady = in_the_names_of(explained, profile).steady
        table = node_table(steady).set_index("node").loc[_in_order(steady)]
        groups = group_table(steady, "node").set_index("node")["self_s"]
        gaps = sorted((name for name in groups.index if name not in table.index), key=_gap_order)
        return _Profiled(
            {str(name): float(own_s) for name, own_s in table["self_s"].items()},
            {str(name): str(op or "?") for name, op in table["op_type"].items()},
            {str(name): str(scope) for name, scope in table["scope"].items()},
            {str(name): float(groups[name]) for name in gaps},
            explained.inserted,
        )


def _of_executed(ancestors: Ancestors, profiled: _Profiled) -> Ancestors:
    """Return the source nodes of each executed node; none if it is not traced."""
    return {name: ancestors.get(name, frozenset()) for name in profiled.own_s}


def _in_order(measured: CountedEvents) -> list[str]:
    """Return the executed nodes by the end of their first run."""
    nodes = measured.events[measured.tree.kind[measured.events] == EventKind.NODE]
    codes, first = np.unique(measured.trace.name[nodes], return_index=True)
    return [node_name(measured.trace.names[code]) for code in codes[np.argsort(first)]]


def _gap_order(name: str) -> tuple[int, str]:
    known = (BETWEEN_NODES, SCHEDULING)
    return (known.index(name) if name in known else len(known), name)


def _row(pair: Match, a: _Profiled, b: _Profiled, fates: tuple[str, ...]) -> NodeChange:
    ops_a, ops_b = tuple(a.op[name] for name in pair.a), tuple(b.op[name] for name in pair.b)
    kind: ChangeKind
    if a.inserted.issuperset(pair.a) and b.inserted.issuperset(pair.b):
        kind = "inserted"
    elif pair.how == "module":
        kind = "module"
    elif not pair.b:
        kind = "only in A"
    elif not pair.a:
        kind = "only in B"
    else:
        kind = "same" if ops_a == ops_b and len(ops_a) == 1 else "replaced"
    modules = [b.module.get(name, "") for name in pair.b] or [a.module.get(name, "") for name in pair.a]
    return NodeChange(
        kind,
        next(filter(None, modules), ""),
        pair.a,
        pair.b,
        ops_a,
        ops_b,
        fsum(a.own_s[name] for name in pair.a),
        fsum(b.own_s[name] for name in pair.b),
        fates if kind == "only in A" else (),
    )


def _fates(pair: Match, of_a: Mapping[str, frozenset[str]], fates: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fates of A's source nodes in B; "fused" and "kept" mean "spread" here."""
    names = {fates[source] for name in pair.a for source in of_a[name] if source in fates}
    return tuple(sorted("spread" if fate in ("fused", "kept") else fate for fate in names))


def _ops(names: tuple[str, ...]) -> str:
    """Return each operator once with its count, in order."""
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    parts = [name if count == 1 else f"{count} {name}" for name, count in counts.items()]
    more = f" + {len(parts) - _MOST_OPS} more" if len(parts) > _MOST_OPS else ""
    return " + ".join(parts[:_MOST_OPS]) + more
