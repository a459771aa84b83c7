"""The account of two profiles: a row for every group of nodes that do the same work, and for the gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from workbench.analysis.difference.ancestors import ancestors, in_a_source, inserted
from workbench.analysis.difference.joining import in_the_names_of
from workbench.analysis.difference.matching import Match, match
from workbench.analysis.explanation import Explained
from workbench.analysis.profile.profile import Profile
from workbench.analysis.profile.tables import BETWEEN_NODES, SCHEDULING, Measured, group_table, node_table
from workbench.analysis.profile.tree import Kind, node_name
from workbench.text import in_ms

if TYPE_CHECKING:
    import pandas as pd

ChangeKind: TypeAlias = Literal["same", "replaced", "module", "inserted", "only in A", "only in B", "gap"]
CHANGE_KINDS: dict[ChangeKind, str] = {
    "same": "the same node in both",
    "replaced": "other nodes do the same work",
    "module": "nodes of one module, matched by its name only",
    "inserted": "put in by ONNX Runtime: reorders, copies, casts",
    "only in A": "no node of B does its work: folded, eliminated, or spread over many",
    "only in B": "no node of A did its work",
    "gap": "time that no node takes",
}
_SPOKEN: dict[ChangeKind, str] = {
    "replaced": "replaced nodes",
    "same": "the same nodes",
    "module": "nodes of the same modules",
    "inserted": "inserted nodes",
    "only in A": "nodes only in A",
    "only in B": "nodes only in B",
    "gap": "gaps",
}
MOST_OPS = 4  # of a label; the table has all


@dataclass(frozen=True, slots=True)
class Change:
    """Nodes of A and the nodes of B that took their place; seconds a run, their own."""

    kind: ChangeKind
    module: str
    a_nodes: tuple[str, ...]
    b_nodes: tuple[str, ...]
    a_ops: tuple[str, ...]
    b_ops: tuple[str, ...]
    a_s: float
    b_s: float
    fates: tuple[str, ...] = ()  # of nodes only in A: what became of their source nodes in B

    @property
    def difference_s(self) -> float:
        """B's time less A's: negative is time gained."""
        return self.b_s - self.a_s

    @property
    def label(self) -> str:
        """What became what, by operators."""
        if self.kind == "gap":
            return self.a_ops[0]
        before, after = _ops(self.a_ops), _ops(self.b_ops)
        if self.kind == "same" or before == after:
            return after
        return f"{before or 'nothing'} → {after or ' or '.join(self.fates) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Difference:
    """All rows; nothing is left out, so their differences sum to the difference of the two runs."""

    rows: tuple[Change, ...]
    a_s: float  # a run of A with the profiler on, the mean of the fastest three quarters
    b_s: float

    @property
    def difference_s(self) -> float:
        """B's run less A's."""
        return self.b_s - self.a_s

    def of(self, kind: ChangeKind) -> float:
        """The difference that all rows of one kind make."""
        return fsum(row.difference_s for row in self.rows if row.kind == kind)

    @property
    def gained_s(self) -> float:
        return -fsum(row.difference_s for row in self.rows if row.difference_s < 0)

    @property
    def lost_s(self) -> float:
        return fsum(row.difference_s for row in self.rows if row.difference_s > 0)

    def to_frame(self) -> pd.DataFrame:
        """A row a group, the largest gain first."""
        import pandas as pd

        rows = sorted(self.rows, key=lambda row: row.difference_s)
        return pd.DataFrame(
            [
                (row.kind, row.label, row.module, "; ".join(row.a_nodes), "; ".join(row.b_nodes),
                 row.a_s, row.b_s, row.difference_s)
                for row in rows
            ],
            columns=["kind", "label", "module", "a_nodes", "b_nodes", "a_s", "b_s", "difference_s"],
        )  # fmt: skip

    def __str__(self) -> str:
        way = "less" if self.difference_s < 0 else "more"
        parts = ", ".join(
            f"{name} {in_ms(self.of(kind), 3, signed=True)}"
            for kind, name in _SPOKEN.items()
            if any(row.kind == kind for row in self.rows)
        )
        return (
            f"Under the profiler a run of B takes {in_ms(abs(self.difference_s), 3)} {way} than one of A "
            f"({in_ms(self.a_s, 3)} to {in_ms(self.b_s, 3)}): {parts}"
        )


def difference(a: Profile, b: Profile, explained_a: Explained, explained_b: Explained) -> Difference:
    """Match what ran by provenance; both explanations must be of the configs that were profiled."""
    side_a = _Side.of(in_the_names_of(explained_a, a))
    side_b = _Side.of(in_the_names_of(explained_b, b))
    of_a = ancestors(explained_a, side_a.own_s)
    of_b = in_a_source(explained_a, explained_b, ancestors(explained_b, side_b.own_s))
    put_in = (inserted(explained_a), inserted(explained_b))
    matches = match(of_a, of_b, side_a.module, side_b.module)
    fates = {one.node: one.fate for one in explained_b.provenance.account.sources}
    rows = [_row(each, side_a, side_b, put_in, _fates(each, of_a, fates)) for each in matches]
    rows += [
        Change("gap", "", (), (), (gap,), (gap,), side_a.gaps.get(gap, 0.0), side_b.gaps.get(gap, 0.0))
        for gap in dict.fromkeys((*side_a.gaps, *side_b.gaps))
    ]
    return Difference(tuple(rows), fsum(row.a_s for row in rows), fsum(row.b_s for row in rows))


@dataclass(frozen=True, slots=True)
class _Side:
    own_s: Mapping[str, float]  # by node, a run
    op: Mapping[str, str]
    module: Mapping[str, str]
    gaps: Mapping[str, float]

    @staticmethod
    def of(profile: Profile) -> _Side:
        found = profile.steady
        runs = found.runs or 1
        table = node_table(found)
        table = table.set_index("node", drop=False).loc[_in_order(found)]
        names = [str(name) for name in table["node"]]
        own = {name: float(spent) / runs for name, spent in zip(names, table["self_s"], strict=True)}
        groups = group_table(found, "node")
        gaps = {
            str(name): float(spent) / runs
            for name, spent in zip(groups["node"], groups["self_s"], strict=True)
            if name not in own
        }
        return _Side(
            own,
            {name: str(op or "?") for name, op in zip(names, table["op_type"], strict=True)},
            {name: str(scope) for name, scope in zip(names, table["scope"], strict=True)},
            {name: gaps[name] for name in sorted(gaps, key=_gap_order)},
        )


def _in_order(found: Measured) -> list[str]:
    """The nodes that ran, by their first end."""
    nodes = found.events[found.tree.kind[found.events] == Kind.NODE]
    codes, first = np.unique(found.trace.name[nodes], return_index=True)
    return [node_name(found.trace.names[code]) for code in codes[np.argsort(first)]]


def _gap_order(name: str) -> tuple[int, str]:
    known = (BETWEEN_NODES, SCHEDULING)
    return (known.index(name) if name in known else len(known), name)


def _row(
    found: Match, a: _Side, b: _Side, put_in: tuple[frozenset[str], frozenset[str]], fates: tuple[str, ...]
) -> Change:
    ops_a, ops_b = tuple(a.op[name] for name in found.a), tuple(b.op[name] for name in found.b)
    kind: ChangeKind
    if all(name in put_in[0] for name in found.a) and all(name in put_in[1] for name in found.b):
        kind = "inserted"
    elif found.how == "module":
        kind = "module"
    elif not found.b:
        kind = "only in A"
    elif not found.a:
        kind = "only in B"
    else:
        kind = "same" if ops_a == ops_b and len(ops_a) == 1 else "replaced"
    modules = [b.module.get(name, "") for name in found.b] or [a.module.get(name, "") for name in found.a]
    return Change(
        kind,
        next(filter(None, modules), ""),
        found.a,
        found.b,
        ops_a,
        ops_b,
        fsum(a.own_s[name] for name in found.a),
        fsum(b.own_s[name] for name in found.b),
        fates if kind == "only in A" else (),
    )


def _fates(found: Match, of_a: Mapping[str, frozenset[str]], fates: Mapping[str, str]) -> tuple[str, ...]:
    """ "fused" and "kept" say here that several nodes share the work."""
    told = {fates[source] for name in found.a for source in of_a[name] if source in fates}
    return tuple(sorted("spread" if fate in ("fused", "kept") else fate for fate in told))


def _ops(names: tuple[str, ...]) -> str:
    """Each operator once with its count, in order."""
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    told = [name if count == 1 else f"{count} {name}" for name, count in counts.items()]
    return " + ".join(told[:MOST_OPS]) + (f" + {len(told) - MOST_OPS} more" if len(told) > MOST_OPS else "")
