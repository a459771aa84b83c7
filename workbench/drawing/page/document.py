"""The frame of an exported page: its head, which lets nothing load from anywhere, its style, its scripts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from workbench._version import __version__
from workbench.core.text import one_line
from workbench.drawing.page.banner import VERDICT_STYLE as VERDICT
from workbench.drawing.page.pieces import Absent, paragraph, picture, stop_if_asked

if TYPE_CHECKING:
    from workbench.drawing.canvas.base import View

MOST_VIEW_BYTES = 3_000_000  # of one view's data; a larger one is shown as its picture
_WITH_SENTENCE = ("flame",)  # views that show their own sentence


class Document:
    """Sections in order, and the views among them, which share their selection."""

    def __init__(self, title: str, lead: str) -> None:
        self.title, self.lead = one_line(title, 200), lead
        self._sections: list[tuple[str, str, str]] = []
        self._absent: list[tuple[str, str]] = []  # headings of what a page could have, and why it has not
        self._views: list[View] = []

    def add(self, name: str, heading: str, body: str) -> None:
        """Add a section, or a line about one that is absent; `name` is its anchor."""
        if isinstance(body, Absent):
            self._absent.append((heading, body))
        else:
            self._sections.append((name, heading, body))

    def view(self, view: View) -> str:
        """Return a live view, or its picture where its data is too large for a page."""
        from workbench.drawing.canvas.standalone import fragment

        stop_if_asked()
        made = fragment(view, linked="nodes")
        if len(made) > MOST_VIEW_BYTES:
            note = "This view is too large for a page: this is a picture of it; in a notebook it is alive."
            return picture(view.still()) + paragraph(note, "note")
        self._views.append(view)
        return ("" if view.script in _WITH_SENTENCE else paragraph(str(view))) + made

    def html(self) -> str:
        """Return the whole file."""
        rows = "".join(f"<dt>{escape(heading)}</dt><dd>{reason}</dd>" for heading, reason in self._absent)
        sections = [*self._sections, *([("absent", "Not in this page", f"<dl>{rows}</dl>")] if rows else ())]
        body = "".join(
            f'<section id="{name}"><h2>{escape(heading)}</h2>{body}</section>'
            for name, heading, body in sections
        )
        links = "".join(f'<a href="#{name}">{escape(heading)}</a>' for name, heading, _ in sections)
        code = self._scripts()
        head = (
            '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(code)}">\n'
            '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
            '<link rel="icon" href="data:,">\n'  # else a browser asks the server for one
            f"<title>{escape(self.title)}</title>\n<style>{_static('page.css')}\n{VERDICT}</style>"
        )
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n'
            f"<header><h1>{escape(self.title)}</h1>{self.lead}</header>\n<nav>{links}</nav>\n"
            f"<main>{body}</main>\n<footer>ONNX Runtime Tuning Workbench {escape(__version__)}. "
            "This page holds everything that it shows and asks for nothing.</footer>\n"
            f"{code}</body>\n</html>\n"
        )

    def _scripts(self) -> str:
        plots = ""
        if any('class="plot"' in body for _, _, body in self._sections):
            from plotly.offline import get_plotlyjs

            plots = f"<script>{get_plotlyjs()}</script>\n<script>{_static('plots.js')}</script>\n"
        if not self._views:
            return plots
        from workbench.drawing.canvas.standalone import scripts

        return plots + scripts(self._views)


def _policy(code: str) -> str:
    """Return the policy: only our own scripts run, named by their hashes, and nothing is loaded."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in _inline(code)) or "'none'"
    rules = (
        "default-src 'none'", f"script-src {hashes}", "style-src 'unsafe-inline'", "img-src data: blob:",
        "font-src data:", "connect-src 'none'", "base-uri 'none'", "form-action 'none'",
    )  # fmt: skip
    return "; ".join(rules)


def _inline(code: str) -> Iterable[str]:
    """Return the texts of the scripts; splitting five megabytes of plotly is quicker than matching them."""
    return [text.partition("</script>")[0] for text in code.split("<script>")[1:]]


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


def _static(name: str) -> str:
    return files("workbench.drawing.page").joinpath("static", name).read_text(encoding="utf-8")
