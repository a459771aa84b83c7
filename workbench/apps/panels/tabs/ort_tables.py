"""Tables of what ORT did, with a drawer: what was fused and why not, and where nodes would run elsewhere."""

from __future__ import annotations

from collections import Counter
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import link_selection, on_change, use_button
from workbench.apps.panels.markup import note_html, text
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.table import TableWidget, WithDrawer
from workbench.apps.panels.tabs.card import link_badges
from workbench.core.text import counted
from workbench.drawing.palette import style_of_provider
from workbench.features.explain.fusions import Fusions, why_not
from workbench.features.explain.graph_view import graph_view
from workbench.features.explain.graph_view.matched import matched_view
from workbench.features.explain.passes.fusion_table import FusionRow, NotFused, Remedy, remedy
from workbench.features.explain.placement.prediction import PlacementPrediction, reliability

MOST_PLACES = 200  # with their nodes, below one reason
_NONE = "ORT fused nothing here, and no known pattern was left."
MOST_KINDS = 6  # operators of single nodes that are named
LEFT = "left to the CPU"
_COLUMNS = ("provider", "nodes", "%", "unknown", "parts", "crossing", "MB", LEFT)
_CAPTION = "Predictions from tables, nothing ran. Pick a provider to see its graph."
_SIZES = "Sizes of tensors are not known where dims are open: fix them (free_dimensions), or press Profile."


class FusionTable(WithDrawer):
    """All patterns as a table, and the chosen pattern beside it."""

    def __init__(self, fusions: Fusions, state: BenchState) -> None:
        self.fusions, self.state = fusions, state
        self.rows = {row.pattern: row for row in fusions.rows()}
        columns = ["fusion", "could", *fusions.explained, "why not", "what would help"]
        cells = [
            (row.pattern, row.could, *dict(row.fused).values(), why_not(row), self._remedies_text(row))
            for row in self.rows.values()
        ]
        if not any(remedies for *_, remedies in cells):  # an empty column would only take room
            columns, cells = columns[:-1], [row[:-1] for row in cells]
        caption, counts = "Pick a fusion to see it before and after.", ("could", *fusions.explained)
        table = TableWidget.of_rows(columns, cells, caption, counts, key=0)
        super().__init__(table, self._details)
        if self.rows:
            self.pick_first()
            on_change(self.table, lambda _: self._select(), "chosen", status=self.status)
        else:
            self.children = [W.HTML(note_html(_NONE))]

    def _select(self) -> None:
        """Select the nodes of the picked pattern in every view."""
        for row in [self.rows[name] for name in self.table.chosen[-1:] if name in self.rows]:
            places = [place for _, place in row.places]
            places += [place for group in row.not_fused for place in group.places]
            self.state.selected = tuple(dict.fromkeys(node for place in places for node in place))

    def _details(self, pattern: str) -> list[W.Widget]:
        """Return the reasons of a row, its remedies and its drawing."""
        row = self.rows.get(pattern)
        if row is None:
            return []
        groups = [self._group(row, group) for group in row.not_fused]
        passes = f'<span class="wbp-note">{text(", ".join(row.passes))}</span>'
        return [W.HTML(f"<b>{text(row.pattern)}</b> {passes}"), *groups, *self._drawing(row)]

    def _group(self, row: FusionRow, group: NotFused) -> W.Widget:
        fix = self._remedy(row, group)
        widgets: list[W.Widget] = [W.HTML(group_html(group))]
        if fix is not None and (config := fix.config) is not None:
            hint = f"Change {group.label}; then press Compare to measure it"
            label = f"{group.label}: {fix.text}"
            widgets.append(use_button(self.state, group.label, hint, lambda: config, self.status, label))
        return W.HBox(widgets, classes="wbp-fusion")

    def _remedy(self, row: FusionRow, group: NotFused) -> Remedy | None:
        return remedy(row.pattern, group, self.fusions.explained[group.label].config, dict(self.state.dims))

    def _remedies_text(self, row: FusionRow) -> str:
        """Return each remedy once, with the runs that need it."""
        labels: dict[str, list[str]] = {}
        for group in row.not_fused:
            fix = self._remedy(row, group)
            if fix is not None and group.label not in labels.setdefault(fix.text, []):
                labels[fix.text].append(group.label)
        return "; ".join(f"{', '.join(runs)}: {words}" for words, runs in labels.items())

    def _drawing(self, row: FusionRow) -> list[W.Widget]:
        """Return the nodes of one place before and after: a fused one, else one that was left."""
        left = [(group.label, place) for group in row.not_fused for place in group.places]
        for label, place in [*row.places[-1:], *left[:1]]:
            view: Any = matched_view(self.fusions.explained[label], place)
            if view is not None:
                what = "a fused place" if (label, place) in row.places else "a place that is not fused"
                return [W.HTML(note_html(f"{label}, {what}: before and after")), view]
        return []


def group_html(group: NotFused) -> str:
    """Return a reason with its count, and the nodes of its places on unfolding."""
    origin = f" ({text(group.reason_from)})" if group.reason_from else ""
    head = f"<b>{text(group.label)}</b> {counted(group.count, 'place')}: {text(group.reason)}{origin}"
    if not group.places:
        return f"<div>{head}</div>"
    listed = "".join(f"<li>{text(', '.join(place))}</li>" for place in group.places[:MOST_PLACES])
    return f"<details><summary>{head}</summary><ul>{listed}</ul></details>"


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
