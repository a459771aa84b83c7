"""All reasons why a config is not faster: the findings that hold for it alone, the costliest first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from workbench.core.text import in_ms
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import MOST_LISTED
from workbench.features.findings.record import FindingRecord, Gain
from workbench.features.findings.rule import config_fix, look
from workbench.features.profile.difference.changes import Difference, NodeChange
from workbench.features.profile.profiled_config import INTEGER_OPERATORS
from workbench.features.why_slower.result import PER_RUN, WhySlowerRecord

MOST_CHANGES = 5  # groups of nodes, the costliest
_MOST_OPS = 3  # of the nodes that take longer
_LEAST_SHARE = 0.01  # of a run; less explains nothing
_CHOOSES_NODES = frozenset(
    {
        *("level", "disabled_passes", "providers", "free_dimensions", "session_entries"),
        *("precision", "fusion", "saved_graph", "rewrites"),
    }
)


@dataclass(frozen=True, slots=True)
class ProfilesApart:
    """Two configs with the difference of their profiles, scaled to the two latencies."""

    base: Evidence
    slower: Evidence
    difference: Difference

    def findings(self) -> Iterator[FindingRecord]:
        """Yield a finding for each group of nodes, and for the gaps between nodes, that costs time."""
        yield from self._other_nodes()
        yield from self._same_nodes()
        yield from self._gaps()

    def _other_nodes(self) -> Iterator[FindingRecord]:
        groups: defaultdict[str, list[NodeChange]] = defaultdict(list)
        for row in self.difference.rows:
            if row.kind not in ("same", "gap"):
                groups[row.label].append(row)
        costly = sorted(groups.items(), key=lambda item: -self._cost_s(item[1]))
        for label, rows in costly[:MOST_CHANGES]:
            if self._matters(rows):
                times = f", {len(rows)} times" if len(rows) > 1 else ""
                yield self._finding("other-nodes-do-the-work", f"{label}{times}", rows, chooses_nodes=True)

    def _same_nodes(self) -> Iterator[FindingRecord]:
        rows = [row for row in self.difference.rows if row.kind == "same"]
        if self._matters(rows):
            grown = Counter[str]()
            for row in rows:
                grown[row.label] += round(self._cost_s([row]) * 1e9)
            most = ", ".join(op for op, cost_ns in grown.most_common(_MOST_OPS) if cost_ns > 0)
            text = f"nodes that both configs execute take longer, most of all {most}"
            yield self._finding("same-nodes-take-longer", text, rows, chooses_nodes=False)

    def _gaps(self) -> Iterator[FindingRecord]:
        rows = [row for row in self.difference.rows if row.kind == "gap"]
        if self._matters(rows):
            before, after = (
                0 if side.profiled is None else len(side.profiled.nodes) for side in (self.base, self.slower)
            )
            count = f"{after} nodes run instead of {before}" if after != before else f"{after} nodes run"
            text = f"{count}, and the time between nodes grew"
            yield self._finding("time-between-nodes-grew", text, rows, chooses_nodes=after > before)

    def _finding(
        self, id: str, text: str, rows: Sequence[NodeChange], *, chooses_nodes: bool
    ) -> FindingRecord:
        cost_s = self._cost_s(rows)
        costliest = sorted(rows, key=lambda row: -self._cost_s([row]))
        nodes = [name for row in costliest for name in row.b_nodes or row.a_nodes]
        changes = self.base.config.diff(self.slower.config).changes
        fitting = [change for change in changes if (change.field in _CHOOSES_NODES) is chooses_nodes]
        changes = tuple(fitting) or changes  # those that can have this effect
        words = ", ".join(f"{change.what} {change.before} instead of {change.after}" for change in changes)
        fields = {change.field: getattr(self.base.config, change.field) for change in changes}
        return FindingRecord(
            id=id,
            title=f"{text}: {in_ms(cost_s, 3, signed=True)}{PER_RUN}",
            evidence=(),
            nodes=tuple(nodes[:MOST_LISTED]),
            confidence="likely",
            gain=Gain.unknown("time"),
            fix=config_fix(self.slower, f"take the setting of {self.base.label}: {words}", **fields),
            node_count=len(nodes),
            cost_s=cost_s,
            cost_share=self.slower.share_of(cost_s),
        )

    def _cost_s(self, rows: Sequence[NodeChange]) -> float:
        """Return the seconds of a run by which the slower config's nodes take longer than the base's."""
        of_a = (self.base.run_s or 0.0) / self.difference.a_s if self.difference.a_s else 1.0
        of_b = (self.slower.run_s or 0.0) / self.difference.b_s if self.difference.b_s else 1.0
        return fsum(row.b_s * of_b - row.a_s * of_a for row in rows)

    def _matters(self, rows: Sequence[NodeChange]) -> bool:
        return self._cost_s(rows) > _LEAST_SHARE * (self.slower.run_s or 0.0)


EXPLAINED = 0.5  # of the time lost; where findings explain less, the profiles are compared
OF_FILES = frozenset({"precision", "fusion", "saved_graph", "rewrites"})  # what changes the file alone


def why_slower(
    base: Evidence, slower: Evidence, measured: str, compare_profiles: Callable[[], Difference]
) -> WhySlowerRecord:
    """Return the findings of the slower config that its base does not have, the costliest first.

    `compare_profiles` is called only where the settings of the sessions differ, or where findings explain
    less than half of the time lost.
    """
    assert slower.profiled is not None
    assert base.run_s is not None
    assert slower.run_s is not None
    changes = base.config.diff(slower.config)
    held = {finding.id for finding in look(base).large}
    reasons = [
        finding
        for finding in look(slower).large
        if finding.id not in held and _explains_time(finding, base, slower)
    ]
    explained_s = sum(reason.cost_s or 0.0 for reason in reasons)
    difference = None
    if any(change.field not in OF_FILES for change in changes.changes) or explained_s < EXPLAINED * (
        slower.run_s - base.run_s
    ):
        difference = compare_profiles()
        reasons += ProfilesApart(base, slower, difference).findings()
    reasons.sort(key=lambda reason: -(reason.cost_s or 0.0))
    integer = slower.of(*INTEGER_OPERATORS)
    return WhySlowerRecord(
        model_name=slower.model_name,
        baseline=base.label,
        candidate=slower.label,
        baseline_s=base.run_s,
        candidate_s=slower.run_s,
        measured=measured,
        integer_nodes=len(integer),
        integer_share=slower.profiled.share(integer),
        node_count=len(slower.profiled.nodes),
        reasons=tuple(reasons),
        configs=changes.sentence(base.label, slower.label),
        profiles=None if difference is None else str(difference),
    )


def _explains_time(finding: FindingRecord, base: Evidence, slower: Evidence) -> bool:
    """Return whether a finding is about time; other arithmetic explains nothing where both have the same."""
    if finding.gain.subject not in ("time", "correctness"):
        return False
    fixed = slower.config if finding.fix.config is None else finding.fix.config
    return fixed.precision == slower.config.precision or base.config.precision != slower.config.precision
