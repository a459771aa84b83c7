"""Untrusted text in figures: one line, short, and never markup."""

from __future__ import annotations

from html import escape
from textwrap import wrap

from workbench.core.text import LINE, one_line

_MARKS = (("$", "&#36;"), ("%{", "&#37;{"))  # of TeX, and of plotly's templates


def op_name(op_type: str) -> str:
    """Return the name without ORT's own domain, which most fused operators have."""
    return op_type.removeprefix("com.microsoft::")


def plain(text: str, most: int = LINE) -> str:
    """Escape a text for plotly, which reads tags, entities, TeX and templates in every text."""
    shown = escape(one_line(text, most), quote=False)
    for mark, entity in _MARKS:
        shown = shown.replace(mark, entity)
    return shown


def lines(text: str, columns: int, most: int = LINE) -> list[str]:
    """Break a text for a column of `columns` letters; not escaped yet."""
    return wrap(one_line(text, most), columns, break_on_hyphens=False)


def plain_lines(text: str, columns: int, most: int = LINE) -> str:
    """Break and escape a text for plotly, which does not break lines by itself."""
    return "<br>".join(plain(line, most) for line in lines(text, columns, most))
