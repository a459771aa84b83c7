"""The worker process, which reads commands from stdin, answers on the former stdout and ends with its parent.

`launch` runs this module through a bootstrap; the kernel never imports it. Only the standard library,
onnxruntime and numpy are imported.
"""

from __future__ import annotations

import os
import queue
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO

from workbench.core.errors import RunFailed
from workbench.core.text import shorten_middle
from workbench.core.worker.protocol import JOBS, Message, read_message, write_message
from workbench.core.worker.usage import rss_bytes

# Modules of this package with `versions()` and `load(model, plan)`; only their workers import them.
ENGINES = {
    "pytorch": "engine_torch",
    "openvino": "engine_openvino",
    "tensorrt": "engine_tensorrt",
    "genai": "engine_genai",
}


def main() -> None:
    """Answer commands until the parent ends, whose process id is `argv[2]`; `argv[3]` can name an engine."""
    die_with(int(sys.argv[2]))
    if len(sys.argv) > 3:
        _serve_engine(f"workbench.core.worker.{ENGINES[sys.argv[3]]}")
    else:
        serve()


def serve(started: dict[str, Any] | None = None, host: Any = None) -> None:
    """Answer commands from stdin until it ends; `started` says what importing took, if that is done.

    `host` runs the commands; the default runs them on ONNX Runtime.
    """
    commands = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # ORT and its libraries print to stdout too: redirect stdout to the log
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(commands, inbox), daemon=True).start()

    started = started or imported(ort_versions)
    _answer(answers, "hello", {"pid": os.getpid(), **started})

    if host is None:
        from workbench.core.worker.session_host import SessionHost

        host = SessionHost()
    while True:
        message = inbox.get()
        try:
            body, payload = _handle(host, message)
        except Exception as error:  # noqa: BLE001 - whatever ORT raises must reach the parent as data
            with suppress(OSError):  # the log is on a full disk: the answer still says what happened
                print(traceback.format_exc(), file=sys.stderr, flush=True)
            _answer(answers, "failed", _failure(error))
        else:
            _answer(answers, "done", body, payload)


def _serve_engine(module: str) -> None:
    """Answer commands with PyTorch, OpenVINO, TensorRT or GenAI in place of ONNX Runtime."""

    def versions() -> dict[str, str]:
        return {"numpy": import_module("numpy").__version__, **import_module(module).versions()}

    try:
        started = imported(versions)
    except ImportError as error:
        print(traceback.format_exc(), file=sys.stderr, flush=True)
        with os.fdopen(os.dup(1), "wb") as answers:
            _answer(answers, "failed", _failure(error))
        return

    from workbench.core.worker.engine_host import EngineHost

    serve(started, EngineHost(import_module(module)))


def _handle(host: Any, message: Message) -> tuple[dict[str, Any], bytes]:
    if message.kind == "call":
        job = message.body["job"]
        if job not in JOBS:
            raise ValueError(f"no job called {job!r}")
        if message.body.get("custom_ops"):
            import_module("workbench.core.worker.session").use_everywhere(message.body["custom_ops"])
        module, function = JOBS[job]
        run = getattr(import_module(f"workbench.core.worker.{module}"), function)
        return run(**message.body["arguments"]), b""
    handler = getattr(host, f"do_{message.kind}", None)
    if handler is None:
        raise ValueError(f"no command called {message.kind!r}")
    result: tuple[dict[str, Any], bytes] = handler(**message.body)
    return result


def _listen(commands: BinaryIO, inbox: queue.SimpleQueue[Message]) -> None:
    """Queue incoming commands; end the process at once when the parent is gone, even during a run."""
    while True:
        message = read_message(commands)
        if message is None:
            os._exit(0)
        inbox.put(message)


def _answer(answers: BinaryIO, kind: str, body: dict[str, Any], payload: bytes = b"") -> None:
    try:
        write_message(answers, Message(kind, body, payload))
    except BrokenPipeError:
        os._exit(0)


def die_with(parent: int) -> None:
    """Tie the worker's life to its parent, and make the worker the OOM killer's first choice."""
    if sys.platform != "linux":
        return
    import ctypes
    import resource

    pr_set_pdeathsig = 1
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    be_killed_first("/proc/self/oom_score_adj")


def be_killed_first(score: str) -> None:
    """Write into the file of the OOM killer that this process is its first choice."""
    # /proc is read-only in some sandboxes: the OOM killer then chooses by size.
    with suppress(OSError), open(score, "w") as file:  # noqa: PTH123 - pathlib is one import too many
        file.write("1000")


def imported(versions: Callable[[], dict[str, str]]) -> dict[str, Any]:
    """Import an engine by asking for its versions; return them, the time taken, and the memory before."""
    bare_bytes, began = rss_bytes(), time.perf_counter()
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    python = sys.version.split()[0] + ("" if has_lock else " free-threaded")
    known = {"python": python, **versions()}
    return {"versions": known, "import_s": time.perf_counter() - began, "bare_bytes": bare_bytes}


def ort_versions() -> dict[str, str]:
    try:
        import onnxruntime as ort
    except ModuleNotFoundError:
        raise
    except ImportError:  # older versions name no cause where numpy is missing
        import numpy

        raise
    import numpy

    return {"onnxruntime": ort.__version__, "numpy": numpy.__version__}


def _failure(error: Exception) -> dict[str, Any]:
    """Return an error as data; `errno` and `filename` distinguish a full disk from an error of ORT."""
    body: dict[str, Any] = {"type": type(error).__name__, "message": _bounded(str(error))}
    if isinstance(error, RunFailed):
        body["message"], body["fix"] = error.args
    if isinstance(error, OSError):
        body["errno"] = error.errno
        body["filename"] = None if error.filename is None else os.fsdecode(error.filename)
    return body


def _bounded(text: str) -> str:
    """Shorten long words and the middle of a message: ORT puts the reason between names of any length."""
    text = re.sub(r"\S{400,}", lambda word: f"{word[0][:200]}… ({len(word[0])} characters)", text)
    return shorten_middle(text, 20_000)
