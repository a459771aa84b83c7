"""The charts of an explanation: nodes by operator, and what became of each source node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.text import counted
from workbench.drawing.chart import GREY, Axis, Chart, ChartRow, Look, Value, one_value, run_look, series_look
from workbench.drawing.palette import SOURCE, TEXT, style_of_op_type
from workbench.drawing.words import op_name, plain
from workbench.features.explain.explanation import Explained
from workbench.features.explain.file_difference import FileDifference
from workbench.features.explain.observe import PREPARED
from workbench.features.explain.passes.fired import Statistics, in_words

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MOST_OPS = 20
OTHERS, ALL = "all others", "all nodes"


def operators_chart(by_look: Mapping[Look, Statistics], sentence: str, most: int = _MOST_OPS) -> Chart:
    """Return a row for each of the most frequent operators; the rarest are counted together."""
    counts: dict[str, list[int]] = {}
    for index, statistics in enumerate(by_look.values(), start=1):
        for op in statistics.ops:
            row = counts.setdefault(op.op_type, [0] * (len(by_look) + 1))
            row[0], row[index] = max(row[0], op.before), op.after
    ordered = sorted(counts.items(), key=lambda item: -max(item[1]))
    shown, rest = (ordered, []) if len(ordered) <= most else (ordered[: most - 1], ordered[most - 1 :])
    if rest:
        shown = [*shown, (OTHERS, [sum(column) for column in zip(*(row for _, row in rest), strict=True)])]
    looks = (Look(SOURCE, GREY.pattern, GREY.symbol, "source"), *by_look)
    rows = (_counts(op, row, looks) for op, row in shown)
    note = f"the {len(rest)} rarest operators are counted together" if rest else ""
    return Chart(tuple(sentence.split("; ")), (Axis("nodes"),), tuple(rows), note)


def explanation_chart(explained: Explained, sentence: str = "") -> Chart:
    """Return the operators of one explanation, before and after."""
    numbers = explained.passes.statistics
    short = f"{explained.model_name}: {numbers.source_nodes:,} nodes became {numbers.optimized_nodes:,}"
    return operators_chart({series_look(0, "optimized"): numbers}, sentence or short)


def fusions_chart(by_label: Mapping[str, Statistics], sentence: str) -> Chart:
    """Return the operators of several runs."""
    looks = (run_look(index, label) for index, label in enumerate(by_label))
    return operators_chart(dict(zip(looks, by_label.values(), strict=True)), sentence)


def files_chart(record: FileDifference) -> Chart:
    """Return a row for all nodes of two files, then for each operator that differs, the furthest first."""
    looks = run_look(0, "before"), run_look(1, "after")
    ordered = sorted(record.operators, key=lambda row: -abs(row.after - row.before))
    counts = [(ALL, record.nodes), *((row.op_type, (row.before, row.after)) for row in ordered[:_MOST_OPS])]
    rows = (_counts(name, pair, looks) for name, pair in counts)
    left_out = len(ordered) - _MOST_OPS
    note = f"{left_out:,} more operators stand in the table" if left_out > 0 else ""
    return Chart(tuple(str(record).splitlines()), (Axis("nodes"),), tuple(rows), note)


def passes_chart(explained: Explained) -> Chart:
    """Return a row for each pass that fired, in ORT's order."""
    source, passes, look = len(explained.source.nodes), explained.passes, series_look(0)
    rows = [one_value("source", Value(source, f"{source:,}", look))]
    for number, fired in enumerate(passes.fired, start=1):
        left = fired.change.nodes_after
        when = "before ORT" if fired.level == PREPARED else f"level {fired.level}"
        value = Value(left, f"{left:,}, {when}", look, detail=in_words(fired.change))
        rows.append(one_value(f"{number}. {fired.name}", value))
    last = passes.fired[-1].change.nodes_after if passes.fired else source
    names = counted(len(passes.names), "pass", "passes")
    sentence = f"{explained.model_name}: {source:,} nodes became {last:,} through {names}"
    note = "" if passes.exact else "these passes do not end in exactly ORT's own graph"
    if not passes.followed:
        note = "the passes were not followed one by one: wb.explain(…, passes=True) does it"
    return Chart((sentence,), (Axis("nodes left"),), tuple(rows), note)


def _counts(op: str, counts: Iterable[int], looks: Iterable[Look]) -> ChartRow:
    values = (Value(count, f"{count:,}", look) for count, look in zip(counts, looks, strict=True))
    return ChartRow(op_name(op), (tuple(values),))


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
    from workbench.drawing.template import new_figure, set_title

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
