"""The proof of a deployment: its server is started, asked, compared, and measured beside the bare session."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workbench.background import check_cancel
from workbench.config.plan import session_plan
from workbench.deployment.contract import contract_of
from workbench.deployment.texts import EXTRA
from workbench.errors import DeployError
from workbench.judge.agreement import compare_outputs
from workbench.judge.tolerance import least_sqnr_db
from workbench.measurement.limits import Limits, Progress
from workbench.preparation.preparing import Prepared
from workbench.records.deployment import DeploymentCheck, ServedLoad, ServedRound
from workbench.worker.launch import Worker, WorkerFolder
from workbench.worker.values import read_values, write_values

NEEDED = {"fastapi": "fastapi", "uvicorn": "uvicorn", "prometheus_client": "prometheus-client"}
CALLERS = (1, 4)
ROUNDS = 5
BLOCK_S = 0.5
START_S = 120.0
_POLL_S = 0.05
_END_S = 10.0
_LEAST_RUNS = 5
_MOST_RUNS = 100_000
_LAST_LINES = 6  # of the server's log, in an error


def check_deployment(
    folder: Path,
    prepared: Prepared,
    feed: Mapping[str, Any],
    *,
    callers: Sequence[int] = CALLERS,
    rounds: int = ROUNDS,
    block_s: float = BLOCK_S,
    limits: Limits | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> DeploymentCheck:
    """Start the server of a deployment on a free loopback port and hold it against the measured config."""
    _check_installed((*NEEDED, "tritonclient"))
    limits = limits or Limits()
    steps = max(1, rounds * (1 + len(callers)))
    began, done = time.perf_counter(), 0

    def report(doing: str) -> None:
        nonlocal done
        check_cancel(cancel)
        if on_progress is not None:
            elapsed_s = time.perf_counter() - began
            on_progress(
                Progress(
                    doing=doing,
                    round=done // (1 + len(callers)),
                    elapsed_s=elapsed_s,
                    budget_s=max(elapsed_s, steps * block_s),
                    fraction=min(1.0, done / steps),
                    remaining_s=None,
                )
            )

    with ExitStack() as stack:
        temporary = stack.enter_context(WorkerFolder())
        report("starting the bare session")
        bare = stack.enter_context(_bare(temporary, prepared, feed, limits, cancel))
        expected = read_values(temporary / "expected")
        report("starting the server")
        server = stack.enter_context(Server(folder, temporary / "server.log"))
        bare.freeze()
        ready_s = server.wait_until_ready(cancel)
        client = stack.enter_context(Client(server, prepared, temporary, feed))
        client.ask("outputs", path=str(temporary / "served"))
        agreement = compare_outputs(
            "HTTP",
            expected,
            read_values(temporary / "served"),
            least_sqnr_db=least_sqnr_db(prepared.asked, prepared.model),
        )
        measured = []
        for _ in range(rounds):
            report("measuring the bare session")
            bare.thaw()
            answer = bare.request(
                "block",
                {
                    "seconds": block_s,
                    "min_runs": _LEAST_RUNS,
                    "max_runs": _MOST_RUNS,
                    "pacing_s": None,
                    "slow_down": 0.0,
                    "lead_in": 1,
                },
                stage="run",
                timeout_s=limits.run_s,
                cancel=cancel,
            )
            bare.freeze()
            done += 1
            loads = []
            for count in callers:
                report(f"measuring through HTTP with {count} at once")
                loads.append(client.load(count, block_s))
                done += 1
            measured.append(ServedRound(tuple(ns * 1e-9 for ns in array("q", answer.payload)), tuple(loads)))
        return DeploymentCheck(ready_s, server.providers(), agreement, tuple(measured))


def _check_installed(modules: Sequence[str]) -> None:
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise DeployError(
            f"the check runs the server here, and this environment lacks {', '.join(missing)}", EXTRA
        )


@contextmanager
def _bare(
    folder: Path,
    prepared: Prepared,
    feed: Mapping[str, Any],
    limits: Limits,
    cancel: threading.Event | None,
) -> Iterator[Worker]:
    """Give a warm worker with the session of the config; its outputs lie in `expected`."""
    write_values(folder / "feeds", [feed])
    with Worker(folder, name="bare", memory_bytes=limits.memory_bytes) as worker:
        worker.hello(timeout_s=limits.start_s, cancel=cancel)
        plan = session_plan(prepared.config).to_dict()
        for kind, body, stage, timeout_s in (
            ("load", {"model": str(prepared.model.path), "plan": plan}, "load", limits.load_s),
            ("first_run", {"feeds": str(folder / "feeds")}, "first run", limits.run_s),
            ("outputs", {"path": str(folder / "expected")}, "outputs", limits.run_s),
            (
                "warm_up",
                {"floor_s": 0.2, "bound_s": 2.0, "floor_runs": 3, "pacing_s": None},
                "warm-up",
                limits.run_s,
            ),
        ):
            worker.request(kind, body, stage=stage, timeout_s=timeout_s, cancel=cancel)
        yield worker


class Server:
    """The server of a deployment as a child process on a free loopback port; it ends with the context."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._log = log
        self._document = json.loads((folder / "deployment.json").read_text("utf-8"))
        self.name = str(self._document["name"])
        self._port = _free_port()
        self._began = time.perf_counter()
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                [sys.executable, "server.py", "--host", "127.0.0.1", "--port", str(self._port)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
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

    @property
    def code(self) -> int | None:
        """The exit code, or None while the server runs."""
        return self._process.poll()


class Client:
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
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "workbench.deployment.http_client"),
                    *(server.url, server.name, str(folder / "asked"), json.dumps(tensors)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
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

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
