"""Texts as HTML. Everything is escaped: names, paths and messages may come from strangers."""

from __future__ import annotations

from html import escape

from workbench.core.text import one_line

_MOST_LETTERS = 2_000  # of an error; ORT's message of a failure fits, a megabyte does not


def text(value: object, most: int = _MOST_LETTERS) -> str:
    """Return one printable line, escaped."""
    return escape(one_line(str(value), most))


def note_html(value: object) -> str:
    """Return a note in small letters."""
    return f'<div class="wbp-note">{text(value)}</div>'


def message_html(head: str, evidence: str, fix: str) -> str:
    """Return what was seen and what to do about it."""
    return f"<b>{text(head)}</b> {text(evidence)} <i>Fix:</i> {text(fix)}"


def tooltip(value: object) -> str:
    """Return the attribute that shows a text where the mouse rests; empty for an empty text."""
    return f' title="{text(value)}"' if value else ""


def bar_html(words: str, share: float | None) -> str:
    """Return what is being done, with a bar: one without an end where the share is not known."""
    value = "" if share is None else f'value="{share:.3f}"'
    return (
        f'<div class="wbp-doing">{text(words)}</div>'
        f'<progress class="wbp-progress" max="1" {value} aria-label="progress"></progress>'
    )
