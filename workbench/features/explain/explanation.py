"""What ORT did to a model under a config, concluded: placement, provenance, passes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.config import Config
from workbench.core.errors import BundleError
from workbench.core.models import Model
from workbench.core.models.graph import Graph
from workbench.core.text import counted, quoted, shorten
from workbench.features.explain.observe import SNAPSHOTS_S, Follow, Observation, observe
from workbench.features.explain.passes.fired import Passes, passes_of
from workbench.features.explain.placement.records import Placement
from workbench.features.explain.placement.resolve import place, with_profile
from workbench.features.explain.provenance.account import FATES, Account, account, steps_of
from workbench.features.explain.provenance.step import trace_step
from workbench.features.profile.session_profile import SessionProfile


@dataclass(frozen=True, slots=True)
class Provenance:
    """Every source node with its fate, every optimized node with its sources."""

    account: Account
    followed: bool  # False: one large step from source to optimized graph, not pass by pass
    exact: bool  # the pass snapshots end in exactly ORT's own final graph
    problem: str | None

    @property
    def unknown(self) -> int:
        """Source nodes whose fate could not be explained."""
        return self.account.count("unknown")

    @property
    def untraced(self) -> int:
        """Optimized nodes that could not be traced to source nodes."""
        return sum(not node.is_traced for node in self.account.optimized)

    def __repr__(self) -> str:
        fates = ", ".join(f"{count:,} {fate}" for fate in FATES if (count := self.account.count(fate)))
        return f"<Provenance: {len(self.account.sources):,} source nodes: {fates or 'none'}>"

    def to_frame(self) -> DataFrame:
        """One row a source node: node, op_type, fate, into, passes."""
        return frame_of(self.account.sources, ("node", "op_type", "fate", "into", "passes"))

    def optimized_frame(self) -> DataFrame:
        """One row an optimized node: node, op_type, sources, inserted, passes."""
        return frame_of(self.account.optimized, ("node", "op_type", "sources", "inserted", "passes"))


@dataclass(frozen=True, eq=False)
class Explained:
    """Placement, provenance and passes of one config of a model, with the graphs that they are about."""

    model_name: str
    config: Config
    source: Graph
    prepared: Graph  # what ORT was given: the source, unless the config has it quantized or fused before
    basic: Graph  # what ORT divides among providers
    optimized: Graph
    placement: Placement
    provenance: Provenance
    passes: Passes
    load_s: float

    def with_profile(self, profile: SessionProfile) -> Explained:
        """Return the same with the times and sizes of a profile of this config, joined by name."""
        return replace(self, placement=with_profile(self.placement, self.optimized, profile))

    def ancestors(self, source: Graph | None = None) -> dict[str, frozenset[str]]:
        """Return the source nodes of each optimized node, by its name.

        With the source graph of another model file, they are nodes of that one.
        """
        names, ancestors = self._names(), dict[str, frozenset[str]]()
        for row in self.provenance.account.optimized:
            name = names.get(row.node, row.node)
            ancestors[name] = ancestors.get(name, frozenset()) | frozenset(row.sources)
        if source is None or self.source.by_key.keys() == source.by_key.keys():
            return ancestors
        made_of = trace_step(source, self.source).sources
        return {
            name: frozenset(origin for key in keys for origin in made_of.get(key, frozenset()))
            for name, keys in ancestors.items()
        }

    @property
    def inserted(self) -> frozenset[str]:
        """The names of the nodes that ORT inserted to carry a value: reorders, copies, casts."""
        names = self._names()
        return frozenset(
            names.get(row.node, row.node) for row in self.provenance.account.optimized if row.inserted
        )

    @property
    def fates(self) -> dict[str, str]:
        """What happened to each source node, by its key."""
        return {row.node: row.fate for row in self.provenance.account.sources}

    def _names(self) -> dict[str, str]:
        """Return the name of each optimized node by its key."""
        return {node.key: node.name for node in self.optimized.nodes}


def explain(
    model: Model,
    config: Config,
    *,
    passes: Follow = "auto",
    budget_s: float = SNAPSHOTS_S,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_first: Callable[[Explained], None] | None = None,
) -> Explained:
    """Observe in a worker, then conclude here; call `on_first` with what is known before the passes are."""

    def early(observation: Observation) -> None:
        if on_first is not None:
            on_first(conclude(model.name, config, observation))

    observation = observe(
        model, config, passes=passes, budget_s=budget_s, calibration=calibration, cancel=cancel,
        on_first=early,
    )  # fmt: skip
    return conclude(model.name, config, observation)


def conclude(model_name: str, config: Config, observation: Observation) -> Explained:
    """Conclude from an observation, without a process or a clock."""
    steps = steps_of(observation.source, observation.chain)
    whole = account(observation.source, observation.chain, steps)
    requested = tuple(provider.name for provider in config.providers)
    return Explained(
        model_name=model_name,
        config=config,
        source=observation.source,
        prepared=observation.prepared,
        basic=observation.basic,
        optimized=observation.final,
        placement=place(observation, requested, whole, steps),
        provenance=Provenance(whole, observation.followed, observation.exact, observation.problem),
        passes=passes_of(observation, whole, steps),
        load_s=observation.load_s,
    )


def check_explanation(explained: Explained, fix: str) -> None:
    """Refuse an explanation that names a node outside of its graph."""
    for name in ("source", "prepared", "basic", "optimized"):
        keys = [node.key for node in getattr(explained, name).nodes]
        if len(set(keys)) != len(keys):
            raise BundleError(f"{name}: two nodes have one key.", fix)
    source = [node.key for node in explained.source.nodes]
    prepared = [node.key for node in explained.prepared.nodes]
    optimized = [node.key for node in explained.optimized.nodes]
    of_source, of_prepared, of_optimized = frozenset(source), frozenset(prepared), frozenset(optimized)
    account = explained.provenance.account
    _equal([row.node for row in account.sources], source, "provenance.account.sources", fix)
    _equal([row.node for row in account.optimized], optimized, "provenance.account.optimized", fix)
    _equal([row.node for row in explained.placement.nodes], optimized, "placement.nodes", fix)
    _within((key for row in account.sources for key in row.into), of_optimized, "sources[…].into", fix)
    _within((key for row in account.optimized for key in row.sources), of_source, "optimized[…].sources", fix)
    _within((key for key, _ in explained.placement.sources), of_source, "placement.sources", fix)
    _within(
        (row.producer for row in explained.placement.boundaries), of_optimized, "placement.boundaries", fix
    )
    for row in explained.passes.missed:
        _within(row.nodes, of_prepared, "passes.missed[…].nodes", fix)
        _within(row.stopped_at, of_optimized, "passes.missed[…].stopped_at", fix)


def _equal(keys: list[str], expected: list[str], place: str, fix: str) -> None:
    if keys != expected:
        raise BundleError(f"{place}: not the nodes of its graph, in their order.", fix)


def _within(keys: Iterable[str], known: frozenset[str], place: str, fix: str) -> None:
    for key in keys:
        if key not in known:
            raise BundleError(f"{place}: {quoted(key)} is not in its graph.", fix)


_MOST_PASSES = 1  # named in the sentence


def why_in_words(label: str, before: Explained, after: Explained) -> str:
    """Return the difference in nodes and passes; `label` is that of the second config."""
    fired, others = after.passes.names, before.passes.names
    own = [name for name in fired if name not in others]
    missing = [name for name in others if name not in fired]
    count, base = (len(explained.optimized.nodes) for explained in (after, before))
    if count == base and not own and not missing:
        return f"ONNX Runtime made the same {counted(count, 'node')} of both: they differ in how they run"
    parts = [f"{label} runs {counted(count, 'node')} where A runs {base:,}"]
    if own:
        parts.append(f"{_named(own)} changed the graph of {label} alone")
    if missing:
        parts.append(f"{_named(missing)} changed that of A alone")
    return "; ".join(parts)


def _named(passes: Sequence[str]) -> str:
    more = len(passes) - _MOST_PASSES
    named = ", ".join(map(shorten, passes[:_MOST_PASSES]))
    return f"{named} and {counted(more, 'other pass', 'other passes')}" if more > 0 else named
