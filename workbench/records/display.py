"""Small HTML tables of records. Every text may come from an untrusted file, so every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.config import Config

_LONGEST = 200  # characters in a cell: a name can be a megabyte
ABSENT = "not known"
FILE = "prepared file"  # says itself what it is: not "precision prepared file"


def to_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    caption: str,
    longest: int = _LONGEST,
    *,
    left: bool = False,
) -> str:
    """Return an HTML table with texts of at most `longest` characters; None is shown as absent.

    JupyterLab sets cells to the right, as for numbers; `left` is for tables of sentences.
    """
    start = '<td style="text-align: left">' if left else "<td>"
    head = "".join(f"<th>{_breakable(title)}</th>" for title in heads)
    body = "".join(
        f"<tr>{''.join(f'{start}{_cell(value, longest)}</td>' for value in row)}</tr>" for row in rows
    )
    return (
        f"<table><caption>{escape(one_line(caption, longest))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


@lru_cache(maxsize=4096)  # a search asks for the same configs again and again
def config_in_words(config: Config) -> str:
    """Return the settings of a config as a short text."""
    changes = type(config)().diff(config).changes
    texts = ((change.what, str(change.after)) for change in changes)
    words = (after if after.startswith((what, FILE)) else f"{what} {after}" for what, after in texts)
    return ", ".join(words) or "ORT defaults"


def _breakable(title: str) -> str:
    """Return an escaped head that may break after an underscore: a column is no wider than its cells need."""
    return escape(title).replace("_", "_<wbr>")


def _cell(value: object, longest: int) -> str:
    return ABSENT if value is None else escape(one_line(str(value), longest))
