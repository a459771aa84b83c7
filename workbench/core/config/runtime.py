"""The interpreter of another environment, whose ONNX Runtime a config runs on."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from workbench.core.config.kinds import Text
from workbench.core.config.option import ELSEWHERE, check_text
from workbench.core.errors import ConfigError
from workbench.core.text import QUOTED, one_line, quoted

_FIX = (
    "Give the interpreter of an environment that has onnxruntime, such as '/path/to/env/bin/python'; "
    "make one with: python3 -m venv env && env/bin/pip install onnxruntime-openvino"
)
_BIN = ("bin", "Scripts")


class Interpreter(Text):
    """The kind of knob that names an interpreter. Its existence is checked when it is used."""

    __slots__ = ()

    def canonical(self, value: object) -> str | None:
        text = Text.canonical(self, value)
        if text is None:
            return None
        check_text(self.field, text)
        if not text.startswith(ELSEWHERE) and "/" not in text and os.sep not in text:
            raise ConfigError(f"{self.field}={quoted(text)} is no path.", _FIX)
        return text

    def text(self, value: str) -> str:
        return name_of(value)


def recorded(path: str) -> str:
    """Return the path without what tells of a machine or a user: …/env/bin/python."""
    if path.startswith(ELSEWHERE):
        return path
    parts = [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")]
    kept = parts[-3:] if len(parts) >= 3 and parts[-2] in _BIN else parts[-1:]
    return ELSEWHERE + "/".join(kept)


def name_of(path: str) -> str:
    """Return the name that people give the environment: its folder's."""
    parts = [part for part in re.split(r"[/\\]", path) if part]
    name = parts[-3] if len(parts) >= 3 and parts[-2] in _BIN else (parts[-1] if parts else path)
    return one_line(name, QUOTED)


def interpreter(runtime: str | None) -> str:
    """Return the absolute path of the interpreter to start workers with; refuse one that cannot be started.

    A folder means the environment in it.
    """
    if runtime is None:
        return sys.executable
    if runtime.startswith(ELSEWHERE):
        raise ConfigError(
            f"This config ran on the environment {name_of(runtime)!r} of the machine that recorded it.",
            "Name one of this machine with config.replace(runtime='/path/to/env/bin/python'), "
            "or take this environment's ORT with runtime=None.",
        )
    try:
        path = Path(runtime).expanduser().absolute()
        if path.is_dir():
            path = _python_of(path)
        if not path.is_file():
            raise ConfigError(f"runtime={quoted(runtime)}: there is no such interpreter.", _FIX)
        if not os.access(path, os.X_OK):
            raise ConfigError(f"runtime={quoted(runtime)} may not be executed.", _FIX)
    except (OSError, ValueError, RuntimeError) as error:  # a name too long, no home
        raise ConfigError(f"runtime={quoted(runtime)} is no usable path ({error}).", _FIX) from error
    return str(path)


def _python_of(environment: Path) -> Path:
    places = [environment / folder / name for folder in _BIN for name in ("python", "python.exe")]
    return next((place for place in places if place.is_file()), environment / "bin" / "python")
