"""Where the time of a convolutional net goes by kind: depthwise, 1×1, larger convolutions, the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.core.text import in_ms
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, percent, series_look
from workbench.features.base.drawn_table import DrawnTable

if TYPE_CHECKING:
    from workbench.features.profile.roofline.node_limits import NodeLimit

OTHERS = "no convolution"


def kinds_of(model: Any) -> dict[str, str]:
    """Return the kind of each convolution of a graph by the node's name."""
    kinds = {}
    for node in model.graph.node:
        if "Conv" in node.op_type:
            attributes = {attribute.name: attribute for attribute in node.attribute}
            sizes = attributes["kernel_shape"].ints if "kernel_shape" in attributes else ()
            kernel = "×".join(map(str, sizes)) or "of unknown size"
            grouped_channels = "group" in attributes and attributes["group"].i > 1
            kinds[node.name] = f"depthwise {kernel}" if grouped_channels else kernel
    return kinds


def grouped(nodes: tuple[NodeLimit, ...], kinds: Mapping[str, str]) -> DrawnTable:
    """Sum operations and time up by kind, the most time first.

    `bound` is what binds most of the time of a kind; `achieved` is the limit of its time over its time.
    """
    groups: dict[str, list[NodeLimit]] = defaultdict(list)
    for node in nodes:
        groups[kinds.get(node.node, OTHERS)].append(node)
    all_operations, all_s = _operations(nodes), _seconds(nodes)
    looks = series_look(0, "share of the operations"), series_look(1, "share of the time")
    rows, sentences, bars = [], [], []
    computed = groups.items() if all_operations and all_s else ()
    for kind, members in sorted(computed, key=lambda group: -_seconds(group[1])):
        shares = _operations(members) / all_operations, _seconds(members) / all_s
        bound, achieved = _binding(members)
        rows.append((kind, len(members), *shares, bound, achieved))
        drawn = zip(shares, looks, strict=True)
        values = tuple(Value(percent(share), f"{share:.0%}", look) for share, look in drawn)
        bars.append(ChartRow(kind, (values,)))
        sentences.append(
            f"{kind} ({len(members)}): {shares[0]:.0%} of the operations, {shares[1]:.0%} of the time, "
            f"{in_ms(_seconds(members), 3)}{f', mostly bound by {bound}' if bound else ''}"
        )
    sentence = "; ".join(sentences) or f"No node {'computed anything' if nodes else 'was profiled'}."
    chart = Chart((f"Operations are no time; {sentence}",), (Axis("share of a run (%)"),), tuple(bars))
    columns = ("kind", "nodes", "operations_share", "time_share", "bound", "achieved")
    return DrawnTable(sentence, chart, columns, rows)


def _operations(nodes: Iterable[NodeLimit]) -> int:
    return sum(int((node.flops or 0) * node.calls_per_run) for node in nodes)


def _seconds(nodes: Iterable[NodeLimit]) -> float:
    return sum(node.time_s for node in nodes)


def _binding(nodes: list[NodeLimit]) -> tuple[str | None, float | None]:
    """Return what binds most of the time, and how near to their limits the nodes come, where it is known."""
    bounds: dict[str, float] = defaultdict(float)
    for node in nodes:
        if node.bound is not None:
            bounds[node.bound] += node.time_s
    limited = [node for node in nodes if node.limit_s is not None]
    limited_s = _seconds(limited)
    achieved = sum(node.limit_s or 0.0 for node in limited) / limited_s if limited_s else None
    return max(bounds, key=lambda bound: bounds[bound], default=None), achieved
