"""The server of a deployment as a child process of the kernel."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from workbench.core.background import check_cancel
from workbench.core.errors import DeployError

START_S = 120.0
_POLL_S = 0.05
_END_S = 10.0
_LAST_LINES = 6  # of the server's log, in an error


class Server:
    """The server of a deployment as a child process on a free loopback port; it ends with the context."""

    def __init__(self, folder: Path, log: Path, python: str = sys.executable) -> None:
        self._log = log
        self.name = str(json.loads((folder / "deployment.json").read_text("utf-8"))["name"])
        self._port = _free_port()
        self._began = time.perf_counter()
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                [
                    *(python, "server.py", "--host", "127.0.0.1", "--port", str(self._port)),
                    "--until-stdin-ends",
                ],
                cwd=folder,
                stdin=subprocess.PIPE,  # its end closes with this process, however that ends
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # the deployment stays as it was written
            )

    @property
    def url(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until_ready(self, cancel: threading.Event | None = None, timeout_s: float = START_S) -> float:
        """Wait for the first ready answer; return the seconds since the start of the process."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            check_cancel(cancel)
            if self._process.poll() is not None:
                raise DeployError(
                    f"the server ended with code {self._process.returncode}: {self.log_end()}",
                    "mend what its log names, or deploy another config",
                )
            if self._get("/v2/health/ready") is not None:
                return time.perf_counter() - self._began
            time.sleep(_POLL_S)
        raise DeployError(
            f"the server was not ready after {timeout_s:g} s: {self.log_end()}",
            "look at its log, or wait longer",
        )

    def providers(self) -> tuple[str, ...]:
        """Return the providers in effect, as the server tells them."""
        body = self._get(f"/v2/models/{self.name}")
        return tuple(json.loads(body)["providers"]) if body else ()

    def log_end(self) -> str:
        lines = self._log.read_text("utf-8", "replace").strip().splitlines()
        return " / ".join(lines[-_LAST_LINES:])

    def _get(self, path: str) -> bytes | None:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with (
            contextlib.suppress(OSError, urllib.error.URLError),
            opener.open(f"http://{self.url}{path}", timeout=5) as answer,
        ):
            return bytes(answer.read())
        return None

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.end(signal.SIGTERM)

    def end(self, how: signal.Signals) -> None:
        """Ask the server to end, and kill it if it does not within a while."""
        if self._process.poll() is None:
            self._process.send_signal(how)
            try:
                self._process.wait(_END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    @property
    def code(self) -> int | None:
        """The exit code, or None while the server runs."""
        return self._process.poll()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
