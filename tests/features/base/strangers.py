"""Results and bundles whose every text is a stranger's attempt to be more than a text."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_type_hints

import workbench as wb
from tests.core.bundle.hostile import zipped
from workbench.core.bundle.bundle import Bundle, unpack_record
from workbench.core.errors import WorkbenchError
from workbench.features.base.registry import KINDS

ATTEMPT = (
    "\"'><img src=x onerror=window.hacked=1><a href='javascript:window.hacked=1'>go</a><b>bold</b>"
    "</script><script>window.hacked=1</script><!--{{7*7}}$\\alpha$%{y}=HYPERLINK(1)\u202e\u2028"
)

ESCAPE = "\x1b]0;pwned\x07"  # what a terminal obeys
FOR_PLOTLY = ("<img", "<a ", "<script", "<b>bold", "$\\alpha$", "%{y}=")  # what it would take for its own
GOLDEN = sorted((Path(__file__).parents[2] / "core" / "bundle" / "golden").glob("*-2.ortbench"))

FIXED = {  # a bundle in which these have another form is refused
    *("id", "created_utc", "sha256", "label", "labels", "winner", "best", "other_args"),
}
NAMELESS = {  # their sentences repeat no name
    *("ablation", "cold start", "comparison", "memory", "peaks", "profile", "roofline", "thread scaling"),
}
NAMELESS_PAGES = {"cold start", "peaks", "profile"}  # nor do the pages of their examples,
NAMELESS_FIGURES = NAMELESS_PAGES | {"memory", "load test", "deployment"}  # nor their figures


class Taken(HTMLParser):
    """What a browser would take for an element or an attribute, though it was meant as text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        leaves = [values[name] or "" for name in ("src", "href") if name in values]
        if any(not where.startswith(("#", "data:")) for where in leaves):
            self.found.append(str(self.get_starttag_text()))
        self.found += [f"{tag} {name}" for name in values if name.startswith("on")]


def texts_of(data: Any) -> Iterator[str]:
    """Every text in JSON."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from texts_of(value)


types_of = cache(get_type_hints)


def strange(value: Any, name: str = "") -> Any:
    """Return a record whose free texts end in attempts, the same text always in the same ones."""
    if isinstance(value, str):
        return value if name in FIXED else f"{value}{ESCAPE}{ATTEMPT}"
    if isinstance(value, tuple):
        return tuple(strange(item, name) for item in value)
    if not is_dataclass(value) or isinstance(value, wb.Config):
        return value
    allowed = types_of(type(value))
    changes = {
        field.name: strange(getattr(value, field.name), field.name)
        for field in fields(value)
        if field.init and "Literal" not in str(allowed[field.name])
    }
    return replace(value, **changes)  # type: ignore[type-var]


def stranger_s(plain: Any) -> Any:
    """Return a result as a stranger's bundle would give it."""
    parts = tuple(replace(part, record=strange(part.record)) for part in plain.parts)
    return type(plain).reopened(strange(plain.saved), plain.about, structure=None, parts=parts)


def poisoned(path: Path) -> tuple[Bundle, bytes]:
    """The golden bundle, with as many of its texts replaced as it takes to open all the same.

    A text that stands in several places becomes the same attempt in all of them, so what refers to what
    stays; the words of the format (kinds, units, hashes) are found by the refusal and are left alone.
    """
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    documents = {name: json.loads(blob) for name, blob in members.items() if name.endswith(".json")}
    accepted: set[str] = set()
    waiting = [sorted({text for data in documents.values() for text in texts_of(data)})]
    while waiting:
        asked = waiting.pop()
        if _opens(members, documents, accepted | set(asked)):
            accepted |= set(asked)
        elif len(asked) > 1:
            half = len(asked) // 2
            waiting += [asked[half:], asked[:half]]
    assert accepted
    blob = _with(members, documents, accepted)
    return unpack_record(blob, KINDS), blob


def _opens(members: dict[str, bytes], documents: dict[str, Any], texts: set[str]) -> bool:
    try:
        unpack_record(_with(members, documents, texts), KINDS)
    except WorkbenchError:
        return False
    return True


def _with(members: dict[str, bytes], documents: dict[str, Any], texts: set[str]) -> bytes:
    made = {name: json.dumps(_replaced(data, texts)).encode() for name, data in documents.items()}
    return zipped({**members, **made})


def _replaced(data: Any, texts: set[str]) -> Any:
    if isinstance(data, str):
        return ATTEMPT + data if data in texts else data
    if isinstance(data, dict):
        return {key: _replaced(value, texts) for key, value in data.items()}
    if isinstance(data, list):
        return [_replaced(value, texts) for value in data]
    return data
