"""Text that anybody may have written, as figures show it: one line, short, and never as markup."""

from __future__ import annotations

from html import escape
from textwrap import wrap

MOST_LETTERS = 240  # of one piece of text; a model may be called a megabyte
_MARKS = (("$", "&#36;"), ("%{", "&#37;{"))  # of TeX, and of plotly's templates


def one_line(text: str, most: int = MOST_LETTERS) -> str:
    """Printable, in one line and cut; not escaped yet."""
    line = "".join(
        letter if letter.isprintable() else " " if letter.isspace() else ascii(letter)[1:-1]
        for letter in text[: most + 1]
    )
    line = " ".join(line.split())
    return line if len(text) <= most and len(line) <= 2 * most else f"{line[: most - 1]}…"


def op_name(op_type: str) -> str:
    """Without the name of ORT's own domain, which most fused operators are of."""
    return op_type.removeprefix("com.microsoft::")


def plain(text: str, most: int = MOST_LETTERS) -> str:
    """For plotly, which reads tags, entities, TeX and templates in every text it draws."""
    shown = escape(one_line(text, most), quote=False)
    for mark, entity in _MARKS:
        shown = shown.replace(mark, entity)
    return shown


def lines(text: str, columns: int, most: int = MOST_LETTERS) -> list[str]:
    """Broken for a column of that many letters; not escaped yet."""
    return wrap(one_line(text, most), columns, break_on_hyphens=False)


def plain_lines(text: str, columns: int, most: int = MOST_LETTERS) -> str:
    """For plotly, which does not break lines by itself."""
    return "<br>".join(plain(line, most) for line in lines(text, columns, most))
