"""The table of a figure's numbers: sorted, filtered and picked from in the page, by mouse and keyboard."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import traitlets as t

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import link_view, on_change, own_changes, use_button
from workbench.apps.panels.state import BenchState
from workbench.core.bundle.display import DataFrame, own_names
from workbench.core.glossary import explained
from workbench.core.text import one_line
from workbench.drawing.card import ConfigUse, PickTable
from workbench.drawing.words import plain

_MOST_ROWS = 5_000  # that are sent to the page; the CSV has them all
_MOST_LETTERS = 300  # of a cell
Details = Callable[[str], Sequence[Any]]  # what a drawer shows of the row with a name, as in a PickTable


class TableWidget(W.PageWidget):
    """A table in the page; `picked` holds the keys of the rows that were clicked."""

    _esm = W.static("table.js")

    columns: t.List[Any] = t.List().tag(sync=True)
    rows: t.List[Any] = t.List().tag(sync=True)
    total = t.Int(0).tag(sync=True)
    caption = t.Unicode("").tag(sync=True)
    key = t.Int(-1, help="the column that names a row; -1: rows cannot be picked").tag(sync=True)
    under = t.Int(-1, help="a column that stands below the first one, in small letters").tag(sync=True)
    hidden = t.Int(-1, help="a column that is not shown, such as an id").tag(sync=True)
    action = t.Unicode("", help="label of a button in each row; `on_act` gets its key").tag(sync=True)
    picked = t.List(t.Unicode()).tag(sync=True)
    chosen = t.List(t.Unicode(), help="the names of what is picked; a name may be longer than its key")
    whole: t.Dict[str, str] = t.Dict(help="key → the name, where they differ")

    @classmethod
    def of_frame(cls, frame: DataFrame, caption: str, key: str | None = None) -> TableWidget:
        """Return the table of a DataFrame, cut to what a page can hold."""
        cut = frame.head(_MOST_ROWS)
        names, own = [str(name) for name in cut.columns], own_names(frame)
        heads = [(one_line(name, 60), None) if name in own else head_of(name) for name in names]
        rows = [[cell(value, factor) for value, (_, factor) in zip(row, heads, strict=True)]
                for row in cut.itertuples(index=False)]  # fmt: skip
        at = names.index(key) if key in names else -1
        whole = with_keys(rows, at, cut.iloc[:, at] if at >= 0 else ())
        columns = [{"name": head, "help": "" if names[place] in own else explained(head),
                    "digits": 4 if factor is None else 3,
                    "number": all(isinstance(row[place], int | float | None) for row in rows)}
                   for place, (head, factor) in enumerate(heads)]  # fmt: skip
        caption = one_line(caption)
        return cls(columns=columns, rows=rows, total=len(frame), caption=caption, key=at, whole=whole)

    @classmethod
    def of_rows(
        cls, columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str, **traits: Any
    ) -> TableWidget:
        """Return the table of these rows of texts."""
        heads = [{"name": name, "help": explained(name)} for name in columns]
        table = cls(columns=heads, caption=caption, **traits)
        table.fill(rows)
        return table

    def fill(self, rows: Sequence[Sequence[Any]]) -> None:
        """Show these rows."""
        cells = [[cell(value) for value in row] for row in rows]
        self.whole = with_keys(cells, self.key, [row[self.key] for row in rows])
        self.rows, self.total = cells, len(rows)

    @t.observe("picked")
    def _choose(self, _: object) -> None:
        self.chosen = [self.whole.get(key, key) for key in self.picked]

    @t.observe("chosen")
    def _pick(self, _: object) -> None:
        keys = {name: key for key, name in self.whole.items()}
        self.picked = [keys.get(name, name) for name in self.chosen]


class WithDrawer(W.HBox):
    """A table, and beside it, or `below` it, the details of the row that was picked last."""

    def __init__(
        self, state: BenchState, table: TableWidget, details: Details, *, below: bool = False
    ) -> None:
        self.state, self.table, self.details = state, table, details
        self.status, self.drawer = W.HTML(), W.VBox([], classes="" if below else "wbp-drawer")
        self.shown = partial(widget_of, state, self.status)
        super().__init__([table], classes="wbp-below" if below else "wbp-beside")
        on_change(table, lambda _: self.show_picked(), "picked", status=self.status)

    def show_picked(self) -> None:
        """Show the details of what is picked; nothing picked closes the drawer."""
        picked = self.table.chosen[-1:]
        self.children = [self.table, self.drawer] if picked else [self.table]
        W.replace(self.drawer, self.status)
        details = (detail for name in picked for detail in self.details(name))
        W.replace(self.drawer, *map(self.shown, details), self.status)

    def close(self) -> None:
        """Close the drawer too, which is not shown while nothing is picked."""
        W.close(self.table, self.drawer)
        super().close()


class PickedTable(WithDrawer):
    """A table to pick from, whose first row is picked at first."""

    def __init__(self, picks: PickTable, state: BenchState) -> None:
        names, nodes = [*map(str, picks.frame.columns)], picks.nodes
        table = TableWidget.of_frame(picks.frame, picks.caption, names[0])
        table.under = -1 if picks.under is None else names.index(picks.under)
        super().__init__(state, table, picks.details, below=picks.below)
        if not table.rows:
            self.children = [W.HTML(picks.empty)]
            return
        with own_changes():
            table.picked = [str(table.rows[0][table.key])]
        self.show_picked()

        def select(chosen: list[str]) -> None:
            """Select the nodes of the picked row in every view."""
            if chosen and nodes is not None:
                state.selected = tuple(nodes(chosen[-1]))

        on_change(table, select, "chosen", status=self.status)

    def pick(self, point: str) -> None:
        """Pick the row that a point of a figure names."""
        names = (str(row[self.table.key]) for row in self.table.rows)
        self.table.picked = [name for name in names if plain(name) == point]


def widget_of(state: BenchState, status: W.HTML, detail: Any) -> W.Widget:
    """Return the widget of a detail: HTML, a config to take over, a table, a view, or several in a row."""
    if isinstance(detail, str):
        return W.HTML(detail)
    if isinstance(detail, ConfigUse):
        return use_button(state, detail, status)
    if isinstance(detail, PickTable):
        return PickedTable(detail, state)
    if isinstance(detail, list):
        return W.HBox([widget_of(state, status, part) for part in detail], classes="wbp-fusion")
    link_view(state, detail)
    return detail


def with_keys(rows: list[list[Any]], at: int, names: Iterable[object]) -> dict[str, str]:
    """Put a key of its own for each name into the column `at`; return the names of the keys that differ.

    A cell is cut and printable, so two long names may have the same: the second one gets a number.
    """
    if at < 0:
        return {}
    named = [(name, row) for name, row in zip(names, rows, strict=True)
             if isinstance(name, str) and row[at] is not None]  # fmt: skip
    keys = {name: name for name, row in named if row[at] == name}
    counts = Counter(keys.keys())
    for name, row in named:
        shown = key = row[at]
        if name not in keys:
            while key in counts:
                counts[shown] += 1
                key = f"{shown} #{counts[shown]}"
            counts[key] += 1
            keys[name] = key
        row[at] = keys[name]
    return {key: name for name, key in keys.items() if key != name}


_UNITS = (  # by the end of a column's name: the unit on the screen, and the factor to it
    ("_us", "µs", 1.0), ("_ms", "ms", 1.0), ("_s", "ms", 1e3),
    ("_bytes", "MiB", 2.0**-20), ("_db", "dB", 1.0),
)  # fmt: skip
_RATES = ("per_s",)


def head_of(name: str) -> tuple[str, float | None]:
    """Return a column's name as people write it, and the factor to its unit; rates are not scaled."""
    for end, unit, factor in () if name.endswith(_RATES) else _UNITS:
        if name.endswith(end):
            return f"{one_line(name.removesuffix(end).replace('_', ' '), 50)} ({unit})", factor
    return one_line(name.replace("_", " "), 60), None


def cell(value: Any, factor: float | None = None) -> Any:
    """Return what the page gets: a number in its unit, a line of text, or None if it is not known."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if hasattr(value, "item"):  # a NumPy scalar
        return cell(value.item(), factor)
    if isinstance(value, int) and abs(value) >= 2**53:  # more digits than a number of the page holds
        return str(value) if abs(value) < 10**_MOST_LETTERS else f"an integer of {value.bit_length():,} bits"
    if isinstance(value, int | float):
        known = math.isfinite(value) and abs(value) < 2**53
        return str(value) if not known else value if factor is None else value * factor
    if isinstance(value, list | tuple):
        return one_line(", ".join(map(str, value[:50])), _MOST_LETTERS)
    return one_line(str(value), _MOST_LETTERS) if str(value) not in ("NaT", "<NA>") else None
