"""What was fused and why not, as a table to pick from: reasons, what would help, and a place as a drawing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from workbench.core.text import counted
from workbench.drawing.card import ConfigUse, PickTable
from workbench.drawing.markup import note_html, text
from workbench.features.explain.fusions import Fusions, why_not
from workbench.features.explain.passes.fusion_table import FusionRow, NotFused, Remedy, remedy

MOST_PLACES = 200  # with their nodes, below one reason
_NONE = "ORT fused nothing here, and no known pattern was left."


def fusion_picks(fusions: Fusions, dims: Mapping[str, int]) -> PickTable:
    """Return all patterns; `dims` are the sizes of free dimensions in the inputs."""
    rows = {row.pattern: row for row in fusions.rows()}
    helps = partial(_remedy, fusions, dims)
    cells = [
        (row.pattern, row.could, *dict(row.fused).values(), why_not(row), remedies_text(row, helps))
        for row in rows.values()
    ]
    columns = ["fusion", "could", *fusions.explained, "why not", "what would help"]
    frame = pd.DataFrame(cells, columns=columns)
    if not frame[columns[-1]].any():  # an empty column would only take room
        frame = frame.drop(columns=columns[-1])

    def details(pattern: str) -> list[Any]:
        row = rows[pattern]
        passes = f'<span class="wbp-note">{text(", ".join(row.passes))}</span>'
        groups = [_group(group, helps(row, group)) for group in row.not_fused]
        return [f"<b>{text(row.pattern)}</b> {passes}", *groups, *_drawing(fusions, row)]

    caption = "Pick a fusion to see it before and after."
    return PickTable(frame, caption, details, nodes=lambda name: _nodes(rows[name]), empty=note_html(_NONE))


def _remedy(fusions: Fusions, dims: Mapping[str, int], row: FusionRow, group: NotFused) -> Remedy | None:
    return remedy(row.pattern, group, fusions.explained[group.label].config, dict(dims))


def remedies_text(row: FusionRow, helps: Any) -> str:
    """Return each remedy once, with the runs that need it."""
    labels: dict[str, list[str]] = {}
    for group in row.not_fused:
        fix = helps(row, group)
        if fix is not None and group.label not in labels.setdefault(fix.text, []):
            labels[fix.text].append(group.label)
    return "; ".join(f"{', '.join(runs)}: {words}" for words, runs in labels.items())


def _nodes(row: FusionRow) -> tuple[str, ...]:
    places = [place for _, place in row.places]
    places += [place for group in row.not_fused for place in group.places]
    return tuple(dict.fromkeys(node for place in places for node in place))


def _group(group: NotFused, fix: Remedy | None) -> list[Any]:
    """Return a reason, and the config that would help."""
    if fix is None or (config := fix.config) is None:
        return [group_html(group)]
    hint = f"Change {group.label}; then press Compare to measure it"
    return [group_html(group), ConfigUse(group.label, f"{group.label}: {fix.text}", hint, lambda _: config)]


def group_html(group: NotFused) -> str:
    """Return a reason with its count, and the nodes of its places on unfolding."""
    origin = f" ({text(group.reason_from)})" if group.reason_from else ""
    head = f"<b>{text(group.label)}</b> {counted(group.count, 'place')}: {text(group.reason)}{origin}"
    if not group.places:
        return f"<div>{head}</div>"
    listed = "".join(f"<li>{text(', '.join(place))}</li>" for place in group.places[:MOST_PLACES])
    return f"<details><summary>{head}</summary><ul>{listed}</ul></details>"


def _drawing(fusions: Fusions, row: FusionRow) -> list[Any]:
    """Return the nodes of one place before and after: a fused one, else one that was left."""
    from workbench.features.explain.graph_view.view import matched_view

    left = [(group.label, place) for group in row.not_fused for place in group.places]
    for label, place in [*row.places[-1:], *left[:1]]:
        view: Any = matched_view(fusions.explained[label], place)
        if view is not None:
            what = "a fused place" if (label, place) in row.places else "a place that is not fused"
            return [note_html(f"{label}, {what}: before and after"), view]
    return []
