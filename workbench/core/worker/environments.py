"""Environments of ONNX Runtime by version: made once with venv and pip, kept, found again, and asked."""

from __future__ import annotations

import re
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeGuard

from workbench.core.config import Config
from workbench.core.config.runtime import interpreter
from workbench.core.errors import ConfigError, WorkerError
from workbench.core.home import cache_folder
from workbench.core.program import run_program
from workbench.core.stored_files import trim
from workbench.core.text import listed, one_line
from workbench.core.worker.launch import Worker, WorkerFolder

_FOLDER = "versions"
_NUMBER = re.compile(r"\d+\.\d+(\.\d+)?([abc]|rc|\.?dev)?\d*")
_OFFERED = re.compile(r"\(from versions: ([^)]*)\)")
_NO_INDEX = "No matching distribution found"
_NUMPY_2 = (1, 19)  # the first that was built for it
_TIMEOUT_S = 900.0


def is_version(place: str | None) -> TypeGuard[str]:
    """Return whether it is a version, and no path."""
    return place is not None and _NUMBER.fullmatch(place) is not None


def kept_environment(version: str, cancel: threading.Event | None, on_step: Callable[[str], None]) -> str:
    """Return the folder of the environment with this version; make it where it is not kept yet."""
    place = cache_folder() / _FOLDER / version
    if place.is_dir():
        return str(place)
    on_step(f"installing ONNX Runtime {version}")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=place.parent, ignore_cleanup_errors=True) as folder:
        made = Path(folder) / version
        _make([sys.executable, "-m", "venv", str(made)], version, cancel)
        numpy = "numpy" if version_order(version) >= _NUMPY_2 else "numpy<2"
        pip = [interpreter(str(made)), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        _make([*pip, f"onnxruntime=={version}", numpy], version, cancel)
        try:
            made.rename(place)
        except OSError:
            if not place.is_dir():  # another process was not quicker
                raise
    trim(place.parent)
    return str(place)


def kept_versions() -> list[str]:
    """Return the versions whose environments are kept on this machine, the oldest first."""
    return sorted((place.name for place in (cache_folder() / _FOLDER).glob("[0-9]*")), key=version_order)


def releases(
    first: str, last: str, cancel: threading.Event | None, on_step: Callable[[str], None]
) -> list[str]:
    """Return the releases for this Python from one to another, as pip knows them."""
    python = interpreter(kept_environment(first, cancel, on_step))
    on_step("looking for the releases")
    index = [python, "-m", "pip", "index", "versions", "onnxruntime"]
    code, text = run_program(index, most_s=_TIMEOUT_S, cancel=cancel)
    if code != 0:
        raise WorkerError(
            f"the releases between {first} and {last} are not known: {_reason(text)}",
            f"give three or more to search, instead of two; kept on this machine: {listed(kept_versions())}",
        )
    known = re.search(r"^Available versions:(.*)", text, re.MULTILINE)
    names = set(map(str.strip, known[1].split(","))) if known else set()
    low, high = sorted((version_order(first), version_order(last)))
    between = [name for name in names if name and low < version_order(name) < high]
    is_backward = version_order(first) > version_order(last)
    return [first, *sorted(between, key=version_order, reverse=is_backward), last]


def software_of(config: Config, cancel: threading.Event | None = None) -> dict[str, str]:
    """Return the versions of Python, ONNX Runtime and NumPy of a config's environment."""
    with WorkerFolder() as folder, Worker(folder, name="versions", python=config.interpreter) as worker:
        versions: dict[str, str] = worker.hello(timeout_s=_TIMEOUT_S, cancel=cancel)["versions"]
        return versions


def version_order(version: str) -> tuple[int, ...]:
    """Return what versions are sorted by."""
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


def _make(command: list[str], version: str, cancel: threading.Event | None) -> None:
    """Take a step of making an environment; say why there is none, of what the tool printed."""
    code, text = run_program(command, most_s=_TIMEOUT_S, cancel=cancel)
    if code == 0:
        return
    offered = _OFFERED.search(text)
    if offered is not None and offered[1] not in ("", "none"):
        raise ConfigError(
            f"there is no ONNX Runtime {version} for this Python {sys.version_info[0]}.{sys.version_info[1]}",
            f"choose one of {one_line(offered[1], 400)}; or give the path of an environment that has it",
        )
    raise WorkerError(
        f"ONNX Runtime {version} is not kept on this machine, and {_reason(text)}",
        f"once with a network: wb.compare_versions(model, [{version!r}]); or give an environment's path: "
        f"python3 -m venv env && env/bin/pip install onnxruntime=={version}",
    )


def _reason(text: str) -> str:
    """Return why a tool failed: pip names no version where it reaches no index."""
    if _OFFERED.search(text) is not None or _NO_INDEX in text:
        return "pip reached no package index"
    last = one_line(text.strip().rpartition("\n")[2], 200)
    return f"pip failed: {last or 'it said nothing'}"
