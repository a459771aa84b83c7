"""A web server on the loopback interface, whose pages the test writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Page:
    """One answer. `claimed` is a Content-Length that may be a lie."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    claimed: int | None = None


@dataclass
class Site:
    """Pages by path, the address that they are at, and what was asked for."""

    address: str
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@contextmanager
def site() -> Iterator[Site]:
    """A site for the length of a with block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def _answer(self, *, body: bool) -> None:
            path = self.path.partition("?")[0]
            here.asked.append(f"{self.command} {path}")
            page = here.pages.get(path, Page(b"not here", 404))
            self.send_response(page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            if page.claimed != -1:
                self.send_header(
                    "Content-Length", str(len(page.body) if page.claimed is None else page.claimed)
                )
            self.end_headers()
            if body:
                with suppress(ConnectionError):  # a client may go when it knows enough
                    self.wfile.write(page.body)

        def log_message(self, *args: object) -> None:
            """Nothing on the screen."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    here = Site(f"http://127.0.0.1:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
