"""Models that were opened before, remembered from one kernel to the next."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from workbench.errors import BundleError
from workbench.home import data_folder
from workbench.records.atomic import write_atomically

MOST = 12
MOST_BYTES = 100_000  # of the file: a dozen paths
FILE = "recent.json"


def recent() -> tuple[str, ...]:
    """Newest first; none where the list cannot be read, since nothing but comfort depends on it."""
    try:
        file = data_folder() / FILE
        told = json.loads(file.read_bytes()) if file.stat().st_size <= MOST_BYTES else None
    except (OSError, ValueError, RecursionError):  # the last of brackets in brackets
        return ()
    return tuple(one for one in told if isinstance(one, str))[:MOST] if isinstance(told, list) else ()


def with_recent(before: tuple[str, ...], source: Any) -> tuple[str, ...]:
    """The list with what was just opened in front, where it can be named again."""
    named = nameable(source)
    return before if named is None else (named, *(one for one in before if one != named))[:MOST]


def remember(source: Any) -> None:
    """Put it in front of what every kernel wrote there."""
    if nameable(source) is None:
        return
    try:
        told = json.dumps(with_recent(recent(), source), indent=1)
        write_atomically(Path(data_folder() / FILE), told.encode("utf-8"))
    except (OSError, BundleError):
        return  # a home that cannot be written must not keep a model from being opened


def nameable(source: Any) -> str | None:
    """A name, an absolute path or an address; None for what is in memory and for an address with a secret."""
    if not isinstance(source, str | os.PathLike):
        return None
    text = os.fspath(source)
    if not isinstance(text, str):
        return None
    if "://" in text:
        parts = urlsplit(text)
        return None if parts.query or parts.username or parts.password else text
    path = Path(text).expanduser()
    return str(path.absolute()) if path.exists() else text
