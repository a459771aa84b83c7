"""The HTML table of every result, page and panel. Texts are escaped: they may come from strangers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from workbench.core.glossary import explained
from workbench.core.text import one_line

ABSENT = "not known"
NUMBER = ' class="number"'  # of a cell and of the head above it
_LONGEST = 200  # characters in a cell: a name can be a megabyte
_LONGEST_FACT = 2_000
_LEFT = ' style="text-align: left"'  # JupyterLab sets cells to the right, as for numbers


@dataclass(frozen=True, slots=True)
class HtmlCell:
    """A cell that is HTML already; `marks` are the attributes of its element."""

    html: str
    marks: str = ""
    names_row: bool = False

    @classmethod
    def naming(cls, text: str) -> HtmlCell:
        """Return the cell that names its row."""
        return cls(escape(one_line(text, _LONGEST_FACT)), _LEFT, names_row=True)

    @classmethod
    def of_lines(cls, text: str) -> HtmlCell:
        """Return a cell with a text as the lines that it has."""
        return cls("<br>".join(escape(one_line(line, _LONGEST_FACT)) for line in text.split("\n")), _LEFT)


def html_table(
    heads: Sequence[str],
    rows: Iterable[Iterable[object]],
    caption: str = "",
    longest: int = _LONGEST,
    *,
    left: bool = False,
    kind: str = "",
    unexplained: Collection[str] = (),
    numbers: Collection[str] = (),
) -> str:
    """Return a table with texts of at most `longest` characters; None is shown as absent.

    A head that the glossary knows has a tooltip, unless it is `unexplained`: a model's own name.
    `left` is for tables of sentences, `kind` a CSS class; heads of `numbers` have the class of their cells.
    """
    marks, marked = _LEFT if left else "", f' class="{kind}"' if kind else ""
    named = f"<caption>{escape(one_line(caption, longest))}</caption>" if caption else ""
    titles = (
        _head(title, "" if title in unexplained else explained(title), NUMBER if title in numbers else "")
        for title in heads
    )
    head = f"<thead><tr>{''.join(titles)}</tr></thead>" if heads else ""
    body = "".join(f"<tr>{''.join(_cell(value, longest, marks) for value in row)}</tr>" for row in rows)
    return f"<table{marked}>{named}{head}<tbody>{body}</tbody></table>"


def facts_table(facts: Iterable[Sequence[str]], caption: str = "", kind: str = "") -> str:
    """Return a table with a name and a text in each row."""
    rows = ((HtmlCell.naming(name), HtmlCell.of_lines(text)) for name, text in facts)
    return html_table((), rows, caption, kind=kind)


def scrolling(table: str, label: str, kind: str = "scroll") -> str:
    """Return a table in a region that scrolls where the page is narrower; `kind` is its CSS class."""
    spoken = escape(one_line(label))
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="{spoken}">{table}</div>'


def _head(title: str, help: str, marks: str) -> str:
    """Return a head that may break after an underscore: a column is no wider than its cells need."""
    tooltip = f' title="{escape(help)}"' if help else ""
    return f'<th scope="col"{marks}{tooltip}>{escape(one_line(title)).replace("_", "_<wbr>")}</th>'


def _cell(value: object, longest: int, marks: str) -> str:
    if not isinstance(value, HtmlCell):
        text = ABSENT if value is None else escape(one_line(str(value), longest))
        return f"<td{marks}>{text}</td>"
    if value.names_row:
        return f'<th scope="row"{value.marks}>{value.html}</th>'
    return f"<td{value.marks}>{value.html}</td>"
