"""Reasons of a candidate whose session has other settings: the differences between the two profiles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from workbench.core.text import in_ms
from workbench.features.findings.reasons import Reason, ReasonKind
from workbench.features.findings.slower.pair import LEAST_SHARE, MOST_NODES, Pair
from workbench.features.profile.difference.changes import Difference, NodeChange

MOST_CHANGES = 5  # groups of nodes, the costliest
MOST_OPS = 3  # of the nodes that take longer
_CHOOSES_NODES = frozenset({"level", "disabled_passes", "providers", "free_dimensions", "session_entries"})


@dataclass(frozen=True, slots=True)
class SettingsRules:
    """A pair with the difference of its profiles, scaled to the two latencies."""

    pair: Pair
    difference: Difference

    def reasons(self) -> Iterator[Reason]:
        """Yield a reason for each group of nodes, and for the gaps between nodes, that costs time."""
        yield from self._other_nodes()
        yield from self._same_nodes()
        yield from self._gaps()

    def _other_nodes(self) -> Iterator[Reason]:
        groups: defaultdict[str, list[NodeChange]] = defaultdict(list)
        for row in self.difference.rows:
            if row.kind not in ("same", "gap"):
                groups[row.label].append(row)
        costly = sorted(groups.items(), key=lambda item: -self._cost_s(item[1]))
        for label, rows in costly[:MOST_CHANGES]:
            if self._matters(rows):
                times = f", {len(rows)} times" if len(rows) > 1 else ""
                yield self._reason("other nodes do the work", f"{label}{times}", rows, chooses_nodes=True)

    def _same_nodes(self) -> Iterator[Reason]:
        rows = [row for row in self.difference.rows if row.kind == "same"]
        if self._matters(rows):
            grown = Counter[str]()
            for row in rows:
                grown[row.label] += round(self._cost_s([row]) * 1e9)
            most = ", ".join(op for op, cost_ns in grown.most_common(MOST_OPS) if cost_ns > 0)
            text = f"nodes that both configs execute take longer, most of all {most}"
            yield self._reason("the same nodes take longer", text, rows, chooses_nodes=False)

    def _gaps(self) -> Iterator[Reason]:
        rows = [row for row in self.difference.rows if row.kind == "gap"]
        if self._matters(rows):
            before, after = len(self.pair.baseline.nodes), len(self.pair.candidate.nodes)
            kind: ReasonKind = "more nodes" if after > before else "time between nodes"
            count = f"{after} nodes run instead of {before}" if after != before else f"{after} nodes run"
            text = f"{count}, and the time between nodes grew"
            yield self._reason(kind, text, rows, chooses_nodes=after > before)

    def _reason(
        self, kind: ReasonKind, text: str, rows: Sequence[NodeChange], *, chooses_nodes: bool
    ) -> Reason:
        cost_s = self._cost_s(rows)
        costliest = sorted(rows, key=lambda row: -self._cost_s([row]))
        nodes = [name for row in costliest for name in row.b_nodes or row.a_nodes]
        settings = self.pair.settings
        fitting = [change for change in settings if (change.field in _CHOOSES_NODES) is chooses_nodes]
        changes = fitting or settings  # those that can have this effect
        words = ", ".join(f"{change.what} {change.before} instead of {change.after}" for change in changes)
        return Reason(
            kind=kind,
            sentence=f"{text}: {in_ms(cost_s, 3, signed=True)} a run",
            cost_s=cost_s,
            share=None,
            node_count=len(nodes),
            nodes=tuple(nodes[:MOST_NODES]),
            fix=f"take the setting of {self.pair.baseline.label}: {words}",
        )

    def _cost_s(self, rows: Sequence[NodeChange]) -> float:
        """Return the seconds of a run by which the candidate's nodes take longer than the baseline's."""
        of_a = self.pair.baseline.run_s / self.difference.a_s if self.difference.a_s else 1.0
        of_b = self.pair.candidate.run_s / self.difference.b_s if self.difference.b_s else 1.0
        return fsum(row.b_s * of_b - row.a_s * of_a for row in rows)

    def _matters(self, rows: Sequence[NodeChange]) -> bool:
        return self._cost_s(rows) > LEAST_SHARE * self.pair.candidate.run_s
