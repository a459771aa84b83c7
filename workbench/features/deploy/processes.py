"""A deployment's server and its client, each in a process of its own."""

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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.core.background import check_cancel
from workbench.core.errors import DeployError
from workbench.core.prepare.preparing import Prepared
from workbench.core.worker.values import write_values
from workbench.features.deploy.contract import contract_of
from workbench.features.deploy.record import ServedLoad

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


class ClientProcess:
    """The child process that asks the server."""

    def __init__(self, server: Server, prepared: Prepared, folder: Path, feed: Mapping[str, Any]) -> None:
        contract = contract_of(prepared.model)
        write_values(folder / "asked", [feed])
        tensors = {
            "inputs": [[tensor.name, tensor.datatype] for tensor in contract.inputs],
            "outputs": [tensor.name for tensor in contract.outputs],
        }
        self._server = server
        self._log = folder / "client.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "workbench.features.deploy.http_client"),
                    *(server.url, server.name, str(folder / "asked"), json.dumps(tensors)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
            )

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send one command and return its answer."""
        if self._process.stdin is None or self._process.stdout is None:
            raise DeployError("the client has no pipe", "report this as a bug")
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            reason = self._log.read_text("utf-8", "replace").strip().splitlines()[-1:] or ["no reason"]
            raise DeployError(
                f"the client failed: {reason[0]}; the server: {self._server.log_end()}",
                "look whether the server still runs and takes these inputs",
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    def load(self, callers: int, seconds: float) -> ServedLoad:
        """Let callers ask for some seconds."""
        answer = self.ask("load", callers=callers, seconds=seconds)
        if answer["errors"]:
            raise DeployError(
                f"{len(answer['errors'])} of {callers} callers failed: {answer['errors'][0]}",
                "raise max_queue or timeout_s of the deployment, or use fewer callers",
            )
        return ServedLoad(callers, tuple(answer["latencies_s"]), float(answer["elapsed_s"]))

    def __enter__(self) -> ClientProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
