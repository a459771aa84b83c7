"""The kernel's end of a worker: start, request, freeze, and leave no process behind."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

from workbench.core.background import check_cancel
from workbench.core.errors import RunFailed, WorkerError
from workbench.core.worker import endings, freezing, log, memory
from workbench.core.worker.folder import WorkerFolder, no_room
from workbench.core.worker.protocol import Message, ProtocolError, command, read_message, write_message

MAX_LOG_BYTES = 512 << 20
ANSWER_POLL_S = 0.1
_NO_TELEMETRY = {"ORT_DISABLE_TELEMETRY": "1"}  # ORT's call for this purpose stops neither files nor uploads
_LAST_WORDS_S = 2.0  # from the end of the pipe to the end of the process


class Process(Protocol):
    """What a worker needs of its process: `subprocess.Popen` has it, and a forked process."""

    pid: int
    stdin: Any
    stdout: Any

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


Spawn: TypeAlias = Callable[[BinaryIO], Process]  # starts a process that logs to this file


class Worker:
    """One child process, as a context manager: leaving kills the child, frozen or not."""

    def __init__(
        self,
        folder: Path,
        *,
        name: str,
        python: str = sys.executable,
        memory_bytes: int | None = None,
        spawn: Spawn | None = None,
        engine: str | None = None,
    ) -> None:
        """Start the process; `hello` waits until the process is ready.

        `memory_bytes` bounds the memory of the process; None: a bound that leaves the machine usable. `spawn`
        starts the process in place of a new interpreter. `engine` runs the model in place of ONNX Runtime.
        """
        self.name = name
        self.log_path = folder / f"{name}.log"
        self.can_freeze = True  # False once a freeze failed: other workers were then measured beside this one
        self._python = python
        self._memory_bytes = memory_bytes
        self._engine = engine
        self._start = spawn or self._new_interpreter
        self._frozen = False
        self._closed = False
        self._last_log = ""
        self._answers: queue.SimpleQueue[Message | Exception | None] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, name=f"answers of {name}", daemon=True)
        self.started = time.perf_counter()
        self.process = self._spawn()
        try:
            self.pid = self.process.pid  # may be a launcher, and is the interpreter itself after `hello`
            self._listener.start()
        except BaseException as error:  # Ctrl-C, or no thread left: no other code can end the process yet
            self.close()
            if isinstance(error, RuntimeError):
                raise self._unstartable(error) from error
            raise

    def hello(self, *, timeout_s: float, cancel: threading.Event | None = None) -> dict[str, Any]:
        """Wait until onnxruntime is imported; return versions, import time and `spawn_s`."""
        body = self.wait_for_answer("start", timeout_s, cancel).body
        self.pid = int(body["pid"])
        return {**body, "spawn_s": time.perf_counter() - self.started}

    def request(
        self,
        kind: str,
        body: dict[str, Any] | None = None,
        *,
        stage: str,
        timeout_s: float,
        cancel: threading.Event | None = None,
    ) -> Message:
        """Send a command and wait; raise ORT's error as RunFailed, a dead or silent worker as WorkerError."""
        try:
            write_message(self.process.stdin, Message(kind, body or {}))
        except OSError as error:
            raise self._dead(stage) from error
        return self.wait_for_answer(stage, timeout_s, cancel)

    def freeze(self) -> None:
        """Stop every thread of the child, the spinning pool included, until `thaw`."""
        if not self._frozen and self.process.poll() is None:
            self._frozen = True
            self.can_freeze &= freezing.stop(self.process.pid, self.pid)

    @property
    def is_frozen(self) -> bool:
        """Return whether the child was asked to stand still and did not go on since."""
        return self._frozen

    def thaw(self) -> None:
        if self._frozen:
            self._frozen = False
            freezing.go_on(self.process.pid, self.pid)

    def log_text(self) -> str:
        """Return the log so far, without the middle of a long one."""
        return log.read_bounded(self.log_path) if self.log_path.exists() else self._last_log

    def kill(self) -> None:
        """Kill the whole group, without waiting: a wrapper of the interpreter may have started helpers."""
        if self._closed:
            return  # the process id may belong to another process by now
        if os.name == "posix":
            with contextlib.suppress(PermissionError):  # macOS raises this error for a group that has ended
                freezing.send(self.process.pid, signal.SIGKILL)
        if self.process.poll() is None:
            self.process.kill()

    def close(self) -> None:
        """Kill and reap the child and its helpers; keep only `log_text` of the log. Safe to call twice."""
        if self._closed:
            return
        self.kill()
        self.process.wait()
        with contextlib.suppress(OSError):  # the child is gone, and the unsent bytes with it
            self.process.stdin.close()
        if self._listener.ident is not None:
            self._listener.join(_LAST_WORDS_S)  # closes stdout, which a fork outside the group may hold
        else:
            self.process.stdout.close()
        self._last_log = self.log_text()
        with contextlib.suppress(PermissionError):  # Windows removes no file that a helper holds open
            self.log_path.unlink(missing_ok=True)
        self._closed = True

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _spawn(self) -> Process:
        try:
            log_file = self.log_path.open("ab")
        except OSError as error:
            raise no_room(error, temporary_file=True) or error from error
        with log_file:
            try:
                return self._start(log_file)
            except OSError as error:
                raise self._unstartable(error) from error

    def _new_interpreter(self, log_file: BinaryIO) -> Process:
        engine = () if self._engine is None else (self._engine,)
        return subprocess.Popen(
            command(self._python, "child", *engine),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log_file,
            env=environment(self.log_path.parent),
            process_group=0 if os.name == "posix" else None,
        )

    def _unstartable(self, error: Exception) -> WorkerError:
        return WorkerError(
            f"the worker process could not be started with {self._python}: {error}",
            "check that this interpreter exists and that processes, threads and memory are not exhausted",
        )

    def _listen(self) -> None:
        with self.process.stdout as stdout:
            try:
                while (message := read_message(stdout)) is not None:
                    self._answers.put(message)
                self._answers.put(None)
            except (OSError, ValueError, ProtocolError) as error:
                self._answers.put(error)

    def wait_for_answer(self, stage: str, timeout_s: float, cancel: threading.Event | None) -> Message:
        """Return the next answer; raise if none comes in time, or what the child says instead."""
        deadline = time.monotonic() + timeout_s
        while True:
            check_cancel(cancel)
            try:
                answer = self._answers.get(timeout=ANSWER_POLL_S)
            except queue.Empty:
                self._check_bounds(stage)
                if time.monotonic() > deadline:
                    raise endings.timed_out(stage, timeout_s) from None
                continue
            if answer is None or isinstance(answer, Exception):
                raise self._dead(stage) from (answer if isinstance(answer, Exception) else None)
            if answer.kind == "failed":
                raise endings.refused(answer.body, stage, self._engine, self._python)
            self._check_bounds(stage)
            return answer

    def _check_bounds(self, stage: str) -> None:
        if self.log_path.exists() and self.log_path.stat().st_size > MAX_LOG_BYTES:
            raise endings.log_too_large(stage, MAX_LOG_BYTES)
        passed = memory.too_much(self.pid, self._memory_bytes)
        if passed is not None:
            self.kill()
            raise endings.needs_more_memory(stage, passed, asked=self._memory_bytes is not None)

    def _dead(self, stage: str) -> WorkerError:
        try:
            code = self.process.wait(timeout=_LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            self.close()
            return endings.unresponsive(stage)
        return endings.crashed(stage, code, self.log_text(), self._python)


def call_job(
    job: str,
    arguments: dict[str, Any],
    *,
    timeout_s: float,
    cancel: threading.Event | None = None,
    python: str = sys.executable,
    memory_bytes: int | None = None,
    custom_ops: Sequence[str] = (),
    on_log: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Run one named job of workbench.core.worker in a process of its own; return the answer.

    `custom_ops`: libraries that all sessions of the job register, those of ORT's own tools too.
    """
    with (
        WorkerFolder() as folder,
        Worker(folder, name=job, python=python, memory_bytes=memory_bytes) as worker,
    ):
        try:
            worker.hello(timeout_s=timeout_s, cancel=cancel)
            body = {"job": job, "arguments": arguments, "custom_ops": list(custom_ops)}
            answer = worker.request("call", body, stage=job, timeout_s=timeout_s, cancel=cancel)
        finally:
            on_log(worker.log_text())
        return answer.body


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a worker: no telemetry, and temporary files in the worker folder."""
    temporary = folder / "tmp"
    try:
        temporary.mkdir(exist_ok=True)
    except OSError as error:
        raise no_room(error, temporary_file=True) or error from error
    return {**os.environ, **_NO_TELEMETRY, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))}


__all__ = ["RunFailed", "Worker", "WorkerFolder", "call_job"]
