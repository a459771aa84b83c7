"""Limits of a running download: time, a minimum rate, and connections that can be closed."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias
from urllib.request import HTTPHandler, HTTPSHandler, Request

from workbench.core.errors import DownloadError
from workbench.core.text import bytes_text

Progress: TypeAlias = Callable[[int, int | None], None]  # bytes so far, total bytes if known
_LEAST_BYTES = 16 << 10  # per period of a Watch: a modem sends more, a hostile server may not


class Watch:
    """Progress of a download, reported and checked in the thread that waits for it."""

    def __init__(self, label: str, timeout_s: float, progress: Progress | None, slow_s: float) -> None:
        """Prepare the watch. `slow_s`: how long the download may stay below the minimum rate."""
        self._label, self._timeout_s, self._progress, self._slow_s = label, timeout_s, progress, slow_s
        self._began = time.monotonic()
        self._window: tuple[float, int, float] | None = None  # start, bytes received by then, seconds
        self._received = 0  # over all files
        self._latest: tuple[int, int | None] | None = None

    def begin(self, slow_s: float | None = None) -> None:
        """Expect bytes from now on. The download's thread calls this method, `note` and `end`."""
        self._window = time.monotonic(), self._received, slow_s or self._slow_s

    def note(self, added: int, done: int, total: int | None) -> None:
        """Count the received bytes, in all and of the current file."""
        self._received += added
        self._latest = done, total

    def end(self) -> None:
        """Expect no more bytes: the file is complete."""
        self._window = None

    def report(self) -> None:
        """Call the user's progress callback if there is new progress."""
        latest, self._latest = self._latest, None
        if latest is not None and self._progress is not None:
            self._progress(*latest)

    def check(self) -> None:
        """Report; raise DownloadError if the download takes too long or almost nothing arrives."""
        self.report()
        now = time.monotonic()
        if now - self._began > self._timeout_s:
            raise DownloadError(
                f"{self._label} was not there after {self._timeout_s:,.0f} s; "
                f"{bytes_text(self._received)} had come",
                "Allow more time with load(..., timeout_s=…), or download it elsewhere and load its path",
            )
        window = self._window
        if window is not None and now - window[0] > window[2]:
            if self._received - window[1] < _LEAST_BYTES:
                raise DownloadError(
                    f"{self._label}: the server sent less than {bytes_text(_LEAST_BYTES)} in {window[2]:g} s",
                    "Try again later, or download the file elsewhere and load its path",
                )
            self.begin()


class Sockets(HTTPHandler, HTTPSHandler):
    """urllib's handler that knows the connections of one download: another thread can end a blocked read."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[socket.socket] = []
        self._closed = False

    def http_open(self, req: Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_HttpConnection, sockets=self), req)

    def https_open(self, req: Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_HttpsConnection, sockets=self), req)

    def add(self, connected: socket.socket) -> None:
        self._open.append(connected)
        if self._closed:
            self.close()

    def close(self) -> None:
        self._closed = True
        for connected in self._open:
            with suppress(OSError):  # the server closed the connection first
                connected.shutdown(socket.SHUT_RDWR)


class _HttpConnection(http.client.HTTPConnection):
    def __init__(self, *args: Any, sockets: Sockets, **options: Any) -> None:
        super().__init__(*args, **options)
        self._sockets = sockets

    def connect(self) -> None:
        super().connect()
        self._sockets.add(self.sock)


class _HttpsConnection(_HttpConnection, http.client.HTTPSConnection):
    pass
