"""Errors, warnings and bugs as HTML; texts as HTML are made in `drawing.markup`."""

from __future__ import annotations

from html import escape

from workbench.core.errors import Cancelled, WorkbenchError
from workbench.drawing.markup import text


def error_html(error: Exception) -> str:
    """Return the problem and its fix; a run that a person cancelled is no error."""
    if isinstance(error, Cancelled):
        return '<div class="wbp-note wbp-stopped" role="status">Stopped on request.</div>'
    problem, fix = f"{type(error).__name__}: {error}", ""
    if isinstance(error, WorkbenchError):
        problem, fix = error.problem, f'<div class="wbp-fix"><b>Fix:</b> {text(error.fix)}</div>'
    return f'<div class="wbp-error" role="alert"><b>✖</b> {text(problem)}{fix}</div>'


def warning_html(problem: str, fix: str) -> str:
    """Return a warning about something that did not work and does no harm."""
    return f'<div class="wbp-note" role="status">⚠ {text(problem)} <b>Fix:</b> {text(fix)}</div>'


def bug_html(report: str) -> str:
    """Return the traceback of a bug of the workbench, whole, so that it can be reported."""
    return report and (
        '<div class="wbp-error" role="alert"><b>✖ This is a bug of the workbench.</b>'
        f"<pre>{escape(report[-8_000:])}</pre></div>"
    )
