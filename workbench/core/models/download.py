"""Download of a model from an http(s) address into the cache: bounded, checked, never partial."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import threading
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urljoin, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPRedirectHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from workbench.core import home
from workbench.core.background import in_background
from workbench.core.errors import DownloadError, ModelError
from workbench.core.models.external import beside_locations
from workbench.core.models.fingerprint import file_sha256
from workbench.core.models.sniff import HEAD_BYTES, not_onnx
from workbench.core.models.structure import read_structure
from workbench.core.models.transfer import Progress, Sockets, Watch
from workbench.core.stored_files import check_regular, trim
from workbench.core.text import bytes_text, has_login, public_address, shorten

_CHUNK_BYTES = 1 << 18
_STALL_S = 30.0  # a server silent for this long counts as dead
SLOW_SERVER_S = 60.0  # a server that sends almost nothing for this long counts as dead too
_PIN = re.compile(r"sha256=([0-9a-fA-F]{64})")
_NOTE = ".beside.json"  # the hashes of the weight files beside a pinned model
_SAFE_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def download(
    address: str,
    progress: Progress | None,
    max_bytes: int,
    timeout_s: float,
    cancel: threading.Event | None = None,
) -> Path:
    """Download the model at the address and its weight files into the cache; return the model's path."""
    url, _, fragment = address.partition("#")
    if has_login(address):
        raise DownloadError(
            f"{shorten(public_address(address))} was given with a user or a password, which are not sent",
            "Leave them out, or download the file yourself and load its path",
        )
    try:
        urlsplit(url)
    except ValueError as error:
        raise DownloadError(
            f"{shorten(public_address(url))!r} is no address: {error}", "Check the address"
        ) from error
    pin = _pin(address, fragment)
    label = shorten(public_address(url))
    fetch = _Fetch(max_bytes)
    watch = Watch(label, timeout_s, progress, SLOW_SERVER_S)
    work = partial(_fetch_all, fetch, url, pin, watch)
    with in_background(work, "download", cancel) as task, closing(fetch.sockets):
        path = task.result(watch.check)
    watch.report()
    trim(path.parents[1])
    return path


def _fetch_all(fetch: _Fetch, url: str, pin: str | None, watch: Watch, stop: threading.Event) -> Path:
    folder = home.cache_folder() / "downloads" / hashlib.sha256(url.encode()).hexdigest()[:16]
    path = folder / _file_name(url)
    if not (pin and path.exists() and file_sha256(path, stop) == pin):
        fetch.to(url, path, pin, watch, check=True)
    known = _hashes_beside(folder, pin)
    locations = beside_locations(read_structure(path), path.name, shorten(public_address(url)))
    for location in locations:
        beside = folder / location
        if not (location in known and beside.exists() and file_sha256(beside, stop) == known[location]):
            known[location] = fetch.to(urljoin(url, quote(location)), beside, None, watch, check=False)
    if pin and locations:
        note = {"model": pin, "beside": {location: known[location] for location in locations}}
        (folder / _NOTE).write_text(json.dumps(note), encoding="utf-8")
    return path


def _hashes_beside(folder: Path, pin: str | None) -> dict[str, str]:
    """Return the hashes of the weight files as they came with the pinned model; empty without a pin."""
    try:
        check_regular(folder / _NOTE)
        note = json.loads((folder / _NOTE).read_text(encoding="utf-8")) if pin else {}
        return dict(note["beside"]) if note["model"] == pin else {}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return {}


class SafeRedirects(HTTPRedirectHandler):
    """A redirect handler that refuses a redirect from https to http or to any other scheme."""

    def redirect_request(  # type: ignore[no-untyped-def]
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str
    ):
        scheme = urlsplit(newurl).scheme
        if scheme not in ("http", "https") or (req.type == "https" and scheme == "http"):
            raise DownloadError(
                f"{shorten(public_address(req.full_url))} redirects to an unsafe {shorten(scheme)}: address",
                "Give the final https address, or download the file yourself and load its path",
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Fetch:
    """The files of one model, with one bound for all."""

    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes
        self._max = max_bytes
        self.sockets = Sockets()
        self._opener = OpenerDirector()
        for handler in (
            ProxyHandler(),
            self.sockets,
            SafeRedirects(),
            HTTPDefaultErrorHandler(),
            HTTPErrorProcessor(),
        ):
            self._opener.add_handler(handler)

    def to(self, url: str, path: Path, pin: str | None, watch: Watch, *, check: bool) -> str:
        """Download into a temporary file beside `path`; rename it only once it is complete and verified.

        Return its SHA-256.
        """
        label = shorten(public_address(url))
        temporary: Path | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            watch.begin()
            request = Request(url, headers={"User-Agent": "ort-workbench", "Accept-Encoding": "identity"})
            with (
                self._opener.open(request, timeout=_STALL_S) as response,
                NamedTemporaryFile(dir=path.parent, prefix=".part-", delete=False) as file,
            ):
                temporary = Path(file.name)
                digest = self._copy(response, file, label, watch)
            if pin and digest != pin:
                raise DownloadError(
                    f"{label} has the SHA-256 {digest}, not the {pin} that was asked for",
                    "Check the address and the hash; the file may have been replaced",
                )
            if check:
                _check_head(temporary, label)
            temporary.replace(path)
            return digest
        except HTTPError as error:
            raise DownloadError(
                f"{label}: the server answers {error.code} {shorten(error.reason)}", _status_fix(error.code)
            ) from error
        except (URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            reason = getattr(error, "reason", None) or error
            raise DownloadError(
                f"{label} cannot be reached: {shorten(str(reason), 200)}", _offline_fix(path)
            ) from error
        except (OSError, ValueError) as error:
            raise DownloadError(
                f"{label} cannot be fetched: {shorten(str(error), 200)}",
                "Check the address and the room on the disk",
            ) from error
        finally:
            watch.end()
            if temporary is not None:
                temporary.unlink(missing_ok=True)

    def _copy(self, response: http.client.HTTPResponse, file: IO[bytes], label: str, watch: Watch) -> str:
        length = response.headers.get("Content-Length") or ""
        total = int(length) if re.fullmatch("[0-9]{1,18}", length) else None
        if total is not None and total > self._left:
            raise self._too_large(label, total)
        digest, done = hashlib.sha256(), 0
        while chunk := response.read1(_CHUNK_BYTES):
            done += len(chunk)
            if done > self._left:
                raise self._too_large(label, done)
            file.write(chunk)
            digest.update(chunk)
            watch.note(len(chunk), done, total)
        if total is not None and done != total:
            raise DownloadError(
                f"{label} broke off after {done:,} of {total:,} bytes; nothing of it was kept", "Try again"
            )
        self._left -= done
        return digest.hexdigest()

    def _too_large(self, label: str, size: int) -> DownloadError:
        return DownloadError(
            f"{label} has {bytes_text(size)} or more, above the bound of {bytes_text(self._max)}",
            "If that is right, allow it with load(..., max_bytes=...)",
        )


def _pin(address: str, fragment: str) -> str | None:
    if not fragment:
        return None
    match = _PIN.fullmatch(fragment)
    if match is None:
        raise DownloadError(
            f"{shorten(public_address(address))} ends in '#{shorten(fragment)}', which is no hash",
            "End it in #sha256= and 64 hex digits, or in nothing",
        )
    return match[1].lower()


def _file_name(url: str) -> str:
    last = unquote(urlsplit(url).path).rpartition("/")[2]
    stem = _SAFE_NAME.sub("_", last.removesuffix(".onnx")).lstrip(".")[:80]
    return f"{stem or 'model'}.onnx"


def _check_head(path: Path, label: str) -> None:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    other = not_onnx(head)
    if other is not None:
        raise ModelError(f"{label} sent no ONNX model: it is {other[0]}", other[1])
    if not head:
        raise ModelError(f"{label} sent nothing (0 bytes)", "Check the address")


def _status_fix(code: int) -> str:
    if code in (401, 403):
        return "The address needs a login: download the file yourself and load its path"
    if code in (404, 410):
        return "Check the address: there is no such file"
    return "Try again later, or download the file yourself and load its path"


def _offline_fix(path: Path) -> str:
    if path.exists():
        return f"Check the connection, or load the copy fetched earlier: {path}"
    return "Check the address and the connection, or download the file elsewhere and load its path"
