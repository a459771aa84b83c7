"""Environments of ONNX Runtime by version: made once with venv and pip, kept, found again."""

from __future__ import annotations

import re
import sys
import tempfile
import threading
from pathlib import Path

from workbench.core.config.runtime import interpreter
from workbench.core.errors import ConfigError, WorkbenchError, WorkerError
from workbench.core.home import cache_folder
from workbench.core.measure.bar import OnStep
from workbench.core.program import run_program
from workbench.core.stored_files import trim
from workbench.core.text import listed, one_line

_FOLDER = "versions"
_NUMBER = re.compile(r"\d+\.\d+(\.\d+)?([abc]|rc|\.?dev)?\d*")
_OFFERED = re.compile(r"\(from versions: ([^)]*)\)")
_NO_INDEX = "No matching distribution found"
_NUMPY_2 = (1, 19)  # the first that was built for it
_TIMEOUT_S = 900.0


def is_version(place: str) -> bool:
    """Return whether a text is a version, and no path."""
    return _NUMBER.fullmatch(place) is not None


def order(version: str) -> tuple[int, ...]:
    """Return what versions are sorted by."""
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


def environment(version: str, cancel: threading.Event | None, on_step: OnStep) -> str:
    """Return the folder of the environment with this version; make it where it is not kept yet."""
    place = cache_folder() / _FOLDER / version
    if not place.is_dir():
        on_step(f"installing ONNX Runtime {version}")
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=place.parent, ignore_cleanup_errors=True) as folder:
            made = Path(folder) / version
            _make([sys.executable, "-m", "venv", str(made)], version, cancel)
            numpy = "numpy" if order(version) >= _NUMPY_2 else "numpy<2"
            pip = [interpreter(str(made)), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            _make([*pip, f"onnxruntime=={version}", numpy], version, cancel)
            if not place.is_dir():  # another process may have been quicker
                made.rename(place)
        trim(place.parent)
    return str(place)


def releases(first: str, last: str, cancel: threading.Event | None, on_step: OnStep) -> list[str]:
    """Return the releases for this Python from one to another, as pip knows them."""
    python = interpreter(environment(first, cancel, on_step))
    on_step("looking for the releases")
    is_done, text = _run([python, "-m", "pip", "index", "versions", "onnxruntime"], cancel)
    if not is_done:
        kept = sorted((place.name for place in (cache_folder() / _FOLDER).glob("[0-9]*")), key=order)
        raise WorkerError(
            f"the releases between {first} and {last} are not known: {_reason(text)}",
            f"give three or more to search, instead of two; kept on this machine: {listed(kept)}",
        )
    known = next((line for line in text.splitlines() if line.startswith("Available versions:")), "")
    names = [name.strip() for name in known.partition(":")[2].split(",")]
    low, high = sorted((order(first), order(last)))
    between = {name for name in names if name and low < order(name) < high}
    return [first, *sorted(between, key=order, reverse=order(first) > order(last)), last]


def _run(command: list[str], cancel: threading.Event | None) -> tuple[bool, str]:
    """Run one of Python's own tools; return whether it succeeded, and what it printed."""
    with tempfile.TemporaryFile() as output:
        is_done = run_program(command, output, most_s=_TIMEOUT_S, cancel=cancel) == 0
        output.seek(0)
        return is_done, output.read().decode("utf-8", "replace")


def _make(command: list[str], version: str, cancel: threading.Event | None) -> None:
    """Take a step of making an environment."""
    is_done, text = _run(command, cancel)
    if not is_done:
        raise _refused(version, text)


def _refused(version: str, text: str) -> WorkbenchError:
    """Return the error of an environment that could not be made, of what the tool printed."""
    offered = _OFFERED.search(text)
    if offered is not None and offered[1] not in ("", "none"):
        return ConfigError(
            f"there is no ONNX Runtime {version} for this Python {sys.version_info[0]}.{sys.version_info[1]}",
            f"choose one of {one_line(offered[1], 400)}; or give the path of an environment that has it",
        )
    return WorkerError(
        f"ONNX Runtime {version} is not kept on this machine, and {_reason(text)}",
        f"once with a network: wb.compare_versions(model, [{version!r}]); or give an environment's path: "
        f"python3 -m venv env && env/bin/pip install onnxruntime=={version}",
    )


def _reason(text: str) -> str:
    """Return why a tool failed: pip names no version where it reaches no index."""
    if _OFFERED.search(text) is not None or _NO_INDEX in text:
        return "pip reached no package index"
    return (
        f"pip failed: {one_line(text.strip().splitlines()[-1], 200) if text.strip() else 'it said nothing'}"
    )
