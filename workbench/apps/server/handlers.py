"""Addresses below `{base URL}workbench/`: a page for each model or profile, and the files that it needs."""

from __future__ import annotations

import asyncio
import logging
from html import escape
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web
from tornado.iostream import StreamClosedError

from workbench._version import __version__
from workbench.apps.server import published_files
from workbench.apps.server.files import MODEL, TRACE, netron_page, packed, viewer_file
from workbench.apps.server.published_files import Kind, PublishedError

_CHUNK_BYTES = 1 << 20
AUTH_RESOURCE = "contents"
DATA: dict[Kind, str] = {"netron": MODEL, "speedscope": TRACE}
# The pages load nothing from other sites and send nothing there. The viewers style by attribute and draw to
# blobs.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src 'self' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    ]
)


class Served(JupyterHandler):
    """Base of our handlers: the login, the policy and the headers."""

    auth_resource = AUTH_RESOURCE

    @property
    def content_security_policy(self) -> str:
        return POLICY

    def check_xsrf_cookie(self) -> None:
        """Let scripts of the viewers read with the login alone; nothing here can be written.

        JupyterHub asks a script for a token even to read, since pages of other users may have the same
        origin. They cannot know the random id in the address of a model or a profile; the status has no more
        than a version.
        """

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.set_header("Cross-Origin-Opener-Policy", "same-origin")
        self.set_header("Cache-Control", "no-store")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Write the problem and its fix, without anything about the machine."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        cause = error.__cause__ if error is not None else None
        why = str(cause) if isinstance(cause, PublishedError) else f"{status_code}: {self._reason}"
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(f"<!DOCTYPE html><title>Workbench</title><pre>{escape(why)}</pre>")


class Status(Served):
    """The handler that reports to a page that this extension is loaded."""

    @web.authenticated
    @authorized
    def get(self) -> None:
        self.finish({"workbench": __version__})


class Viewer(Served):
    """The handler of a viewer's page below the address of one entry, and of the files that the page loads."""

    @web.authenticated
    @authorized
    async def get(self, kind: Kind, id: str, name: str) -> None:
        try:
            entry = published_files.find(id, kind)
            if name == "":
                self._page(entry)
            elif name == DATA[kind]:
                await self._data(entry)
            else:
                self._file(kind, name)
        except (PublishedError, FileNotFoundError) as error:
            raise web.HTTPError(404) from error

    def _page(self, entry: published_files.PublishedFile) -> None:
        self.set_header("Content-Type", "text/html; charset=utf-8")
        # Without this cookie Netron asks for leave to report to its makers; the copy served here reports
        # nothing. The cookie covers this address only and ends with the browser session.
        if entry.kind == "netron":
            self.set_cookie("consent", "1", path=self.request.path, samesite="Strict")
            self.finish(netron_page(entry.title))
        else:  # the address names the profile
            self.finish(viewer_file(entry.kind, "index.html")[1])

    async def _data(self, entry: published_files.PublishedFile) -> None:
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Content-Disposition", f'attachment; filename="{DATA[entry.kind]}"')
        self.set_header("Content-Length", str(entry.size_bytes))
        with published_files.open_file(entry) as file:
            while chunk := await asyncio.to_thread(file.read, _CHUNK_BYTES):
                self.write(chunk)
                try:
                    await self.flush()
                except StreamClosedError:
                    logging.getLogger(__name__).debug("the page was closed while its model was sent")
                    return
        await self.finish()

    def _file(self, kind: Kind, name: str) -> None:
        type, content = viewer_file(kind, name)
        self.set_header("Content-Type", type)
        self.set_header("Cache-Control", "private, max-age=3600")
        self.set_header("Vary", "Accept-Encoding")
        small = packed(kind, name) if "gzip" in self.request.headers.get("Accept-Encoding", "") else None
        if small is not None:
            self.set_header("Content-Encoding", "gzip")
        self.finish(content if small is None else small)


def routes(base_url: str) -> list[tuple[str, type[JupyterHandler]]]:
    """Return our addresses with their handlers."""
    kinds = "|".join(published_files.KINDS)
    return [
        (url_path_join(base_url, "workbench", "status"), Status),
        (url_path_join(base_url, "workbench", rf"({kinds})/([A-Za-z0-9_-]+)/([^/]*)"), Viewer),
    ]
