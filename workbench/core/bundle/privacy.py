"""Removal of absolute paths from a record before sharing: paths name users and machines.

Names inside a model look like paths too (`/encoder/layer.0/MatMul`) and must survive. So only paths of this
machine are hidden: below the user's own folders, or with a parent folder that exists here. A path may
contain spaces: it ends with the longest existing path, else before the first word without a slash.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Collection
from functools import cache, reduce
from itertools import chain, islice
from pathlib import Path

from workbench.core.config import runtime
from workbench.core.config.option import ELSEWHERE

_CUT = "…"
_PATH = re.compile(
    r"(?<![\w.…~/\\-])(?:/|[A-Za-z]:[\\/])[^\s'\"<>|*?:;,()\[\]{}][^\n\r\t'\"<>|*?:;,()\[\]{}]*"
)
_LINE = re.compile(r"[^\n\r\t]{1,4096}")  # the longest path that a system takes
_ENDS = re.compile(r"(?<=\S)[\s'\"<>|*?:;,()\[\]{}]")  # where a path may end in a text
_WORDS = 24  # such places in one path
_LEAST_SECRET = 6  # letters: a shorter text would be cut out of words that are no secret


def without_paths(data: object) -> object:
    """Return JSON `data` with every absolute path of this machine cut to `…/` and its last part."""
    folders = sorted(_own_folders(), key=len, reverse=True)
    clean = cache(lambda text: _clean(text, folders))
    return _walk(data, clean, lambda key, text: clean(_named(key, text)))


def without_texts(data: object, secrets: Collection[str]) -> object:
    """Return JSON `data` with every secret of more than a few letters cut out of its texts."""
    long = sorted((text for text in secrets if len(text) >= _LEAST_SECRET), key=len, reverse=True)
    if not long:
        return data

    def clean(text: str) -> str:
        return reduce(lambda cut, secret: cut.replace(secret, _CUT), long, text)

    return _walk(data, clean, lambda _key, text: clean(text))


def _own_folders() -> set[str]:
    """Return the folders that name the user or the work, whether or not they still exist."""
    paths = {str(Path.home()), str(Path.cwd()), tempfile.gettempdir()}
    return {
        folder for path in paths for folder in (path, os.path.realpath(path)) if len(Path(path).parts) > 1
    }


def _walk(data: object, clean: Callable[[str], str], clean_field: Callable[[str, str], str]) -> object:
    if isinstance(data, str):
        return clean(data)
    if isinstance(data, list):
        return [_walk(item, clean, clean_field) for item in data]
    if isinstance(data, dict):
        return {
            clean(key): clean_field(key, item) if isinstance(item, str) else _walk(item, clean, clean_field)
            for key, item in data.items()
        }
    return data


def _named(key: object, text: str) -> str:
    """Return `text`, or for a runtime the environment's name, which says more than the interpreter's."""
    return runtime.recorded(text) if key == "runtime" and Path(text).is_absolute() else text


def _clean(text: str, folders: list[str]) -> str:
    if "/" not in text and "\\" not in text:
        return text
    if not text.startswith(ELSEWHERE):  # a value of an untrusted config: nothing of it is looked up
        text = _without_known(text, folders)
    for folder in folders:
        text = re.sub(rf"(?<![\w/\\]){re.escape(folder)}(?=[/\\]|$|\W)", _CUT, text)
    return text


def _without_known(text: str, folders: list[str]) -> str:
    parts, at = [], 0
    while (match := _PATH.search(text, at)) is not None:
        path = _existing(text, match.start()) or _known_path(match[0], folders)
        words = path or match[0].split(" ")[0]
        parts += [text[at : match.start()], words if path is None else _shortened(path, folders)]
        at = match.start() + len(words)
    return "".join([*parts, text[at:]])


def _existing(text: str, start: int) -> str | None:
    """Return the longest path at `start` with such letters inside that exists, or whose folder does."""
    line = _LINE.match(text, start)
    if line is None:
        return None
    ends = [end.start() for end in islice(_ENDS.finditer(line[0]), _WORDS)]
    paths = [path for end in (len(line[0]), *ends[::-1]) if _ENDS.search(path := line[0][:end])]
    folders = ((path, os.path.split(path)[0]) for path in paths)
    inside = (path for path, folder in folders if _ENDS.search(folder) and _exists(folder))
    return next(chain(filter(_exists, paths), inside), None)


def _known_path(text: str, folders: list[str]) -> str | None:
    """Return the path at the start of `text` in a folder of this machine; None if there is none."""
    words = text.split(" ")
    count = 1
    while count < len(words) and re.search(r"(?<=[^/\\])[/\\]", words[count]):
        count += 1
    path = " ".join(words[:count])
    if any(path == folder or path.startswith((f"{folder}/", f"{folder}\\")) for folder in folders):
        return path
    parent = os.path.split(words[0].rstrip("/\\"))[0]
    return path if _exists(parent) else None


def _shortened(path: str, folders: list[str]) -> str:
    """Return the last part of a path; nothing for one of the user's own folders."""
    bare = path.rstrip("/\\")
    return _CUT if bare in folders else f"{_CUT}/{bare.replace(chr(92), '/').rpartition('/')[2]}"


def _exists(path: str) -> bool:
    """Return whether a path exists below the root. On Windows, `//host/share` would contact the host."""
    of_host = path.startswith("//") and not path.startswith("///")
    return not of_host and len(Path(path).parts) > 1 and os.path.lexists(path)
