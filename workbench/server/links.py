"""Links for a notebook: this model in Netron, this profile in speedscope, below whatever the base URL is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from workbench.server import published_files

if TYPE_CHECKING:
    from workbench.analysis.profile.profile import Profile
    from workbench.models import Model

# A browser holds the whole file in memory. Above this, Netron gets the structure without the large weights.
MOST_MODEL_BYTES = 64 << 20
TITLE_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Link:
    """An address below the server's base URL; a page resolves it, since the kernel does not know that URL."""

    label: str
    title: str  # untrusted text
    relative: str
    note: str = ""  # what is left out, in words


def netron_link(model: Model) -> Link:
    """This model in Netron. Files of a large model's weights are not served: its structure is."""
    title = model.name[:TITLE_LENGTH]
    if model.graph_bytes <= MOST_MODEL_BYTES:
        id = published_files.lay_out("netron", model.path, title)
        note = "its weights in separate files are not shown" if model.external else ""
    else:
        id = published_files.new_id()
        place = published_files.folder() / f"{id}.onnx"
        published_files.write_private(place, model.structure.SerializeToString())
        published_files.lay_out("netron", place, title, id=id, made=True)
        note = "its structure without the large weights"
    return Link("Netron", title, f"workbench/netron/{id}/", note)


def speedscope_link(profile: Profile, title: str = "profile") -> Link:
    """This profile in speedscope, every event of it."""
    from workbench.server.spans import speedscope_file

    id, title = published_files.new_id(), title[:TITLE_LENGTH]
    place = published_files.folder() / f"{id}.trace"
    published_files.write_private(place, json.dumps(speedscope_file(profile, title)).encode("utf-8"))
    published_files.lay_out("speedscope", place, title, id=id, made=True)
    told = f"profileURL=trace.json&title={quote(title, safe='')}&view=left-heavy"
    return Link("speedscope", title, f"workbench/speedscope/{id}/#{told}")
