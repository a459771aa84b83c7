"""A row a pattern of fusion: its places, what each config fused there, why not more, and what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.core.config import Config, TransformerFusion
from workbench.core.errors import ConfigError
from workbench.features.explain.explanation import Explained
from workbench.features.explain.observe import REQUIRED, TOGETHER
from workbench.features.explain.passes.missed import is_fused, why_absent
from workbench.features.explain.passes.patterns import occurrences

Place = tuple[str, ...]  # keys of nodes
Fused = dict[str, list[tuple[Place, tuple[str, ...]]]]  # pattern → (source nodes, passes) of each fused place
_ARROW = " → "  # in the name of a pattern that no rule of ours looks for
NOT_KNOWN = "ORT does not say why"
# Patterns that ORT's optimizer script knows.
TRANSFORMERS = ("attention", "gelu", "layer norm", "skip layer norm")


@dataclass(frozen=True, slots=True)
class NotFused:
    """Places that one config did not fuse, all for the same reason."""

    label: str
    reason: str
    reason_from: str | None  # "ORT", "the graph", "the config"; None: not known
    passes: tuple[str, ...]  # that would have fused them
    count: int
    places: tuple[Place, ...]  # empty where only the other config shows that there are such places


@dataclass(frozen=True, slots=True)
class FusionRow:
    """One pattern: how many places `could` be fused, and how many each config did fuse."""

    pattern: str
    could: int
    fused: tuple[tuple[str, int], ...]  # (label, places)
    passes: tuple[str, ...]
    places: tuple[tuple[str, Place], ...]  # (label, source nodes that became one)
    not_fused: tuple[NotFused, ...]  # the most places first

    @property
    def left(self) -> int:
        """Places that some config did not fuse."""
        return sum(group.count for group in self.not_fused)


def fusion_rows(explained: Mapping[str, Explained]) -> tuple[FusionRow, ...]:
    """Return a row for each pattern in the graph, those with most places left first."""
    fused = {label: _fused_places(record) for label, record in explained.items()}
    patterns = dict.fromkeys(pattern for places in fused.values() for pattern in places)
    patterns |= dict.fromkeys(
        place.pattern for record in explained.values() for place in record.passes.missed
    )
    rows = [_row(pattern, fused, explained) for pattern in patterns]
    return tuple(sorted(rows, key=lambda row: (-row.left, -row.could, row.pattern)))


def _row(pattern: str, fused: Mapping[str, Fused], explained: Mapping[str, Explained]) -> FusionRow:
    places = [(label, *place) for label, table in fused.items() for place in table.get(pattern, ())]
    counts = {label: len(table.get(pattern, ())) for label, table in fused.items()}
    passes = tuple(dict.fromkeys(name for _, _, names in places for name in names))
    groups = [group for label, record in explained.items() for group in _missed(pattern, label, record)]
    listed = Counter(counts)
    for group in groups:
        listed[group.label] += group.count
    could = max(listed.values(), default=0)
    for label, record in explained.items():
        if _ARROW in pattern and listed[label] < could:
            groups.append(_fewer(label, could - listed[label], passes, record))
    return FusionRow(
        pattern,
        could,
        tuple(counts.items()),
        passes or tuple(dict.fromkeys(name for group in groups for name in group.passes)),
        tuple((label, place) for label, place, _ in places),
        tuple(sorted(groups, key=lambda group: -group.count)),
    )


def _fused_places(explained: Explained) -> Fused:
    """Return the source nodes and the passes of each fused node, by pattern."""
    account = explained.provenance.account
    into = {source.node: source.into for source in account.sources}
    kinds = {node.node: node.op_type.rpartition("::")[2] for node in account.optimized}
    nodes = {node.node: node for node in account.optimized}
    places: Fused = {}
    named: set[str] = set()
    for place in occurrences(explained.source):
        ends = [set(into.get(key, ())) for key in place.nodes]
        if all(ends) and is_fused(place, ends, kinds):
            ended = sorted(set.intersection(*ends) or ends[-1])
            named.update(ended)
            whole = dict.fromkeys(key for end in ended for key in nodes[end].sources)
            names = dict.fromkeys(name for end in ended for name in nodes[end].passes)
            places.setdefault(place.pattern, []).append((tuple(whole), tuple(names)))
    for node in account.optimized:
        if len(node.sources) > 1 and node.node not in named:
            pattern = _pattern(node.sources, node.op_type, explained)
            places.setdefault(pattern, []).append((node.sources, node.passes))
    return places


def _pattern(sources: Place, op_type: str, explained: Explained) -> str:
    """Name a pattern by its operators, as in `Add + MatMul → Gemm`."""
    kinds = Counter(explained.source.by_key[key].kind for key in sources if key in explained.source.by_key)
    terms = (f"{count} {kind}" if count > 1 else kind for kind, count in sorted(kinds.items()))
    return f"{' + '.join(terms)}{_ARROW}{op_type.rpartition('::')[2]}"


def _missed(pattern: str, label: str, explained: Explained) -> list[NotFused]:
    groups: dict[tuple[str, str | None, tuple[str, ...]], list[Place]] = {}
    for place in explained.passes.missed:
        if place.pattern == pattern:
            key = (place.reason or NOT_KNOWN, place.reason_from, place.passes)
            groups.setdefault(key, []).append(place.nodes)
    return [
        NotFused(label, reason, origin, passes, len(places), tuple(places))
        for (reason, origin, passes), places in groups.items()
    ]


def _fewer(label: str, count: int, passes: tuple[str, ...], explained: Explained) -> NotFused:
    disabled, tried = explained.config.disabled_passes, {name for name, _ in explained.passes.tried}
    reasons = [
        f"{name} {reason}"
        for name in passes
        if explained.passes.are_known
        and name not in (REQUIRED, TOGETHER)
        and (reason := why_absent(name, disabled, tried)) is not None
    ]
    return NotFused(
        label, "; ".join(reasons) or NOT_KNOWN, "the config" if reasons else None, passes, count, ()
    )


@dataclass(frozen=True, slots=True)
class Remedy:
    """A setting. `config`: the whole config with it, where that is known."""

    text: str
    config: Config | None = None


def remedy(
    pattern: str, group: NotFused, config: Config, dims: Mapping[str, int] | None = None
) -> Remedy | None:
    """Return what would fuse these places, or None. `dims`: the sizes of free dimensions."""
    if "disabled_passes" in group.reason:
        blamed = {name for name in config.disabled_passes if name in group.reason}
        kept = tuple(name for name in config.disabled_passes if name not in blamed)
        return Remedy(f"enable {', '.join(sorted(blamed))}", config.replace(disabled_passes=kept))
    if "did not run at this level" in group.reason:
        return Remedy("level all", config.replace(level="all")) if config.level not in (None, "all") else None
    if "free_dimensions" in group.reason:
        fixed = ", ".join(f"{name} = {size}" for name, size in (dims or {}).items())
        able = config.replace(free_dimensions=dims) if dims else None
        return Remedy(f"fixed dims: {fixed}" if fixed else "fixed dims (free_dimensions)", able)
    if pattern in TRANSFORMERS and config.fusion is None:
        try:
            return Remedy("maybe ORT's transformer optimizer", config.replace(fusion=TransformerFusion()))
        except ConfigError:  # a saved graph, or a file prepared elsewhere, is taken as it is
            return None
    return None
