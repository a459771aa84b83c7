"""What a notebook can show and export: numbers in words, a table, a figure, a picture, a page."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.core.bundle.atomic import write_atomically
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.bundle.estimate import Estimate
from workbench.core.text import one_line, printable
from workbench.drawing.cell import as_cell
from workbench.drawing.chart import Axis, Chart, Look, ReferenceLine, one_value, series_look, value_of
from workbench.drawing.chart_scene import chart_scene
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import MOST_NODES, figured, paragraph, stop_if_asked, stopped_by

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.drawing.scene import Scene


class Exportable:
    """A value of a cell that draws itself and can be written as a page."""

    def to_frame(self) -> Any:
        """Return the numbers as a table."""
        raise NotImplementedError

    def chart(self) -> Chart:
        """Return what its figure and its picture draw, unless it draws them otherwise."""
        raise NotImplementedError

    def figure(self) -> go.Figure | None:
        """Draw its figure with plotly; return None where it has none."""
        from workbench.drawing.chart_figure import chart_figure

        return chart_figure(self.chart())

    def still(self) -> Scene:
        """Draw its picture without a browser."""
        return chart_scene(self.chart())

    def section(self, label: str) -> str:
        """Return its part of a comparison's page, under the label of its run."""
        heading = f"<h3>{escape(one_line(label, 40))}</h3>"
        return heading + paragraph(str(self)) + figured(self, most=MOST_NODES)

    def document(self) -> Document:
        """Return its page."""
        page = Document(f"{self.subject}: {type(self).__name__}", paragraph(str(self)))
        page.add("result", "Result", figured(self, most=MOST_NODES))
        return page

    @property
    def subject(self) -> str:
        """What it is about: the name of a model, or this machine."""
        return "This machine"

    def shared(self) -> Self:
        """Return what others may see of it."""
        return self

    def page_html(self, *, cancel: threading.Event | None = None) -> str:
        """Return the text of its page; `cancel` ends it with a Cancelled."""
        with stopped_by(cancel):
            page = self.document().html()
            stop_if_asked()
        return page

    def export_html(self, path: str | os.PathLike[str], *, cancel: threading.Event | None = None) -> Path:
        """Write it as one HTML file that opens offline, with live figures and views, and asks for nothing.

        `cancel` ends it with a Cancelled; a file that stood at `path` is left as it was.
        """
        return write_atomically(path, self.shared().page_html(cancel=cancel).encode("utf-8"))

    def _in_words(self) -> str:
        """Return the result in sentences, with names as its model or its file gives them."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the sentences without anything that a terminal obeys."""
        return printable(self._in_words(), keep="\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Numbers in words, a picture that survives sharing, a live figure; never HTML."""
        return as_cell(str(self), self.still(), self.figure())


class DrawnTable(Exportable):
    """A sentence with its table and its chart. Columns in `numbers` hold numbers or nothing."""

    def __init__(
        self,
        sentence: str,
        chart: Chart,
        columns: Sequence[str],
        rows: Iterable[tuple[object, ...]],
        numbers: Sequence[str] = (),
    ) -> None:
        self.sentence, self._chart = sentence, chart
        self._columns, self._rows, self._numbers = columns, list(rows), numbers

    def to_frame(self) -> DataFrame:
        """Return a row for each row of the chart."""
        frame = data_frame(self._rows, columns=list(self._columns))
        return frame.astype(dict.fromkeys(self._numbers, "float64"))

    def _in_words(self) -> str:
        return self.sentence

    def chart(self) -> Chart:
        """Return what the figure and the picture draw."""
        return self._chart


def dots(
    title: Sequence[str], axis: str, sizes: Iterable[tuple[str, str, Estimate, str]], none: float = 1.0
) -> Chart:
    """Return a chart with a dot for each (label, series, size, text), and a line at no effect."""
    looks: dict[str, Look] = {}
    rows = []
    for label, series, size, text in sizes:
        look = looks.setdefault(series, series_look(len(looks), series))
        rows.append(one_value(label, value_of(size, text, look)))
    return Chart(tuple(title), (Axis(axis, "dot", (ReferenceLine(none),)),), tuple(rows))
