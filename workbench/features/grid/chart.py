"""The pictures of a grid: lines against size or a knob, and a table of models and configs in colours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.core.measure.measurement import in_words
from workbench.core.text import factor_ends, one_line, shorten
from workbench.drawing.chart import Look, Value, run_look
from workbench.drawing.chart_scene import MARGIN, ROOM, SMALL, TITLE_LINE, captioned, captions
from workbench.drawing.lines import LineChart, Panel, line_figure, line_scene
from workbench.drawing.palette import GAIN, LOSS, TEXT
from workbench.drawing.scale import Scale, scale_of
from workbench.drawing.scene import Scene
from workbench.drawing.shapes import Rect, TextLine
from workbench.drawing.words import plain

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.features.grid.matrix import MatrixRecord
    from workbench.features.grid.record import Cell
    from workbench.features.grid.sweep import SweepRecord

MOST_CURVES = 12
MOST_TEXT = 60
DOUBLE = math.log(2.0)  # a factor of two has the full colour
LEAST_OPACITY, MOST_OPACITY = 0.1, 0.45
ROW = 24.0
_NAMES = 190.0  # pixels for the names of the models
MOST_ROWS, MOST_COLUMNS = 60, 12
_NOTE = "times as fast as A, coloured where it is settled; a tie, an open answer and a failure have no colour"


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
        for row in record.places[:MOST_ROWS]
    )
    left_out = len(record.places) - len(rows) + max(0, len(record.configs) - MOST_COLUMNS)
    more = f"; {left_out} more rows or columns in the table" if left_out else ""
    return HeatTable(record.headline, heads, rows, f"{_NOTE if len(heads) > 1 else 'median latency'}{more}")


def matrix_orders(record: MatrixRecord) -> dict[str, HeatTable]:
    """Return the heat table in every order of its rows, by the text of the menu that chooses it."""
    labels = record.labels[:MOST_COLUMNS] if len(record.places) > 1 else ()
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
    width = (ROOM - _NAMES) / max(1, len(table.heads))
    lefts = [MARGIN + _NAMES + index * width for index in range(len(table.heads))]
    shapes += [
        TextLine(left + 6, y, label, SMALL, True, room=width - 8)
        for left, label in zip(lefts, table.heads, strict=True)
    ]
    y += 6
    for name, cells in table.rows:
        shapes.append(TextLine(MARGIN, y + ROW - 8, name, SMALL, room=_NAMES - 8))
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
    detail = f"{cell.place.model}, {cell.label} ({cell.series.name}): {cell.text}"
    if verdict is None or verdict.bound is None or verdict.kind not in ("faster", "slower"):
        return HeatCell(cell.text, 0.0, detail)
    share = min(1.0, abs(math.log(verdict.bound)) / DOUBLE)
    opacity = LEAST_OPACITY + share * (MOST_OPACITY - LEAST_OPACITY)
    ends = factor_ends(verdict.low, verdict.high)
    return HeatCell(cell.text, opacity if verdict.kind == "faster" else -opacity, f"{detail}{ends}")


def sweep_chart(record: SweepRecord) -> LineChart:
    """Return a panel for latency and one for throughput; the axis with most values lies across."""
    axis = record.longest_axis
    values = ("",) if axis is None else axis.values
    curves = _curves(record)
    drawn = list(curves.items())[:MOST_CURVES]
    scale = scale_of([row.latency().value for _, rows in drawn for row in rows.values()])
    latency, rates = [], []
    for index, (name, rows) in enumerate(drawn):
        look = run_look(index, name)
        points = [rows.get(value) for value in values]
        latency.append(tuple(_value(row, look, scale) for row in points))
        rates.append(tuple(_value(row, look) for row in points))
    panels = (
        Panel(f"median latency of one run ({scale.unit})", tuple(latency)),
        Panel(f"throughput ({record.unit}/s)", tuple(rates)),
    )
    more = len(curves) - len(drawn)
    note = f"bars are 95 % intervals{f'; {more} more lines in the table' if more else ''}"
    title = "the default sizes" if axis is None else shorten(axis.name)
    return LineChart((record.headline,), title, tuple(_positions(values)), panels, note)


def sweep_figure(record: SweepRecord) -> go.Figure:
    """Draw the chart with plotly."""
    return line_figure(sweep_chart(record))


def sweep_scene(record: SweepRecord) -> Scene:
    """Draw the chart as a still picture."""
    return line_scene(sweep_chart(record))


def _curves(record: SweepRecord) -> dict[str, dict[str, Cell]]:
    """Return the rows of each curve by their value on the axis that lies across."""
    across = "" if record.longest_axis is None else record.longest_axis.name
    curves: dict[str, dict[str, Cell]] = {}
    for row in record.all_cells():
        others = [f"{shorten(name)} {value}" for name, value in places_of(row).items() if name != across]
        name = ", ".join([shorten(row.series.config), *others])
        curves.setdefault(name, {})[places_of(row).get(across, "")] = row
    return curves


def places_of(cell: Cell) -> dict[str, str]:
    """Return the value of a cell on each axis, in words."""
    return {**{name: str(size) for name, size in cell.place.sizes}, **dict(cell.series.knobs)}


def _positions(values: tuple[str, ...]) -> Iterator[tuple[float, str]]:
    """Yield the place of each value: numbers on a scale of doubling, names evenly."""
    is_numeric = all(value.isascii() and value.isdecimal() and int(value[:20]) > 0 for value in values)
    for index, value in enumerate(values):
        yield (math.log2(int(value[:20])) if is_numeric else float(index)), value


def _value(row: Cell | None, look: Look, scale: Scale | None = None) -> Value:
    """Return the latency of a row on its scale; without a scale its rate."""
    if row is None:
        return Value(None, "not measured", look)
    estimate = row.rate() if scale is None else row.latency()
    numbers = (estimate.value, estimate.low, estimate.high)
    value, low, high = (n if n is None or scale is None else scale.of(n) for n in numbers)
    text = one_line(row.problem, MOST_TEXT) if row.problem else in_words(estimate)
    return Value(value, text, look, low, high)
