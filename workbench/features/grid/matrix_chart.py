"""The heat table of a matrix: a row for each model, a column for each config, the verdict in each cell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.core.text import factor_ends, one_line, shorten
from workbench.drawing.chart_scene import MARGIN, ROOM, SMALL, TITLE_LINE, captioned, captions
from workbench.drawing.palette import GAIN, LOSS, TEXT
from workbench.drawing.scene import Scene
from workbench.drawing.shapes import Rect, TextLine
from workbench.drawing.words import plain

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.features.grid.matrix import Cell, MatrixRecord

DOUBLE = math.log(2.0)  # a factor of two has the full colour
LEAST_OPACITY, MOST_OPACITY = 0.1, 0.45
ROW = 24.0
NAMES = 190.0  # pixels for the names of the models
MOST_ROWS, MOST_COLUMNS = 60, 12
NOTE = "times as fast as A, coloured where it is settled; a tie, an open answer and a failure have no colour"


@dataclass(frozen=True, slots=True)
class HeatCell:
    """The text of a cell, and how strong its colour is: above 0 that of a gain, below 0 that of a loss."""

    text: str
    level: float
    detail: str


@dataclass(frozen=True, slots=True)
class HeatTable:
    """Names of models and configs, and the cells row by row. All texts are untrusted."""

    sentence: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    note: str


def matrix_data(record: MatrixRecord) -> HeatTable:
    """Return the heat table, with at most as many rows and columns as can be read."""
    heads = tuple(record.labels[:MOST_COLUMNS])
    rows = tuple(
        (row.model, tuple(_heat(cell) for cell in record.cells(row)[:MOST_COLUMNS]))
        for row in record.rows[:MOST_ROWS]
    )
    left_out = len(record.rows) - len(rows) + max(0, len(record.configs) - MOST_COLUMNS)
    more = f"; {left_out} more rows or columns in the table" if left_out else ""
    return HeatTable(record.headline, heads, rows, f"{NOTE if len(heads) > 1 else 'median latency'}{more}")


def matrix_orders(record: MatrixRecord) -> dict[str, HeatTable]:
    """Return the heat table in every order of its rows, by the text of the menu that chooses it."""
    labels = record.labels[:MOST_COLUMNS] if len(record.rows) > 1 else ()
    by_label = {f"sorted by {label}": matrix_data(record.sorted_by(label)) for label in labels}
    return {"as given": matrix_data(record), **by_label}


def matrix_figure(record: MatrixRecord) -> go.Figure:
    """Draw the heat table with plotly; a menu sorts its rows, which needs no kernel."""
    from workbench.drawing.template import new_figure, set_title

    orders = matrix_orders(record)
    table = orders["as given"]
    figure = new_figure()
    places = list(range(len(table.rows)))
    figure.add_heatmap(
        **_traces(table),
        x=list(table.heads),
        y=places,
        texttemplate="%{text}",
        hoverinfo="text",
        zmin=-MOST_OPACITY,
        zmax=MOST_OPACITY,
        colorscale=[(0.0, LOSS), (0.5, "rgba(128, 128, 128, 0.05)"), (1.0, GAIN)],
        showscale=False,
        xgap=2,
        ygap=2,
    )
    figure.update_xaxes(side="top", fixedrange=True)
    figure.update_yaxes(autorange="reversed", tickvals=places, ticktext=_names(table), fixedrange=True)
    if len(orders) > 1:
        buttons = [
            {
                "label": order,
                "method": "update",
                "args": [
                    {key: [rows] for key, rows in _traces(ordered).items()},
                    {"yaxis.ticktext": _names(ordered)},
                ],
            }
            for order, ordered in orders.items()
        ]
        place = {"x": 0, "xanchor": "right", "y": 1, "yanchor": "bottom", "pad": {"r": 8, "b": 2}}
        figure.update_layout(updatemenus=[{"buttons": buttons, "showactive": True, **place}])
    return set_title(figure, (table.sentence,), table.note, ROW * 1.4 * (len(table.rows) + 2))


def matrix_scene(record: MatrixRecord) -> Scene:
    """Draw the heat table as a still picture."""
    table = matrix_data(record)
    shapes, y = captions((table.sentence,))
    y += TITLE_LINE
    width = (ROOM - NAMES) / max(1, len(table.heads))
    lefts = [MARGIN + NAMES + index * width for index in range(len(table.heads))]
    shapes += [
        TextLine(left + 6, y, label, SMALL, True, room=width - 8)
        for left, label in zip(lefts, table.heads, strict=True)
    ]
    y += 6
    for name, cells in table.rows:
        shapes.append(TextLine(MARGIN, y + ROW - 8, name, SMALL, room=NAMES - 8))
        for left, cell in zip(lefts, cells, strict=True):
            box = (left, y, width - 2, ROW - 2)
            shapes.append(
                Rect(*box, GAIN if cell.level > 0 else LOSS, abs(cell.level))
                if cell.level
                else Rect(*box, stroke=TEXT, stroke_width=0.4)
            )
            shapes.append(TextLine(left + 6, y + ROW - 8, cell.text, SMALL, room=width - 10))
        y += ROW
    return captioned((table.sentence,), table.note, shapes, y, most=3)


def _traces(table: HeatTable) -> dict[str, list[list[Any]]]:
    """Return levels, texts and details of the cells, row by row."""
    return {
        "z": [[cell.level for cell in cells] for _, cells in table.rows],
        "text": [[plain(one_line(cell.text, 28)) for cell in cells] for _, cells in table.rows],
        "hovertext": [[plain(cell.detail) for cell in cells] for _, cells in table.rows],
    }


def _names(table: HeatTable) -> list[str]:
    return [plain(shorten(name)) for name, _ in table.rows]


def _heat(cell: Cell) -> HeatCell:
    verdict = cell.verdict
    detail = f"{cell.model}, {cell.label} ({cell.config}): {cell.text}"
    if verdict is None or verdict.bound is None or verdict.kind not in ("faster", "slower"):
        return HeatCell(cell.text, 0.0, detail)
    share = min(1.0, abs(math.log(verdict.bound)) / DOUBLE)
    opacity = LEAST_OPACITY + share * (MOST_OPACITY - LEAST_OPACITY)
    ends = factor_ends(verdict.low, verdict.high)
    return HeatCell(cell.text, opacity if verdict.kind == "faster" else -opacity, f"{detail}{ends}")
