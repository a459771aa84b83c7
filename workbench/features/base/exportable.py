"""What a notebook can show and export: numbers in words, a table, a figure, a picture, a page."""

from __future__ import annotations

import os
import threading
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.core.bundle.atomic import write_atomically
from workbench.core.text import one_line, printable
from workbench.drawing.cell import as_cell
from workbench.drawing.chart_scene import chart_scene
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import MOST_NODES, figured, paragraph, stop_if_asked, stopped_by

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.drawing.chart import Chart
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
