"""Errors for a worker that is silent, died or failed, with their fixes."""

from __future__ import annotations

import re
import signal
import sys
from typing import Any

from workbench.core.errors import RunFailed, StorageError, WorkerError
from workbench.core.text import printable
from workbench.core.worker import log
from workbench.core.worker.folder import full_disk, no_room
from workbench.core.worker.translate import translated

_LIMITS = {"start": "start_s", "load": "load_s"}  # of wb.Limits; every other stage is bounded by run_s
_OF_FIXED_TIME = ("preparing.", "probe", "weight_scan")  # jobs without limits of the user's
_LAST_LINES = 6
_MISSING = re.compile(r"^ModuleNotFoundError: No module named '(\w+)", re.MULTILINE)
_UNWRITTEN = "Protobuf serialization failed"  # ORT's words for a graph that it cannot write


def refused(
    answer: dict[str, Any], stage: str, engine: str | None = None, python: str = sys.executable
) -> RunFailed | WorkerError | StorageError:
    """Return the error for a "failed" answer: an error of the disk, of ORT or of another engine."""
    if "fix" in answer:
        return RunFailed(answer["message"], answer["fix"])
    if stage == "start" and engine is not None:
        return _not_installed(answer["message"])
    if missing := _MISSING.match(f"{answer['type']}: {answer['message']}"):
        return _lacks(python, missing[1], f"which {stage} needs")
    failed = OSError(answer.get("errno"), answer["message"], answer.get("filename"))
    unwritten = full_disk(stage) if _UNWRITTEN in answer["message"] else None
    return (
        no_room(failed, stage)
        or unwritten
        or (
            translated(answer["type"], answer["message"], stage)
            if engine is None
            else RunFailed(
                f"{engine} failed during {stage}: {printable(answer['message'])}",
                "read its message above, and try the model in that engine alone",
            )
        )
    )


def _not_installed(message: str) -> WorkerError:
    """Return the error of a worker whose engine cannot be imported."""
    return WorkerError(
        f"the environment of this config has no module for its engine: {message}",
        "pip install it there: torch, openvino, onnxruntime-genai, or tensorrt with torch (ort-workbench has "
        "extras of three of these names); or name an environment that has it "
        "with config.replace(runtime='/path/to/env/bin/python')",
    )


def timed_out(stage: str, timeout_s: float) -> WorkerError:
    cause = (
        "a slow disk or a virus scanner can hold up the import of onnxruntime"
        if stage == "start"
        else "an endless Loop or a deeply nested function does this"
    )
    more = f"allow more time with worker_limits=wb.Limits({_LIMITS.get(stage, 'run_s')}=…)"
    if stage.startswith(_OF_FIXED_TIME):
        more = "close other programs, or use a smaller model"
    return WorkerError(
        f"the worker gave no answer within {timeout_s:g} s during {stage} and was stopped",
        f"{cause}; if it is only slow, {more}",
    )


def log_too_large(stage: str, most_bytes: int) -> WorkerError:
    return WorkerError(
        f"the worker printed more than {most_bytes >> 20} MiB during {stage} and was stopped",
        "lower the log severity of this config or ask the author of the model's custom operators",
    )


def needs_more_memory(stage: str, bound_bytes: int, *, asked: bool) -> WorkerError:
    """Return the error for a worker beyond a memory bound: the `asked` one, or the machine's."""
    whose = "" if asked else ", which is all that this machine can spare,"
    more = "allow more with worker_limits=wb.Limits(memory_bytes=…)" if asked else "close other programs"
    return WorkerError(
        f"the worker needs more than {bound_bytes >> 20:,} MiB of memory during {stage}{whose} "
        "and was stopped",
        "use a smaller model, batch or sequence, turn off the arena (cpu_arena=False) and prepacking, "
        f"or {more}",
    )


def unresponsive(stage: str) -> WorkerError:
    return WorkerError(
        f"the worker stopped making sense during {stage}: it closed its pipe or wrote nonsense to it",
        "check that the worker's interpreter is a plain Python with onnxruntime and numpy",
    )


def crashed(stage: str, code: int, printed: str, python: str) -> WorkerError:
    """Return the error for a dead worker; `printed` is its log, `python` its interpreter."""
    last = log.tail(printed, _LAST_LINES)
    last_lines = f"; it printed last:\n{last}" if last else ""
    if code == -getattr(signal, "SIGKILL", 9):
        return WorkerError(
            f"the worker was killed during {stage} (signal 9), most often by the system "
            f"for want of memory{last_lines}",
            "close other programs, use a smaller model, batch or sequence, or turn off the arena "
            "(cpu_arena=False) and prepacking",
        )
    problem = f"the worker process ended during {stage} ({_ending(code)}){last_lines}"
    if stage == "start":
        return _not_started(last, python, problem)
    return WorkerError(
        problem,
        "ORT or a provider crashed: leave out the option that B adds, update ONNX Runtime, "
        "or report the model to ONNX Runtime",
    )


def _not_started(last: str, python: str, problem: str) -> WorkerError:
    """Return the error of a failed start: the interpreter or its packages are at fault, never the config."""
    if missing := _MISSING.search(last):
        return _lacks(python, missing[1], "so no session can be made in it")
    if "compiled using NumPy 1" in last or "numpy.core.multiarray failed to import" in last:
        return WorkerError(
            f"the ONNX Runtime of {python} is older than its NumPy, so it cannot be imported",
            f"install another NumPy there with `{python} -m pip install 'numpy<2'`",
        )
    return WorkerError(
        problem,
        f"{python} must be Python 3.11 or newer and import onnxruntime and numpy: "
        f'try `{python} -c "import onnxruntime"`, and repair what it names',
    )


def _lacks(python: str, module: str, what: str) -> WorkerError:
    return WorkerError(
        f"the environment of {python} lacks {module}, {what}",
        f"install it there with `{python} -m pip install {module}`",
    )


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
