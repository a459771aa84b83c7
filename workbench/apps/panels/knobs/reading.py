"""What the table reads from the state: what differs, which passes fired, which config is the fastest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.apps.panels.state import BenchState


def in_groups(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with those of one group together; details keep their place."""
    order = list(dict.fromkeys(row["group"] for row in rows if row["group"]))
    group, keyed = "", []
    for row in rows:
        group = row["group"] or group
        keyed.append((order.index(group) if group else 0, row))
    return [row for _, row in sorted(keyed, key=lambda pair: pair[0])]


def difference_lines(state: BenchState) -> list[str]:
    """Return a sentence for each candidate that says what differs from A."""
    baseline, *others = state.configs.items()
    return [baseline[1].diff(config).sentence("A", label) for label, config in others]


def fired_in(state: BenchState) -> Mapping[str, int]:
    """Return how often each pass fired on this model, from the explanation of the config shown, or of any."""
    explanations = state.held_parts("explanation")
    if not explanations:
        return {}
    passes: Any = (explanations.get(state.editing) or next(iter(explanations.values()))).passes
    counts: Counter[str] = Counter()
    for fired in passes.fired if passes.followed else ():
        counts[fired.name] += len(fired.change.added) or len(fired.change.removed) or 1
    return counts if passes.followed else Counter(name for name, _ in passes.logged)


def best_label(state: Any) -> str:
    """Return the label of the fastest config of the comparison; empty if that is not settled."""
    result = state.result
    if result is None:
        return ""
    verdicts: Iterable[Any] = result.record.verdicts
    faster = [verdict for verdict in verdicts if verdict.kind == "faster" and verdict.bound is not None]
    return max(faster, key=lambda verdict: verdict.bound).label if faster else ""
