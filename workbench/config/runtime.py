"""Another environment's interpreter, whose ONNX Runtime a config runs on: ours, where none is named."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path, PurePath

from workbench.config.option import ELSEWHERE, check_text
from workbench.errors import ConfigError
from workbench.text import QUOTED, one_line, quoted

_FIX = (
    "Give the interpreter of an environment that has onnxruntime, such as '/path/to/env/bin/python'; "
    "make one with: python3 -m venv env && env/bin/pip install onnxruntime-openvino"
)
_INTERPRETER = re.compile(r"(?:python|pypy)[\d.]*(?:\.exe)?", re.IGNORECASE)
_BIN = ("bin", "Scripts")


def checked(given: str) -> str:
    """The absolute path of an interpreter that can be started; a folder stands for the environment in it."""
    check_text("runtime", given)
    if given.startswith(ELSEWHERE):  # it was recorded on another machine; only starting it is refused
        return given
    try:
        path = Path(given).expanduser()
        if not path.is_absolute() and os.sep not in given:
            raise ConfigError(f"runtime={quoted(given)} is no path.", _FIX)
        path = _inside(path.absolute()) if path.is_dir() else path.absolute()
        if not path.is_file():
            raise ConfigError(f"runtime={quoted(given)}: there is no such interpreter.", _FIX)
        if not os.access(path, os.X_OK):
            raise ConfigError(f"runtime={quoted(given)} may not be executed.", _FIX)
    except (OSError, ValueError, RuntimeError) as error:  # a name too long, no home
        raise ConfigError(f"runtime={quoted(given)} is no usable path ({error}).", _FIX) from error
    return str(path)


def remembered(written: str) -> str:
    """What a file says of it: usable where an interpreter lies there, else only a name."""
    if written.startswith(ELSEWHERE):
        return written
    try:
        here = _INTERPRETER.fullmatch(PurePath(written).name) is not None and Path(written).is_file()
    except (OSError, ValueError):
        here = False
    return written if here else recorded(written)


def recorded(path: str) -> str:
    """Without what tells of a machine or a user: …/env/bin/python."""
    if path.startswith(ELSEWHERE):
        return path
    parts = [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")]
    kept = parts[-3:] if len(parts) >= 3 and parts[-2] in _BIN else parts[-1:]
    return ELSEWHERE + "/".join(kept)


def name_of(path: str) -> str:
    """What people call it: the environment's folder."""
    parts = [part for part in re.split(r"[/\\]", path) if part]
    name = parts[-3] if len(parts) >= 3 and parts[-2] in _BIN else (parts[-1] if parts else path)
    return one_line(name, QUOTED)


def interpreter(runtime: str | None) -> str:
    """The interpreter to start workers with."""
    if runtime is None:
        return sys.executable
    if runtime.startswith(ELSEWHERE):
        raise ConfigError(
            f"This config ran on the environment {name_of(runtime)!r} of the machine that recorded it.",
            "Name one of this machine with config.replace(runtime='/path/to/env/bin/python'), "
            "or take this environment's ORT with runtime=None.",
        )
    return checked(runtime)


def _inside(environment: Path) -> Path:
    places = [environment / folder / name for folder in _BIN for name in ("python", "python.exe")]
    return next((place for place in places if place.is_file()), environment / "bin" / "python")
