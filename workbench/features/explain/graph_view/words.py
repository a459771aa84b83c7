"""The graph view in one sentence of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.core.text import counted, in_time, one_line
from workbench.features.explain.graph_view.pane import GraphRow, Pane, short_provider
from workbench.features.explain.provenance.account import FATES

BAR = 12  # letters of a bar


def sentence(model_name: str, panes: Sequence[Pane]) -> str:
    """Return nodes, providers, partitions and crossings of each graph."""
    name = one_line(model_name) or "graph"
    return f"{name}: " + "; ".join(_told(pane) for pane in panes) + "."


def parts_strip(pane: Pane) -> str:
    """Return nodes by provider with a bar, and the parts, as in `CUDA 40 ▇▇▇▇▇▇▇▁ CPU 7 · 5 parts`."""
    rows = [row for row in pane.rows if row.kind == "node" and row.provider is not None]
    counts = Counter(short_provider(row.provider) for row in rows).most_common()
    sizes = Counter(row.partition for row in rows if row.partition is not None)
    if len(counts) < 2 or not sizes:
        return ""
    (most, first), (next_name, second), *others = counts
    long = min(max(round(BAR * first / (first + second)), 1), BAR - 1)
    strip = f"{one_line(most)} {first:,} {'▇' * long}{'▁' * (BAR - long)} {one_line(next_name)} {second:,}"
    strip += "".join(f", {one_line(name)} {count:,}" for name, count in others)
    alone = sum(size == 1 for size in sizes.values())
    return f"{strip} · {len(sizes)} parts" + (f", {alone} of them a single node" if alone else "")


def _told(pane: Pane) -> str:
    nodes = [row for row in pane.rows if row.kind == "node"]
    if not nodes:
        return f"{one_line(pane.title)}: no nodes"
    text = f"{one_line(pane.title)}: {len(nodes):,} nodes"
    where = Counter(short_provider(row.provider) for row in nodes if row.provider is not None)
    fates = Counter(row.fate for row in nodes if row.fate)
    if fates and all(row.partition is None for row in nodes):  # a source: not all of its nodes run
        text += " (" + ", ".join(f"{fates[fate]:,} {fate}" for fate in FATES if fates[fate]) + ")"
    elif where:
        text += " (" + ", ".join(f"{count:,} on {name}" for name, count in where.most_common()) + ")"
    parts = {row.partition for row in nodes if row.partition is not None}
    if len(parts) > 1:
        crossing = counted(
            len({(w.tensor, pane.rows[w.target].partition) for w in pane.wires if w.crosses}), "tensor"
        )
        text += f" in {len(parts)} partitions{_by_provider(nodes)} with {crossing} crossing"
    times = [row.time_s for row in nodes if row.time_s is not None]
    if times:
        text += f", {in_time(sum(times))} of a run in nodes"
    return f"{text}. {one_line(pane.note)}" if pane.note else text


def _by_provider(nodes: Sequence[GraphRow]) -> str:
    """Return how many of the partitions each provider has, where one has several."""
    pairs = {(row.provider, row.partition) for row in nodes if None not in (row.provider, row.partition)}
    counts = Counter(short_provider(provider) for provider, _ in pairs)
    several = len(counts) > 1 and max(counts.values()) > 1
    return f" ({', '.join(f'{many} on {name}' for name, many in counts.most_common())})" if several else ""
