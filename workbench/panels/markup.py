"""Texts as HTML for the panels. Everything is escaped: names, paths and messages may be a stranger's."""

from __future__ import annotations

from html import escape

from workbench.errors import WorkbenchError
from workbench.text import one_line

MOST_LETTERS = 2_000  # of an error that is shown; what ORT says of a failure fits, a megabyte does not


def text(value: object, most: int = MOST_LETTERS) -> str:
    """One printable line, escaped."""
    return escape(one_line(str(value), most))


def span(value: object, kind: str = "") -> str:
    """A line of text with one of our classes."""
    return f'<span class="wbp-{kind}">{text(value)}</span>' if kind else f"<span>{text(value)}</span>"


def error_html(error: Exception, before: str = "") -> str:
    """What is wrong and what to do about it."""
    problem = error.problem if isinstance(error, WorkbenchError) else f"{type(error).__name__}: {error}"
    fix = (
        f'<div class="wbp-fix"><b>Fix:</b> {text(error.fix)}</div>'
        if isinstance(error, WorkbenchError)
        else ""
    )
    start = f"{text(before)} " if before else ""
    return f'<div class="wbp-error" role="alert"><b>✖</b> {start}{text(problem)}{fix}</div>'


def warning_html(problem: str, fix: str) -> str:
    """Something that did not work and harms nothing."""
    return f'<div class="wbp-note" role="status">⚠ {text(problem)} <b>Fix:</b> {text(fix)}</div>'


def bug_html(report: str) -> str:
    """An error that is ours: whole, so that it can be reported."""
    return (
        '<div class="wbp-error" role="alert"><b>✖ This is a bug of the workbench.</b>'
        f"<pre>{escape(report[-8_000:])}</pre></div>"
    )


def note_html(value: object) -> str:
    """A quiet sentence."""
    return f'<div class="wbp-note">{text(value)}</div>'
