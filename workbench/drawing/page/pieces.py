"""Pieces of an exported page: text, tables, figures, views. Every text is escaped here and nowhere else."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from workbench.core.bundle.display import DataFrame, own_names
from workbench.core.errors import Cancelled, WorkbenchError
from workbench.core.html_table import NUMBER, HtmlCell, html_table, scrolling
from workbench.core.text import in_digits, one_line
from workbench.drawing.page.caption import caption_html
from workbench.drawing.titles import take_title

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.drawing.scene import Scene

_MOST_ROWS = 300
MOST_NODES = 200  # rows of a table with one row per node
_MOST_LETTERS = 300  # in a cell
_MOST_PLAIN = 1e15  # a larger number has an exponent
_ABSENT = "–"  # noqa: RUF001  # a dash, as tables have it

_asked_to_stop: ContextVar[threading.Event | None] = ContextVar("asked_to_stop", default=None)


class Drawn(Protocol):
    """What has a figure or a picture, and a table."""

    def figure(self) -> go.Figure | None: ...
    def still(self) -> Scene: ...
    def to_frame(self) -> DataFrame: ...


@contextmanager
def stopped_by(cancel: threading.Event | None) -> Iterator[None]:
    """Let `cancel` end a page that is made in this block before its next figure, table or view."""
    before = _asked_to_stop.set(cancel)
    try:
        yield
    finally:
        _asked_to_stop.reset(before)


def stop_if_asked() -> None:
    """Raise Cancelled where `cancel` is set; called before each piece that takes its time."""
    cancel = _asked_to_stop.get()
    if cancel is not None and cancel.is_set():
        raise Cancelled("The export was cancelled; no file was written.", "Export it again when you want it.")


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph; `kind` is a CSS class of ours."""
    mark = f' class="{kind}"' if kind else ""
    return f"<p{mark}>{escape(one_line(text, 4000))}</p>"


class Absent(str):
    """A paragraph in place of a section."""

    __slots__ = ()


def absent(text: str) -> Absent:
    """Return a paragraph about what is missing and how to get it."""
    return Absent(paragraph(text, "absent"))


def facts(rows: Iterable[tuple[str, object]]) -> str:
    """Return a list of names and values, without those that are None."""
    rows_html = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(one_line(str(value), 400))}</dd>"
        for name, value in rows
        if value is not None
    )
    return f"<dl>{rows_html}</dl>"


def table(frame: DataFrame, caption: str, *, most: int = _MOST_ROWS, opened: bool = False) -> str:
    """Return a table that opens at its caption; a long table is cut, and a sentence says so."""
    stop_if_asked()
    rows = frame.head(most)
    kinds = [kind.kind in "if" for kind in frame.dtypes]
    cells = (map(_cell, row, kinds) for row in rows.itertuples(index=False, name=None))
    heads = [*map(str, frame.columns)]
    numbers = [head for head, is_number in zip(heads, kinds, strict=True) if is_number]
    shown = html_table(heads, cells, longest=_MOST_LETTERS, unexplained=own_names(frame), numbers=numbers)
    count = "1 row" if len(frame) == 1 else f"{len(frame):,} rows"
    cut = paragraph(f"The first {most:,} of {len(frame):,} rows.", "note") if len(frame) > most else ""
    return (
        f"<details{' open' if opened else ''}><summary>{escape(caption)} "
        f'<span class="note">({count})</span></summary>'
        f"{scrolling(shown, caption)}{cut}</details>"
    )


def plot(figure: go.Figure, label: str) -> str:
    """Return a live figure; its data waits for plotly.js, which the page holds once."""
    stop_if_asked()
    content = json.loads(figure.to_json())
    title = caption_html(take_title(content))
    data = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    height, spoken = round(content["layout"].get("height", 450)), escape(one_line(label))
    return (
        f'<figure class="plot" role="group" aria-label="{spoken}" style="min-height:{height}px">'
        f'<figcaption>{title}</figcaption><script type="application/json">{data}</script></figure>'
    )


def picture(scene: Scene) -> str:
    """Return a still picture as SVG."""
    return f'<figure class="picture">{scene.to_svg()}</figure>'


def figured(result: Drawn, *, most: int = _MOST_ROWS) -> str:
    """Return a result's figure, or its picture where it has none, and its table."""
    figure = result.figure()
    drawing = picture(result.still()) if figure is None else plot(figure, str(result))
    return drawing + table(result.to_frame(), "In numbers", most=most)


def attempt(make: Callable[[], str]) -> str:
    """Return what `make` makes, or the reason why it cannot be made."""
    try:
        stop_if_asked()
        return make()
    except Cancelled:
        raise
    except WorkbenchError as error:
        return absent(f"{_sentence(error.problem)} {_sentence(error.fix)}")


def _sentence(text: str) -> str:
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "!", "?", ")")) else f"{whole}."


def _cell(value: Any, is_number: bool) -> object:
    """Return a cell of a table: absent, a truth, a number with the digits that one reads, or a text."""
    if value is None or str(value) in ("<NA>", "NaT") or value != value:  # pandas' own absence has no truth
        return HtmlCell(_ABSENT, ' class="none" title="not known"')
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return HtmlCell(in_digits(value, 5) if abs(value) < _MOST_PLAIN else f"{value:.5g}", NUMBER)
    if isinstance(value, int):
        return HtmlCell(f"{value:,}", NUMBER)
    return HtmlCell(escape(one_line(str(value), _MOST_LETTERS)), NUMBER) if is_number else value
