"""The passes that changed this model, in order, with exactly what each changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from workbench.core.bundle.codec import TABLE
from workbench.core.bundle.display import DataFrame, data_frame, frame_of
from workbench.core.text import counted, shorten
from workbench.features.explain.observe import PREPARED, REQUIRED, TOGETHER, Application, Observation
from workbench.features.explain.passes.missed import Missed, missed
from workbench.features.explain.provenance.account import Account, PassChange, TracedNode, account
from workbench.features.explain.provenance.step import PassStep


@dataclass(frozen=True, slots=True)
class OpCount:
    """Nodes of one operator in the source and in the optimized graph."""

    op_type: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class FusionCount:
    """One pattern: the source operators that optimized nodes of one operator do the work of."""

    pattern: tuple[str, ...]  # sorted
    into: str
    count: int
    passes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Before and after in numbers."""

    ops: tuple[OpCount, ...] = field(metadata=TABLE)
    fusions: tuple[FusionCount, ...] = field(metadata=TABLE)
    source_nodes: int
    optimized_nodes: int
    fused_nodes: int  # optimized nodes that do the work of several source nodes

    @property
    def fused_share(self) -> float | None:
        """The share of the optimized nodes that are fused; None where there are none."""
        return self.fused_nodes / self.optimized_nodes if self.optimized_nodes else None

    def ops_frame(self) -> DataFrame:
        return frame_of(self.ops, ("op_type", "before", "after"))

    def fusions_frame(self) -> DataFrame:
        rows = [
            (" + ".join(fusion.pattern), fusion.into, fusion.count, ", ".join(fusion.passes))
            for fusion in self.fusions
        ]
        return data_frame(rows, columns=["pattern", "into", "count", "passes"])


def statistics(observation: Observation, account: Account) -> Statistics:
    """Count from the source to the optimized graph."""
    before, after = observation.source.kinds, observation.final.kinds
    kinds = {node.key: node.kind for node in observation.source.nodes}
    fused = [target for target in account.optimized if len(target.sources) > 1]
    groups: dict[tuple[tuple[str, ...], str], list[TracedNode]] = {}
    for target in fused:
        key = (tuple(sorted(kinds[source] for source in target.sources)), target.op_type)
        groups.setdefault(key, []).append(target)
    order = sorted(before.keys() | after.keys(), key=lambda op: (-max(before[op], after[op]), op))
    return Statistics(
        ops=tuple(OpCount(op, before[op], after[op]) for op in order),
        fusions=tuple(
            FusionCount(
                *key, len(nodes), tuple(dict.fromkeys(name for node in nodes for name in node.passes))
            )
            for key, nodes in sorted(groups.items(), key=lambda item: -len(item[1]))
        ),
        source_nodes=sum(before.values()),
        optimized_nodes=sum(after.values()),
        fused_nodes=len(fused),
    )


@dataclass(frozen=True, slots=True)
class FiredPass:
    """One pass that changed the graph, or one step of preparation before ORT saw it.

    `can_be_disabled`: False for what ORT does at every level, and for preparation.
    """

    name: str
    level: int
    change: PassChange
    messages: tuple[str, ...]  # what ORT logged while it ran

    @property
    def can_be_disabled(self) -> bool:
        return self.name not in (REQUIRED, TOGETHER) and self.level != PREPARED


@dataclass(frozen=True, slots=True)
class Passes:
    """All of them; `exact` says whether they end in exactly ORT's own final graph."""

    fired: tuple[FiredPass, ...] = field(metadata=TABLE)
    # (transformer, level): those that ORT says changed the graph, in order
    logged: tuple[tuple[str, int], ...]
    followed: bool  # False: nobody looked at them one by one, and `fired` is one large step
    tried: tuple[tuple[str, int], ...]  # (transformer, level): every one that this ORT registered
    exact: bool
    problem: str | None
    statistics: Statistics
    missed: tuple[Missed, ...] = field(metadata=TABLE)

    def __repr__(self) -> str:
        if not self.are_known:
            return f"<Passes: not known; {self.problem}>"
        fired, missed = counted(len(self.names), "pass", "passes"), len(self.missed)
        named = ", ".join(shorten(name) for name in self.names)
        return f"<Passes: {fired} fired ({named or 'none'}); {counted(missed, 'expected fusion')} missing>"

    @property
    def are_known(self) -> bool:
        """False: this ORT logs no passes, and `problem` says so."""
        return bool(self.tried) or self.problem is None

    @property
    def names(self) -> tuple[str, ...]:
        """The passes that `wb.ablate` can switch off, each once, in order."""
        if not self.followed:
            return tuple(dict.fromkeys(name for name, _ in self.logged))
        return tuple(
            dict.fromkeys(fired_pass.name for fired_pass in self.fired if fired_pass.can_be_disabled)
        )

    def to_frame(self) -> DataFrame:
        """One row a pass that fired: order, name, level, removed, added, rewired, nodes_after, what."""
        rows = [
            (
                order, fired_pass.name, fired_pass.level,
                len(fired_pass.change.removed), len(fired_pass.change.added),
                len(fired_pass.change.rewired), fired_pass.change.nodes_after, in_words(fired_pass.change),
            )
            for order, fired_pass in enumerate(self.fired, start=1)
        ]  # fmt: skip
        columns = ["order", "pass", "level", "removed", "added", "rewired", "nodes_after", "what"]
        return data_frame(rows, columns=columns)

    def missed_frame(self) -> DataFrame:
        """One row an expected fusion that did not happen."""
        return frame_of(self.missed, Missed.__dataclass_fields__)


def in_words(change: PassChange) -> str:
    """Write a change as in `12 Add + 12 Gelu → 12 BiasGelu`."""
    return f"{_ops(change.ops_removed)} → {_ops(change.ops_added)}"


def _ops(counts: tuple[tuple[str, int], ...]) -> str:
    return " + ".join(f"{count} {op}" for op, count in counts) or "nothing"


def passes_of(observation: Observation, whole: Account, steps: Sequence[PassStep]) -> Passes:
    """Conclude the passes from the log and the snapshots."""
    messages: dict[tuple[str, int], list[str]] = {}
    for application in observation.applied:
        messages.setdefault((application.name, application.level), []).extend(application.messages)
    return Passes(
        fired=tuple(
            FiredPass(
                change.name, change.level, change,
                tuple(dict.fromkeys(messages.get((change.name, change.level), ()))),
            )
            for change in whole.changes
        ),
        tried=_names_and_levels(observation.applied),
        logged=_names_and_levels(application for application in observation.applied if application.fired),
        followed=observation.followed,
        exact=observation.exact,
        problem=observation.problem,
        statistics=statistics(observation, whole),
        missed=missed(observation, _since_prepared(observation, whole, steps)),
    )  # fmt: skip


def _names_and_levels(applied: Iterable[Application]) -> tuple[tuple[str, int], ...]:
    return tuple(dict.fromkeys((application.name, application.level) for application in applied))


def _since_prepared(observation: Observation, whole: Account, steps: Sequence[PassStep]) -> Account:
    """Return the account of the graph that ORT loaded, after any preparation."""
    first = sum(shot.level == PREPARED for shot in observation.chain)
    if not first:
        return whole
    return account(observation.prepared, observation.chain[first:], steps[first:])
