"""Links for a notebook, below any base URL, with their button: a model in Netron, a profile in speedscope."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

import anywidget
import traitlets as t

import workbench as wb
from workbench.apps.server import published_files
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.core.models import Model

# A browser holds the whole file in memory: Netron shows a larger model without large weights.
MOST_MODEL_BYTES = 64 << 20
TITLE_LENGTH = 120
_STATIC = files("workbench.apps.server") / "static"


@dataclass(frozen=True, slots=True)
class Link:
    """An address below the base URL, which the page adds, since only the page knows the base URL."""

    label: str
    title: str  # untrusted text
    relative: str
    note: str = ""  # facts that the viewer does not show


class LinkButton(anywidget.AnyWidget):
    """A button that opens a `Link` in a new browser tab; its script says why a link cannot open."""

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


def netron_link(model: Model) -> Link:
    """Return the link to a model in Netron; a large model is served without the weights."""
    title = one_line(model.name, TITLE_LENGTH)
    if model.graph_bytes <= MOST_MODEL_BYTES:
        id = published_files.publish("netron", model.path, title)
        note = "its weights in separate files are not shown" if model.external else ""
    else:
        id = published_files.new_id()
        place = published_files.folder() / f"{id}.onnx"
        published_files.write_private(place, model.structure.SerializeToString())
        published_files.publish("netron", place, title, id=id, made=True)
        note = "its structure without the large weights"
    return Link("Netron", title, f"workbench/netron/{id}/", note)


def speedscope_link(profile: wb.Profile, title: str = "profile") -> Link:
    """Return the link to a profile in speedscope, with every event."""
    from workbench.apps.server.spans import speedscope_file

    id, title = published_files.new_id(), one_line(title, TITLE_LENGTH)
    place = published_files.folder() / f"{id}.trace"
    published_files.write_private(place, json.dumps(speedscope_file(profile, title)).encode("utf-8"))
    published_files.publish("speedscope", place, title, id=id, made=True)
    query = f"profileURL=trace.json&title={quote(title, safe='')}&view=left-heavy"
    return Link("speedscope", title, f"workbench/speedscope/{id}/#{query}")
