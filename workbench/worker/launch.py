"""The kernel's end of a worker: start it, ask it, freeze it, and leave no process behind."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from workbench.errors import Cancelled, RunFailed, WorkerError
from workbench.worker import log
from workbench.worker.protocol import Message, ProtocolError, read_message, write_message
from workbench.worker.translate import translated

_BOOTSTRAP = (
    "import sys, types; package = types.ModuleType('workbench'); package.__path__ = [sys.argv[1]]; "
    "sys.modules['workbench'] = package; from workbench.worker.child import main; main()"
)
_PACKAGE = str(Path(__file__).resolve().parents[1])
_PREFIX = "ort-workbench-"
MAX_LOG_BYTES = 512 << 20
_POLL_S = 0.1
_STOP_S = 0.02
_LAST_WORDS_S = 2.0  # from the end of its pipe to the end of the process


class Worker:
    """One child process. Use as a context manager: leaving it kills the child, frozen or not."""

    def __init__(self, folder: Path, *, name: str, python: str = sys.executable) -> None:
        """Start the process; `hello` waits for its first word."""
        self.name = name
        self.log_path = folder / f"{name}.log"
        self._frozen = False
        self._answers: queue.SimpleQueue[Message | Exception | None] = queue.SimpleQueue()
        self.started = time.perf_counter()
        with self.log_path.open("ab") as log_file:
            try:
                self._process = subprocess.Popen(
                    [python, "-P", "-c", _BOOTSTRAP, _PACKAGE, str(os.getpid())],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log_file,
                    process_group=0 if os.name == "posix" else None,
                )
            except OSError as error:
                raise WorkerError(
                    f"the worker process could not be started with {python}: {error}",
                    "check that this interpreter exists and that processes and memory are not exhausted",
                ) from error
        threading.Thread(target=self._listen, name=f"answers of {name}", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def hello(self, *, timeout_s: float, cancel: threading.Event | None = None) -> dict[str, Any]:
        """Versions and import time, once onnxruntime is imported; `spawn_s` is added."""
        body = self._wait("start", timeout_s, cancel).body
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
        """Ask and wait. What ORT raised comes back as RunFailed, a dead or silent worker as WorkerError."""
        stdin = self._process.stdin
        if stdin is None:
            raise WorkerError(f"{self.name} has no input pipe", "report this as a bug")
        try:
            write_message(stdin, Message(kind, body or {}))
        except OSError as error:
            raise self._dead(stage) from error
        return self._wait(stage, timeout_s, cancel)

    def freeze(self) -> None:
        """Stop every thread of the child, its spinning pool included, until `thaw`."""
        if not self._frozen and self._process.poll() is None:
            self._frozen = True
            if os.name == "posix":
                os.kill(self.pid, signal.SIGSTOP)
                _await_stop(self.pid)
            else:
                _psutil_process(self.pid).suspend()

    def thaw(self) -> None:
        if self._frozen:
            self._frozen = False
            if os.name == "posix":
                os.kill(self.pid, signal.SIGCONT)
            else:
                _psutil_process(self.pid).resume()

    def log_text(self) -> str:
        """What the child printed so far, without its middle when it is long."""
        return log.read_bounded(self.log_path) if self.log_path.exists() else ""

    def close(self) -> None:
        """Kill and reap. Safe to call twice."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                _close(stream)

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _listen(self) -> None:
        stdout = self._process.stdout
        try:
            while stdout is not None and (message := read_message(stdout)) is not None:
                self._answers.put(message)
            self._answers.put(None)
        except (OSError, ValueError, ProtocolError) as error:
            self._answers.put(error)

    def _wait(self, stage: str, timeout_s: float, cancel: threading.Event | None) -> Message:
        deadline = time.monotonic() + timeout_s
        while True:
            if cancel is not None and cancel.is_set():
                raise Cancelled("stopped on request", "start it again when you want the answer")
            try:
                answer = self._answers.get(timeout=_POLL_S)
            except queue.Empty:
                self._check_log(stage)
                if time.monotonic() > deadline:
                    raise self._hung(stage, timeout_s) from None
                continue
            if answer is None or isinstance(answer, Exception):
                raise self._dead(stage) from (answer if isinstance(answer, Exception) else None)
            if answer.kind == "failed":
                raise translated(answer.body["type"], answer.body["message"], stage)
            return answer

    def _check_log(self, stage: str) -> None:
        if self.log_path.exists() and self.log_path.stat().st_size > MAX_LOG_BYTES:
            raise WorkerError(
                f"the worker printed more than {MAX_LOG_BYTES >> 20} MiB during {stage} and was stopped",
                "lower the log severity of this config or ask the author of the model's custom operators",
            )

    def _hung(self, stage: str, timeout_s: float) -> WorkerError:
        return WorkerError(
            f"the worker gave no answer within {timeout_s:g} s during {stage} and was stopped",
            "an endless Loop or a deeply nested function does this; if the model is only slow, "
            f"allow more time with limits=wb.Limits({'load_s' if stage == 'load' else 'run_s'}=…)",
        )

    def _dead(self, stage: str) -> WorkerError:
        try:
            code = self._process.wait(timeout=_LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            self.close()
            return WorkerError(
                f"the worker stopped making sense during {stage}: it closed its pipe or wrote nonsense to it",
                "check that the worker's interpreter is a plain Python with onnxruntime and numpy",
            )
        last = log.tail(self.log_text(), 6)
        told = f"; it printed last:\n{last}" if last else ""
        if code == -getattr(signal, "SIGKILL", 9):
            return WorkerError(
                f"the worker was killed during {stage} (signal 9), most often by the system "
                f"for want of memory{told}",
                "close other programs, use a smaller model, batch or sequence, or turn off the arena "
                "(cpu_arena=False) and prepacking",
            )
        return WorkerError(
            f"the worker process ended during {stage} ({_ending(code)}){told}",
            "ORT or a provider crashed: leave out the option that B adds, update ONNX Runtime, "
            "or report the model to ONNX Runtime",
        )


class WorkerFolder:
    """A private temporary folder for logs and feeds; folders of dead kernels are swept away."""

    def __init__(self) -> None:
        _sweep()
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *exc: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def call_job(
    job: str,
    arguments: dict[str, Any],
    *,
    timeout_s: float,
    cancel: threading.Event | None = None,
    python: str = sys.executable,
    on_log: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Run one named job of workbench.worker in a process of its own and give its answer."""
    with WorkerFolder() as folder, Worker(folder, name=job, python=python) as worker:
        try:
            worker.hello(timeout_s=timeout_s, cancel=cancel)
            answer = worker.request(
                "call", {"job": job, "arguments": arguments}, stage=job, timeout_s=timeout_s, cancel=cancel
            )
        finally:
            on_log(worker.log_text())
        return answer.body


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _await_stop(pid: int) -> None:
    """Wait until no thread runs any more (Linux tells): a spinning pool thread may need a scheduler tick."""
    if sys.platform != "linux":
        return
    deadline = time.perf_counter() + _STOP_S
    while time.perf_counter() < deadline:
        try:
            if _states(pid) <= {b"T", b"Z", b"X"}:
                return
        except (OSError, IndexError):  # a thread ended between the listing and the reading
            continue


def _states(pid: int) -> set[bytes]:
    """The states of all threads: R runs, S sleeps, T is stopped."""
    states = set()
    for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - called between all blocks
        with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:  # noqa: PTH123
            states.add(file.read().rpartition(b")")[2].split()[0])
    return states


def _psutil_process(pid: int) -> Any:
    import psutil  # only where POSIX signals do not exist

    return psutil.Process(pid)


def _close(stream: BinaryIO | Any) -> None:
    try:
        stream.close()
    except OSError:  # the child is gone and unsent bytes with it: that is what closing is for here
        return


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdecimal() and not _alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    import psutil

    return psutil.pid_exists(pid)


__all__ = ["RunFailed", "Worker", "WorkerFolder", "call_job"]
