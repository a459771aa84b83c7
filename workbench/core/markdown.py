"""Markdown for a page of others; texts come from strangers, and none of them marks up or links anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workbench.core.text import in_digits, one_line

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|!&])")
_WORDS = {True: "yes", False: "no", None: "not known"}
_LONGEST = 600


def without_markup(value: object) -> str:
    """Return a value in one line, without markup."""
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    text = in_digits(value, 3) if isinstance(value, float) else str(value)
    return _MARKUP.sub(r"\\\1", one_line(text, _LONGEST))


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table."""
    lines = [f"| {' | '.join(map(without_markup, row))} |" for row in (heads, *rows)]
    return [lines[0], f"|{'---|' * len(heads)}", *lines[1:]]


def markdown_section(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return the lines of a table under its title, or nothing where it has no rows."""
    return ["", f"## {title}", "", *markdown_table(heads, rows)] if rows else []
