"""The kernel's end of the fork server: workers that start in milliseconds, where the system can fork them.

Only Linux: on macOS a fork is unsafe once system frameworks are loaded, and Windows has none.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from workbench.core.background import check_cancel
from workbench.core.worker.launch import Process, Worker, environment
from workbench.core.worker.protocol import command

START_S = 120.0  # importing onnxruntime from a slow disk
_POLL_S = 0.1
ANSWER_S = 60.0  # a killed worker with a large model takes a while to leave memory
_MAX_MESSAGE_BYTES = 1 << 16
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}  # numpy's threads would make a fork unsafe
CAN_FORK = sys.platform == "linux" and hasattr(os, "pidfd_open")


class ForkServers:
    """One fork server for each interpreter of a comparison, as a context manager.

    `start` is the constructor of a worker for `Round`: a fork where that is safe, a new process elsewhere.
    """

    def __init__(self, cancel: threading.Event | None = None) -> None:
        self._cancel = cancel
        self._servers: dict[str, ForkServer | None] = {}  # None: this interpreter cannot fork workers

    def start(
        self, folder: Path, *, name: str, python: str = sys.executable, memory_bytes: int | None = None
    ) -> Worker:
        """Start a worker."""
        server = self._server(folder, python)
        spawn = None if server is None else server.spawn
        return Worker(folder, name=name, python=python, memory_bytes=memory_bytes, spawn=spawn)

    def _server(self, folder: Path, python: str) -> ForkServer | None:
        server = self._servers.get(python)
        if server is not None and not server.is_alive():
            server.close()
            del self._servers[python]
        if python not in self._servers:
            self._servers[python] = _started(folder, python, self._cancel) if CAN_FORK else None
        return self._servers[python]

    def __enter__(self) -> ForkServers:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers.values():
            if server is not None:
                server.close()


def _started(folder: Path, python: str, cancel: threading.Event | None) -> ForkServer | None:
    """Return a server that can fork workers, or None: a worker then reports what is wrong with its start."""
    try:
        server = ForkServer(folder, python)
    except OSError:
        return None
    is_ready = False
    try:
        is_ready = server.is_ready(cancel)
    finally:
        if not is_ready:
            server.close()
    return server if is_ready else None


class ForkServer:
    """One process with onnxruntime imported, which forks workers on request."""

    def __init__(self, folder: Path, python: str) -> None:
        self._lock = threading.Lock()
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, (folder / "fork-server.log").open("ab") as log_file:
            try:
                self._process = subprocess.Popen(
                    command(python, "fork_server"),
                    stdin=theirs.fileno(),
                    stdout=log_file,
                    stderr=log_file,
                    env={**_ONE_THREAD, **environment(folder)},
                    process_group=0,
                )
            except OSError:
                self._channel.close()
                raise

    def is_ready(self, cancel: threading.Event | None = None) -> bool:
        """Wait for the imports; return whether workers can be forked."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            check_cancel(cancel)
            if _is_readable(self._channel, _POLL_S):
                answer = self._answer()
                return answer is not None and answer.get("can_fork") is True
        return False

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def spawn(self, log_file: BinaryIO) -> Process:
        """Fork a worker; its standard error is this file."""
        stdin, our_stdin = os.pipe()
        our_stdout, stdout = os.pipe()
        try:
            pid = self._ask({"kind": "fork"}, (stdin, stdout, log_file.fileno())).get("pid")
            if pid is None:
                raise OSError("the fork server ended")
            return ForkedProcess(self, pid, os.fdopen(our_stdin, "wb"), os.fdopen(our_stdout, "rb"))
        except OSError:
            os.close(our_stdin)
            os.close(our_stdout)
            raise
        finally:
            os.close(stdin)
            os.close(stdout)

    def exit_code(self, pid: int) -> int:
        """Reap an ended worker and return its exit code."""
        code: int = self._ask({"kind": "wait", "pid": pid}).get("code", -signal.SIGKILL)
        return code

    def close(self) -> None:
        """End the server; workers that still live end with it."""
        self._channel.close()
        self._process.kill()
        self._process.wait()

    def _ask(self, body: Mapping[str, Any], files: tuple[int, ...] = ()) -> dict[str, Any]:
        with self._lock:
            try:
                socket.send_fds(self._channel, [json.dumps(body).encode()], files)
            except OSError:  # the server has ended
                return {}
            return self._answer() or {}

    def _answer(self) -> dict[str, Any] | None:
        """Return the next answer, or None from a server that has ended; end a server that gives none."""
        try:
            self._channel.settimeout(ANSWER_S)
            text = self._channel.recv(_MAX_MESSAGE_BYTES)
        except OSError:
            self.close()  # its late answer would be taken for that of the next request
            return None
        return json.loads(text) if text else None


class ForkedProcess:
    """A forked worker with the interface of `subprocess.Popen` that Worker needs."""

    def __init__(self, server: ForkServer, pid: int, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self._server = server
        self._code: int | None = None
        self._ended = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Return the exit code, or None while the process lives."""
        if self._code is None and _is_readable(self._ended, 0):
            self._reap()
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; raise TimeoutExpired if the process still lives then."""
        if self._code is None and not _is_readable(self._ended, timeout):
            raise subprocess.TimeoutExpired(f"worker {self.pid}", timeout or 0.0)
        return self._reap()

    def kill(self) -> None:
        if self._code is None:
            signal.pidfd_send_signal(self._ended, signal.SIGKILL)

    def _reap(self) -> int:
        if self._code is None:
            self._code = self._server.exit_code(self.pid)
            os.close(self._ended)
        return self._code


def _is_readable(file: int | socket.socket, timeout_s: float | None) -> bool:
    """Wait for data or an end; unlike `select`, this works in a kernel with more than 1,024 open files."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(None if timeout_s is None else 1000 * timeout_s))
