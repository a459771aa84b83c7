"""A link as a widget, which finds the server's base URL in the page and says why a link cannot open."""

from __future__ import annotations

from importlib.resources import files
from typing import ClassVar

import anywidget
import traitlets as t

from workbench.server.links import Link

_STATIC = files("workbench.server") / "static"


class LinkButton(anywidget.AnyWidget):
    """A button that opens a `Link` in a new browser tab, disabled without a link."""

    _esm: ClassVar[str] = (_STATIC / "button.js").read_text(encoding="utf-8")
    _css: ClassVar[str] = (_STATIC / "button.css").read_text(encoding="utf-8")

    label = t.Unicode("").tag(sync=True)
    relative = t.Unicode("").tag(sync=True)
    hint = t.Unicode("").tag(sync=True)

    def __init__(self, link: Link | None = None, label: str = "") -> None:
        super().__init__(label=label)
        self.show(link)

    def show(self, link: Link | None) -> None:
        """Set the link that the button opens; None disables the button."""
        if link is None:
            self.relative, self.hint = "", "Nothing to open yet"
            return
        subject = f"{link.title} in {link.label}"
        self.label = self.label or link.label
        self.hint = f"Open {subject}: {link.note}" if link.note else f"Open {subject}"
        self.relative = link.relative
