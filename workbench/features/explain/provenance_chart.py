"""The flow from source operators to optimized operators; its width is the number of nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from workbench.drawing.palette import TEXT, style_of_op_type
from workbench.drawing.template import new_figure, set_title
from workbench.drawing.words import op_name, plain

if TYPE_CHECKING:
    from workbench.features.explain.explanation import Explained

MOST_SIDE = 18  # operators a side; more cannot be told apart
_OTHERS = "all others"
_MOST_NAME = 40
PAD, ROW = 18, 32  # pixels: a node of one count needs the height of its label


@dataclass(frozen=True, slots=True)
class Flow:
    """(source operator, optimized operator or fate, source nodes). A node that several do is counted once."""

    model: str  # untrusted
    flows: tuple[tuple[str, str, int], ...]


def flow_data(explained: Explained, most: int = MOST_SIDE) -> Flow:
    """Count the flows; folded and eliminated nodes flow into their fate."""
    kinds = {node.key: node.kind for node in explained.optimized.nodes}
    counts: Counter[tuple[str, str]] = Counter()
    for source_node in explained.provenance.account.sources:
        target = kinds[source_node.into[0]] if source_node.into else f"({source_node.fate})"
        counts[source_node.op_type, target] += 1
    left = _common((op for (op, _), count in counts.items() for _ in range(count)), most)
    right = _common((op for (_, op), count in counts.items() for _ in range(count)), most)
    merged: Counter[tuple[str, str]] = Counter()
    for (source, target), count in counts.items():
        merged[source if source in left else _OTHERS, target if target in right else _OTHERS] += count
    return Flow(explained.model_name, tuple((a, b, count) for (a, b), count in merged.most_common()))


def _common(names: object, most: int) -> set[str]:
    return {name for name, _ in Counter(names).most_common(most)}  # type: ignore[call-overload]


def flow_figure(explained: Explained) -> go.Figure:
    """Draw a Sankey diagram; `provenance.to_frame()` is its table."""
    data = flow_data(explained)
    left = list(dict.fromkeys(source for source, _, _ in data.flows))
    right = list(dict.fromkeys(target for _, target, _ in data.flows))
    styles = [style_of_op_type(name) for name in (*left, *right)]
    figure = new_figure()
    figure.add_sankey(
        node={
            "label": [plain(op_name(name), _MOST_NAME) for name in (*left, *right)],
            "color": [style.color for style in styles],
            "line": {"color": TEXT, "width": 1},
            "pad": PAD,
            "hovertemplate": "%{label}: %{value} source nodes<extra></extra>",
        },
        textfont={"shadow": "none"},  # plotly's own halo is white, also upon a dark page
        link={
            "source": [left.index(source) for source, _, _ in data.flows],
            "target": [len(left) + right.index(target) for _, target, _ in data.flows],
            "value": [count for _, _, count in data.flows],
            "color": "rgba(128, 128, 128, 0.3)",
            "hovertemplate": "%{source.label} → %{target.label}: %{value} source nodes<extra></extra>",
        },
    )
    account = explained.provenance.account
    sentence = f"{data.model}: where {len(account.sources)} source nodes went"
    note = "left: operators of the source; right: operators that do their work now, or what happened to them"
    return set_title(figure, [sentence], note, ROW * max(len(left), len(right)) + 60)
