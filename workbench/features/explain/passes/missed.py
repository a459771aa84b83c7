"""Fusions that the source graph has the pattern for and that did not happen, with the nearest reason."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from workbench.core.config import shipped_passes
from workbench.features.explain.observe import KERNELS, Observation
from workbench.features.explain.passes.attention import attention
from workbench.features.explain.passes.patterns import ATTENTION, QDQ, Occurrence, occurrences
from workbench.features.explain.provenance.account import Account

MOST_REASONS = 3
INTEGER_KERNELS = (
    *("QLinearConv", "QLinearMatMul", "QGemm", "QLinearAdd", "QLinearMul", "QLinearAveragePool"),
    *("MatMulIntegerToFloat", "MatMulNBits"),
)
# What it found, where it begins, and a fusion for one family of models that tries everywhere
NO_REASON = ("Total ", "Matched ", "Start ", "Pass ", "Fused ", "MobileClip")


@dataclass(frozen=True, slots=True)
class Missed:
    """A place where a fusion was expected. `reason`: ORT's words or the failed condition; None: not known."""

    pattern: str
    nodes: tuple[str, ...]  # in the graph that ORT was given
    stopped_at: tuple[str, ...]  # the optimized nodes that do their work now
    passes: tuple[str, ...]  # that would have done it
    reason: str | None
    reason_from: str | None  # "ORT", "the graph", "the config"


def missed(observation: Observation, account: Account) -> tuple[Missed, ...]:
    """Find the patterns of the loaded graph whose nodes did not end in one optimized node.

    Without the passes one by one, too little is traced to say so.
    """
    if not observation.passes_known:
        return ()
    into = {source.node: source.into for source in account.sources}
    kinds = {node.key: node.op_type for node in observation.final.nodes}
    compiled = _compiled(observation)
    missing = []
    for place in occurrences(observation.prepared):
        ends = [set(into[key]) for key in place.nodes]
        if any(not end for end in ends) or is_fused(place, ends, kinds):
            continue  # folded or eliminated: nothing was left to fuse
        if compiled and set().union(*ends) <= compiled:
            continue  # what a provider makes of the nodes that it compiles, it does not tell
        reason, reason_from = _reason(place, observation)
        stopped = tuple(dict.fromkeys(key for end in ends for key in sorted(end)))
        missing.append(Missed(place.pattern, place.nodes, stopped, place.passes, reason, reason_from))
    return tuple(missing)


def _compiled(observation: Observation) -> set[str]:
    """Return the nodes that a provider compiled: ORT does not fuse there."""
    if observation.final_saved:
        return set()
    taken = {
        name for provider, nodes in observation.assignment if provider not in KERNELS for name, _, _ in nodes
    }
    return {node.key for node in observation.final.nodes if node.name in taken}


def is_fused(place: Occurrence, ends: list[set[str]], kinds: dict[str, str]) -> bool:
    """Return whether the nodes of a place ended in one node. `ends`: the optimized nodes of each of them."""
    if set.intersection(*ends):
        return True
    return place.pattern == QDQ and any(kinds[key] in INTEGER_KERNELS for key in ends[-1])


def _reason(place: Occurrence, observation: Observation) -> tuple[str | None, str | None]:
    disabled, tried = observation.disabled_passes, {application.name for application in observation.applied}
    absent = {name: reason for name in place.passes if (reason := why_absent(name, disabled, tried))}
    if len(absent) == len(place.passes):
        return "; ".join(f"{name} {reason}" for name, reason in absent.items()), "the config"
    blocked = place.blocked
    if place.pattern == ATTENTION:  # its fusion looks after the basic level, if the nodes are still there
        stays = all(key in observation.basic.by_key for key in place.nodes)
        blocked = attention(observation.basic if stays else observation.prepared, place.nodes)
    if blocked is not None:
        return blocked, "the graph"
    messages = [
        text
        for application in observation.applied
        if application.name in place.passes
        for text in application.messages
        if not text.startswith(NO_REASON)
    ]
    here = [text for text in messages if any(f"[{key}]" in text or f"'{key}'" in text for key in place.nodes)]
    words = " | ".join(list(dict.fromkeys(here or messages))[:MOST_REASONS])
    return (words, "ORT") if words else (None, None)


def why_absent(name: str, disabled: Collection[str], tried: Collection[str]) -> str | None:
    """Return why a pass did not run; None if it did. `tried`: the transformers that ran."""
    if name in disabled:
        return "is among disabled_passes"
    transformer = _transformers().get(name, name)
    if transformer in disabled:
        return f"is a rule of {transformer}, which is among disabled_passes"
    return None if transformer in tried else "did not run at this level"


@cache
def _transformers() -> dict[str, str]:
    return {rule.name: rule.part_of for rule in shipped_passes().passes if rule.part_of}
