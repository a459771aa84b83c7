"""The table of fusions: one row per pattern; beside it the picked one with its reasons."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import button, on_change
from workbench.apps.panels.markup import note_html, text
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.table import TableWidget, WithDrawer
from workbench.core.text import counted
from workbench.features.explain.fusions import Fusions, why_not
from workbench.features.explain.graph_view.matched import matched_view
from workbench.features.explain.passes.fusion_table import FusionRow, NotFused, Remedy, remedy

MOST_PLACES = 200  # with their nodes, below one reason
_NONE = "ORT fused nothing here, and no known pattern was left."


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
        return [W.HTML(f"<b>{text(row.pattern)}</b> {passes_html(row)}"), *groups, *self._drawing(row)]

    def _group(self, row: FusionRow, group: NotFused) -> W.Widget:
        fix = self._remedy(row, group)
        widgets: list[W.Widget] = [W.HTML(group_html(group))]
        if fix is not None and fix.config is not None:
            use = partial(self._use, group.label, fix)
            hint = f"Change {group.label}; then press Compare to measure it"
            widgets.append(button(f"{group.label}: {fix.text}", hint, use, self.status))
        return W.HBox(widgets, classes="wbp-fusion")

    def _use(self, label: str, fix: Remedy) -> None:
        assert fix.config is not None
        self.state.set_config(label, fix.config)
        self.status.value = note_html(f"{label} is set: {fix.text}. Press Compare to measure it.")

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


def passes_html(row: FusionRow) -> str:
    """Return the passes that do it."""
    return f'<span class="wbp-note">{text(", ".join(row.passes))}</span>' if row.passes else ""


def group_html(group: NotFused) -> str:
    """Return a reason with its count, and the nodes of its places on unfolding."""
    origin = f" ({text(group.reason_from)})" if group.reason_from else ""
    head = f"<b>{text(group.label)}</b> {counted(group.count, 'place')}: {text(group.reason)}{origin}"
    if not group.places:
        return f"<div>{head}</div>"
    listed = "".join(f"<li>{text(', '.join(place))}</li>" for place in group.places[:MOST_PLACES])
    return f"<details><summary>{head}</summary><ul>{listed}</ul></details>"
