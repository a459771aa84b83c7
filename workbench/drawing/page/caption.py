"""The title of a figure as HTML: it wraps to its width, and the rest unfolds behind an i in a circle."""

from __future__ import annotations

import re
from html import escape

from workbench.core.text import one_line
from workbench.drawing.titles import Title

_MOST_LETTERS = 1_000
_NAMED = re.compile(r"[^\s:;]+[:;] ")  # a model's name is never changed


def caption_html(title: Title) -> str:
    """Return the title, empty where there is none."""
    if title.is_empty:
        return ""
    head = f"<b>{_text(title.head)}</b> " if title.head else ""
    rest = f'<span class="c-rest">{_text(title.rest)}</span>' if title.rest else ""
    style = "c-title" if head or rest else "c-title c-bare"
    return f'<div class="{style}">{head}{_more(title.more)}{rest}</div>'


def _more(texts: tuple[str, ...]) -> str:
    if not texts:
        return ""
    listed = "".join(f"<div>{_text(text)}</div>" for text in texts)
    return (
        '<details class="c-more"><summary title="More about this figure" aria-label="more about this figure">'
        f"i</summary><div>{listed}</div></details> "
    )


def _text(text: str) -> str:
    """Return the text with a capital letter, unless it begins with a name such as "digits-conv: …"."""
    named = _NAMED.match(text) is not None
    return escape(one_line(text if named else text[:1].upper() + text[1:], _MOST_LETTERS))
