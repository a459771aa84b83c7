"""The two viewers' own files: those of the installed netron package, and the speedscope that came along."""

from __future__ import annotations

import gzip
import re
import zipfile
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path

from workbench.server.published_files import Kind, ShelfError

SPEEDSCOPE = "speedscope-1.25.0.zip"
MODEL = "model.onnx"  # what Netron's page asks for, below its own address
TRACE = "trace.json"  # what speedscope's page asks for
WORTH_PACKING_BYTES = 20_000
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".css": "text/css; charset=utf-8",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
}
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\Z")


def viewer_file(kind: Kind, name: str) -> tuple[str, bytes]:
    """Type and content of one file of a viewer. Raises FileNotFoundError for whatever is none."""
    type = TYPES.get(Path(name).suffix)
    if type is None or not _NAME.match(name):
        raise FileNotFoundError(name)
    return type, _netron_file(name) if kind == "netron" else _speedscope_file(name)


@cache
def packed(kind: Kind, name: str) -> bytes | None:
    """The same file compressed, where that is worth it: a hub is far away."""
    type, content = viewer_file(kind, name)
    text = type.startswith(("text/", "application/json"))
    return gzip.compress(content, 6, mtime=0) if text and len(content) > WORTH_PACKING_BYTES else None


def netron_page(title: str) -> bytes:
    """Netron's own page for one model.

    Without a date it does not stop to work half a year after its build; as version 0.0.0 it reports to
    nobody. Its policy stands in our header, and its links to elsewhere are gone.
    """
    page = _netron_file("index.html").decode("utf-8")
    page = re.sub(
        r'<meta (?:http-equiv="Content-Security-Policy"|name="(?:date|version)")[^>]*>\s*', "", page
    )
    page = re.sub(r'href="https?://[^"]*"', 'href="#"', page)
    name = title if title.endswith(".onnx") else f"{title}.onnx"
    told = {"version": "0.0.0", "file": MODEL, "identifier": name}
    metas = "".join(f'<meta name="{key}" content="{escape(value)}">\n' for key, value in told.items())
    head, tag, rest = page.partition("<title>")
    if not tag:
        raise ShelfError("the installed netron has no page that is known here", "pip install 'netron>=8,<10'")
    return f"{head}{metas}{tag}{rest}".encode()


def speedscope_page() -> bytes:
    """Speedscope's own page; which profile it opens stands in the address, and the policy in our header."""
    return _speedscope_file("index.html")


def _netron_file(name: str) -> bytes:
    spec = find_spec("netron")  # not imported: that would import onnx
    if spec is None or not spec.submodule_search_locations:
        raise ShelfError("netron is not installed where this server runs", "pip install 'netron>=8,<10'")
    return Path(spec.submodule_search_locations[0], name).read_bytes()


@cache
def _speedscope_file(name: str) -> bytes:
    with zipfile.ZipFile(Path(__file__).with_name("vendor") / SPEEDSCOPE) as archive:
        try:
            return archive.read(name)
        except KeyError as error:
            raise FileNotFoundError(name) from error
