"""Where the nodes would run on other providers: a table to pick from, and the graph of the picked one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd

from workbench.core.text import counted
from workbench.drawing.card import PickTable
from workbench.drawing.markup import note_html, text
from workbench.drawing.palette import style_of_provider
from workbench.features.explain.placement.prediction import CPU, PlacementPrediction, reliability

MOST_KINDS = 6  # operators of single nodes that are named
LEFT = "left to the CPU"
_COLUMNS = ["provider", "nodes", "%", "unknown", "parts", "crossing", "MB", LEFT]
_CAPTION = "Predictions from tables, nothing ran. Pick a provider to see its graph."
_SIZES = "Sizes of tensors are not known where dims are open: fix them (free_dimensions), or press Profile."


def elsewhere(explanation: Any) -> PickTable:
    """Return the predictions for an explanation by provider."""
    predictions = explanation.what_if()
    by_name = {item.name: item for item in predictions.all}
    frame = predictions.to_frame()
    known = frame.astype(object).where(frame.notna(), None)
    rows = [table_row(row) for row in known.itertuples(index=False)]
    sizes = note_html(_SIZES) if frame["bytes_crossing"].isna().any() else ""

    def details(name: str) -> list[Any]:
        from workbench.features.explain.graph_view import graph_view

        prediction = by_name[name]
        view = graph_view(explanation.explained, prediction=prediction)
        reliable = note_html(reliability(prediction.provider))
        return [sizes + strip_html(prediction) + reliable + islands_html(prediction), view]

    table = pd.DataFrame(rows, columns=_COLUMNS, dtype=object)
    return PickTable(table, _CAPTION, details, below=True, under=LEFT)


def predicted(explanation: Any) -> Any:
    """Draw the graph on the provider that would take most of it."""
    return explanation.graph(explanation.what_if().to_frame()["prediction_for"].iloc[0])


def table_row(row: Any) -> tuple[Any, ...]:
    """Return the cells of a prediction."""
    size, share = row.bytes_crossing, row.node_share
    left = row.left_to_the_cpu and f"on the CPU: {row.left_to_the_cpu}"
    return (
        row.prediction_for, row.nodes, None if share is None else round(100 * share), row.unknown,
        row.partitions, row.tensors_crossing, None if size is None else size / 1e6, left,
    )  # fmt: skip


def strip_html(prediction: PlacementPrediction) -> str:
    """Return a bar with the nodes that the provider takes, the unknown ones and the rest, and its parts."""
    taken, unknown = prediction.taken, prediction.unknown
    rest = len(prediction.nodes) - taken - unknown
    shares = ((prediction.name, taken, style_of_provider(prediction.provider).color),
              ("unknown", unknown, "transparent"),
              ("CPU", rest, style_of_provider(CPU).color))  # fmt: skip
    known = [share for share in shares if share[1]]
    words = " · ".join(f"{name} {count:,}" for name, count, _ in known)
    pieces = "".join(
        f'<span style="flex-grow:{count};background:{color}"></span>' for _, count, color in known
    )
    return (
        f'<div class="wbp-strip-row"><b>{text(words)}</b> <span class="wbp-shares" role="img" '
        f'aria-label="{text(words)}">{pieces}</span> {counted(prediction.partitions, "part")}</div>'
    )


def islands_html(prediction: PlacementPrediction) -> str:
    """Return the parts that are a single node, by operator: each costs a copy there and back."""
    sizes = Counter(node.partition for node in prediction.nodes)
    alone = [node for node in prediction.nodes if sizes[node.partition] == 1]
    taken = _single_html("", Counter(node.op_type for node in alone if node.takes))
    return taken + _single_html(" of the CPU", Counter(node.op_type for node in alone if not node.takes))


def _single_html(whose: str, kinds: Counter[str]) -> str:
    if not kinds:
        return ""
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(MOST_KINDS))
    more = ", …" if len(kinds) > MOST_KINDS else ""
    are = "is" if kinds.total() == 1 else "are"
    return note_html(f"{counted(kinds.total(), 'part')}{whose} {are} a single node: {listed}{more}")
