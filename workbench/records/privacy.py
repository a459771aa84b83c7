"""Absolute paths leave a record before it becomes a file to hand on: they name users and machines.

Names inside a model look like paths too (`/encoder/layer.0/MatMul`) and must survive. So only what this
machine knows is hidden: below the user's own folders, or with a parent folder that exists here.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from workbench.config import runtime

HIDDEN = "…"
_PATH = re.compile(r"(?<![\w.~/\\-])(?:/|[A-Za-z]:[\\/])[^\s'\"<>|*?:;,()\[\]{}]+")


def without_paths(data: object) -> object:
    """JSON `data` in which every absolute path of this machine is cut to `…/` and its last part."""
    folders = sorted(_own_folders(), key=len, reverse=True)
    return _walk(data, cache(lambda text: _clean(text, folders)))


def _own_folders() -> set[str]:
    """Folders whose path may contain spaces or name the user: they are cut out as they are."""
    found = {str(Path.home()), str(Path.cwd()), tempfile.gettempdir()}
    return {
        folder for path in found for folder in (path, os.path.realpath(path)) if len(Path(path).parts) > 1
    }


def _walk(data: object, clean: Callable[[str], str]) -> object:
    if isinstance(data, str):
        return clean(data)
    if isinstance(data, list):
        return [_walk(item, clean) for item in data]
    if isinstance(data, dict):
        return {
            key: clean(_named(key, item)) if isinstance(item, str) else _walk(item, clean)
            for key, item in data.items()
        }
    return data


def _named(key: object, text: str) -> str:
    """Of a config's runtime, the environment's name says more than the interpreter's."""
    return runtime.recorded(text) if key == "runtime" and Path(text).is_absolute() else text


def _clean(text: str, folders: list[str]) -> str:
    if "/" not in text and "\\" not in text:
        return text
    for folder in folders:
        text = re.sub(rf"(?<![\w/\\]){re.escape(folder)}(?=[/\\]|$|\W)", HIDDEN, text)
    return _PATH.sub(lambda match: _shortened(match[0]), text)


def _shortened(token: str) -> str:
    parent, name = os.path.split(token.rstrip("/\\"))
    known = len(Path(parent).parts) > 1 and os.path.lexists(parent)
    return f"{HIDDEN}/{name}" if known else token
