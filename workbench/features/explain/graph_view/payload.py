"""Panes in the browser's format: texts once, numbers as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from workbench.core.text import counted, in_time, one_line
from workbench.drawing.canvas.columns import TextTable, pack, style_data
from workbench.drawing.palette import (
    GREEN,
    OLIVE,
    PURPLE,
    SKY,
    TEXT,
    YELLOW,
    FillStyle,
    style_of_op_type,
    style_of_provider,
)
from workbench.features.explain.graph_view.pane import (
    ERROR_CLASSES,
    NOT_COMPARED,
    NOT_FINITE,
    GraphRow,
    Pane,
    short_provider,
)
from workbench.features.explain.graph_view.tree import BoxTree, open_alike
from workbench.features.explain.provenance.account import FATES as ACCOUNTED

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
        text += " (" + ", ".join(f"{fates[fate]:,} {fate}" for fate in ACCOUNTED if fates[fate]) + ")"
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


_MOST_LETTERS = 2000  # of a name: one of a megabyte is cut
_ABSENT = 0xFFFFFFFF
_KINDS = ("node", "input", "output")
PLAIN = FillStyle(TEXT, ".")
FATES = {
    "kept": (FillStyle(SKY, ""), "="),
    "fused": (FillStyle(GREEN, "/"), "⊕"),
    "folded": (FillStyle(YELLOW, "\\"), "▾"),
    "eliminated": (FillStyle(PURPLE, "x"), "×"),
    "inserted": (FillStyle(OLIVE, "-"), "+"),
    "unknown": (PLAIN, "?"),
}
_ERROR_STYLES = (  # from the least to the most
    (FillStyle(SKY, ""), "="),
    (FillStyle(GREEN, "/"), "≈"),
    (FillStyle(YELLOW, "\\"), "!"),
    (FillStyle(PURPLE, "x"), "‼"),
)
ERRORS = {
    **dict(zip(ERROR_CLASSES, _ERROR_STYLES, strict=True)),
    NOT_FINITE: (FillStyle(OLIVE, "-"), "∞"),
    NOT_COMPARED: (PLAIN, "?"),
}


def payload(
    panes: Sequence[Pane], links: Sequence[tuple[int, int]], *, predicted: bool = False
) -> tuple[dict[str, Any], bytes]:
    """Return header and columns. Column names begin with the number of their pane."""
    texts = TextTable(_MOST_LETTERS)
    columns: dict[str, Sequence[int] | Sequence[float | None]] = {
        "link_from": [start for start, _ in links],
        "link_to": [other for _, other in links],
    }
    panes_data = []
    names = ("modules", "partitions")
    opened = {name: open_alike([pane.trees[name] for pane in panes if name in pane.trees]) for name in names}
    for number, pane in enumerate(panes):
        columns |= {f"{number}_{name}": rows for name, rows in _columns(pane, texts).items()}
        for name, tree in pane.trees.items():
            tree_columns = _tree(tree, opened[name].pop(0), texts)
            columns |= {f"{number}_{name}_{key}": rows for key, rows in tree_columns.items()}
        note = ". ".join(filter(None, (parts_strip(pane), pane.note)))
        panes_data.append({"title": pane.title, "note": note, "nodes": pane.nodes, "trees": list(pane.trees)})
    table, block = pack(columns)
    header = {
        "panes": panes_data,
        "modes": _modes(panes, texts, predicted),
        "kinds": _KINDS,
        "columns": table,
        "texts": texts.all,
    }
    return header, block


def _columns(pane: Pane, texts: TextTable) -> dict[str, Sequence[int] | Sequence[float | None]]:
    def column(of: Callable[[GraphRow], str]) -> list[int]:
        return [texts.number(of(row)) for row in pane.rows]

    rows, wires = pane.rows, pane.wires
    return {
        "name": column(lambda row: row.node),
        "op": column(lambda row: row.op_type),
        "kind": [_KINDS.index(row.kind) for row in rows],
        "provider": column(provider_label),
        "partition": [_ABSENT if row.partition is None else row.partition for row in rows],
        "fate": column(lambda row: row.fate or ""),
        "inserted": [int(row.inserted) for row in rows],
        "passes": column(lambda row: ", ".join(row.passes)),
        "shapes": column(lambda row: row.shapes),
        "note": column(lambda row: row.note),
        "error": column(lambda row: row.error),
        "time_f": [row.time_s for row in rows],
        "memory_f": [row.size_bytes for row in rows],
        "wire_from": [wire.source for wire in wires],
        "wire_to": [wire.target for wire in wires],
        "wire_tensor": [texts.number(wire.tensor) for wire in wires],
        "wire_hub": [int(wire.hub) for wire in wires],
        "wire_crosses": [int(wire.crosses) for wire in wires],
        "wire_bytes_f": [wire.size_bytes for wire in wires],
    }


def _tree(tree: BoxTree, opened: Sequence[int], texts: TextTable) -> dict[str, Sequence[int]]:
    return {
        "home": tree.home,
        "parent": [box.parent for box in tree.boxes],
        "label": [texts.number(box.label) for box in tree.boxes],
        "path": [texts.number(box.path) for box in tree.boxes],
        "open": opened,
    }


def provider_label(row: GraphRow) -> str:
    return "" if row.kind != "node" else short_provider(row.provider)


def _modes(panes: Sequence[Pane], texts: TextTable, predicted: bool) -> list[dict[str, Any]]:
    """Return what boxes can be coloured by; a mode without data is listed as unknown."""
    nodes = [row for pane in panes for row in pane.rows if row.kind == "node"]
    fates = {row.fate for row in nodes} - {None}
    timed = any(row.time_s is not None for row in nodes)
    sized = any(row.size_bytes is not None for row in nodes)
    providers = dict.fromkeys(provider_label(row) for row in nodes)
    ops = dict.fromkeys(row.op_type for row in nodes)
    errors = {row.error for row in nodes} - {""}
    return [
        _category("provider", "provider (predicted)" if predicted else "provider", texts, {
            name: (PLAIN if name == "unknown" else style_of_provider(name), "?" if name == "unknown" else "")
            for name in providers
        }),
        _number("time", "time" if timed else "time (needs a profile)", "s", timed),
        _number("memory", "memory of outputs" if sized else "memory (shapes unknown)", "B", sized),
        _category("fate", "what happened to it", texts, {
            name: FATES[name] for name in FATES if name in fates
        }),
        _category("op", "op type", texts, {
            name: (style_of_op_type(name.rpartition("::")[2]), "") for name in ops
        }),
        _category("error", "error of B" if errors else "error (not compared)", texts, {
            name: ERRORS[name] for name in ERRORS if name in errors
        }),
    ]  # fmt: skip


def _category(
    name: str, label: str, texts: TextTable, styles: dict[str, tuple[FillStyle, str]]
) -> dict[str, Any]:
    entries = [
        {"text": texts.number(key), "label": key, "glyph": glyph, "style": style_data(style)}
        for key, (style, glyph) in styles.items()
    ]
    return {"name": name, "label": label, "kind": "category", "styles": entries, "known": bool(entries)}


def _number(name: str, label: str, unit: str, known: bool) -> dict[str, Any]:
    return {"name": name, "label": label, "kind": "number", "unit": unit, "known": known}
