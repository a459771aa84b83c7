"""What a worker gets from its parent: no telemetry, and a temporary folder inside its locked one."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.models import tiny
from tests.core.worker.harness import load_plan, started

_TELEMETRY_S = 15.0  # ONNX Runtime 1.31.1 tries to resolve its host about nine seconds after its start

_HTTP = re.compile(rb"[A-Z]+ \S+ HTTP/")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the user that is empty; CI, which hides the telemetry, is not set."""
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    return home


def run_a_session(folder: Path, wait_s: float = 0.0) -> None:
    folder.mkdir()
    model = tiny.save(tiny.mlp(), folder)
    with started(folder) as worker:
        worker.request("load", {"model": str(model), "plan": load_plan()}, stage="load", timeout_s=60)
        time.sleep(wait_s)


@pytest.mark.real
def test_a_worker_writes_nothing_into_the_users_home(elsewhere: Path, tmp_path: Path) -> None:
    """Otherwise the import of onnxruntime alone writes a device id and a database there."""
    run_a_session(tmp_path / "worker")
    assert sorted(elsewhere.rglob("*")) == []


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A listening socket to which every upload of the worker would have to connect."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            for variable in (name, name.upper()):
                monkeypatch.setenv(variable, f"http://127.0.0.1:{server.getsockname()[1]}")
        for variable in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(variable, raising=False)
        yield server


def requests_to(proxy: socket.socket) -> list[bytes]:
    """Return the beginning of every HTTP request; a stray client of the port's earlier user sends none."""
    requests = []
    while True:
        try:
            connection, _ = proxy.accept()
        except BlockingIOError:
            return [request for request in requests if _HTTP.match(request)]
        with connection:
            connection.settimeout(1.0)
            with contextlib.suppress(OSError):  # a client that connects and sends nothing
                requests.append(connection.recv(1000))


def test_a_request_to_the_proxy_is_noticed(proxy: socket.socket) -> None:
    with socket.create_connection(proxy.getsockname()[:2]) as client:
        client.sendall(b"CONNECT host:443 HTTP/1.1\r\n\r\n")
        assert requests_to(proxy) == [b"CONNECT host:443 HTTP/1.1\r\n\r\n"]


@pytest.mark.real
@pytest.mark.slow
def test_nothing_is_written_or_sent_by_the_time_of_the_first_upload(
    elsewhere: Path, proxy: socket.socket, tmp_path: Path
) -> None:
    """Otherwise ONNX Runtime 1.31.1 asks the proxy for mobile.events.data.microsoft.com."""
    run_a_session(tmp_path / "worker", _TELEMETRY_S)
    assert sorted(elsewhere.rglob("*")) == []
    assert requests_to(proxy) == []


@pytest.mark.real
def test_the_temporary_files_of_a_worker_lie_in_its_own_folder(tmp_path: Path) -> None:
    with started(tmp_path) as worker:
        environment = Path(f"/proc/{worker.pid}/environ").read_bytes().split(b"\0")
        values = dict(entry.partition(b"=")[::2] for entry in environment)
    for name in (b"TMPDIR", b"TEMP", b"TMP"):
        assert Path(os.fsdecode(values[name])) == tmp_path / "tmp"
