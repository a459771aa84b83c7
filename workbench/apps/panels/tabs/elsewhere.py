"""Where the nodes would run on providers that are not here: predictions, and the chosen one as a graph."""

from __future__ import annotations

from collections import Counter
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import link_selection
from workbench.apps.panels.markup import note_html, text
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.table import TableWidget, WithDrawer
from workbench.apps.panels.tabs.card import link_badges
from workbench.core.text import counted
from workbench.drawing.palette import style_of_provider
from workbench.features.explain.graph_view import graph_view
from workbench.features.explain.placement.prediction import PlacementPrediction, reliability

MOST_KINDS = 6  # operators of single nodes that are named
LEFT = "left to the CPU"
_COLUMNS = ("provider", "nodes", "%", "unknown", "parts", "crossing", "MB", LEFT)
_CAPTION = "Predictions from tables, nothing ran. Pick a provider to see its graph."
_SIZES = "Sizes of tensors are not known where dims are open: fix them (free_dimensions), or press Profile."


class Elsewhere(WithDrawer):
    """A table of predictions by provider, and the graph of the picked one below it."""

    def __init__(self, explanation: Any, state: BenchState) -> None:
        self.explanation, self.state = explanation, state
        predictions = explanation.what_if()
        self.predictions: dict[str, PlacementPrediction] = {item.name: item for item in predictions.all}
        frame = predictions.to_frame()
        known = frame.astype(object).where(frame.notna(), None)
        rows = [table_row(row) for row in known.itertuples(index=False)]
        self.sizes = note_html(_SIZES) if frame["bytes_crossing"].isna().any() else ""
        under = _COLUMNS.index(LEFT)
        table = TableWidget.of_rows(_COLUMNS, rows, _CAPTION, _COLUMNS[1:-1], key=0, under=under)
        super().__init__(table, self._details, below=True)
        self.pick_first()

    def _details(self, name: str) -> list[W.Widget]:
        """Return the graph of a provider, and its parts in words."""
        prediction = self.predictions.get(name)
        if prediction is None:
            return []
        view = graph_view(self.explanation.explained, prediction=prediction)
        link_badges(self.state, view)
        link_selection(self.state, view, "selected")
        reliable = note_html(reliability(prediction.provider))
        return [W.HTML(self.sizes + strip_html(prediction) + reliable + islands_html(prediction)), view]


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
              ("CPU", rest, style_of_provider("CPUExecutionProvider").color))  # fmt: skip
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
