"""The files of both viewers: the installed netron package, and the speedscope in this package."""

from __future__ import annotations

import gzip
import re
import zipfile
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path

from workbench.apps.server.published_files import Kind, PublishedError

SPEEDSCOPE = "speedscope-1.25.0.zip"
MODEL = "model.onnx"  # requested by Netron's page, below its own address
TRACE = "trace.json"  # requested by speedscope's page
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
_NAME = re.compile(r"(?=.{1,100}\Z)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\Z")


def viewer_file(kind: Kind, name: str) -> tuple[str, bytes]:
    """Return type and content of one file of a viewer; raise FileNotFoundError for any other name."""
    type = TYPES.get(Path(name).suffix)
    if type is None or not _NAME.match(name):
        raise FileNotFoundError(name)
    return type, _netron_file(name) if kind == "netron" else _speedscope_file(name)


@cache
def packed(kind: Kind, name: str) -> bytes | None:
    """Return the file compressed for a distant hub, or None if compression gains too little."""
    type, content = viewer_file(kind, name)
    text = type.startswith(("text/", "application/json"))
    return gzip.compress(content, 6, mtime=0) if text and len(content) > WORTH_PACKING_BYTES else None


def netron_page(title: str) -> bytes:
    """Return Netron's own page for one model.

    A page without a date does not expire half a year after its build; version 0.0.0 reports to nobody. Our
    header holds the policy of the page, and links to other sites are removed.
    """
    page = _netron_file("index.html").decode("utf-8")
    page = re.sub(
        r'<meta (?:http-equiv="Content-Security-Policy"|name="(?:date|version)")[^>]*>\s*', "", page
    )
    page = re.sub(r'href="https?://[^"]*"', 'href="#"', page)
    name = title if title.endswith(".onnx") else f"{title}.onnx"
    values = {"version": "0.0.0", "file": MODEL, "identifier": name}
    metas = "".join(f'<meta name="{key}" content="{escape(value)}">\n' for key, value in values.items())
    head, tag, rest = page.partition("<title>")
    if not tag:
        raise PublishedError(
            "the page of the installed netron is of an unknown version", "pip install 'netron>=8,<10'"
        )
    return f"{head}{metas}{tag}{rest}".encode()


def _netron_file(name: str) -> bytes:
    spec = find_spec("netron")  # without an import, which would import onnx
    if spec is None or not spec.submodule_search_locations:
        raise PublishedError("netron is not installed where this server runs", "pip install 'netron>=8,<10'")
    return Path(spec.submodule_search_locations[0], name).read_bytes()


@cache
def _speedscope_file(name: str) -> bytes:
    with zipfile.ZipFile(Path(__file__).with_name("vendor") / SPEEDSCOPE) as archive:
        try:
            return archive.read(name)
        except KeyError as error:
            raise FileNotFoundError(name) from error
