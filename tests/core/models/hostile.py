"""Servers that never finish: each sends its pieces, a moment apart, for as long as the client listens."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

PAUSE_S = 0.02
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
ENDLESS: dict[str, tuple[bytes, bytes]] = {  # what comes first, and what is repeated then
    "headers": (b"HTTP/1.1 200 OK\r\nX-Drip: ", b"a"),
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "chunk extensions": (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a"),
    "one byte": (_HEAD + b"Content-Length: 1000000\r\n\r\n", b"a"),
    "silence": (_HEAD, b""),
}


@contextmanager
def endless(kind: str) -> Iterator[str]:
    """Yield the address of the server of ENDLESS with this name, on the loopback interface."""
    stop = Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=_serve, args=(server, *ENDLESS[kind], stop))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            stop.set()
            with suppress(OSError):  # the thread waits for a client, if none came
                socket.create_connection(server.getsockname(), 1).close()
            thread.join()


def _serve(server: socket.socket, first: bytes, piece: bytes, stop: Event) -> None:
    client, _ = server.accept()
    with client, suppress(OSError):  # the client hangs up
        client.recv(1 << 16)
        client.sendall(first)
        while not stop.wait(PAUSE_S):
            client.sendall(piece)
