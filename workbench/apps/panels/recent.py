"""Models that were opened and environments that were used before, remembered for the next kernel."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from workbench.apps.panels.jobs import Job
from workbench.core.bundle.atomic import write_atomically
from workbench.core.errors import BundleError, StorageError
from workbench.core.home import data_folder
from workbench.core.stored_files import expanded

MOST = 12
_MOST_BYTES = 100_000  # of the file: a dozen paths
RECENT_FILE = "recent.json"
ENVIRONMENTS = "environments.json"


def recent(name: str = RECENT_FILE) -> tuple[str, ...]:
    """Return the list, newest first; empty if it cannot be read, since only comfort depends on it."""
    try:
        file = data_folder() / name
        names = json.loads(file.read_bytes()) if file.stat().st_size <= _MOST_BYTES else None
    except (OSError, StorageError, ValueError, RecursionError):  # the last for brackets in brackets
        return ()
    return tuple(text for text in names if isinstance(text, str))[:MOST] if isinstance(names, list) else ()


def open_model(source: Any, job: Job) -> Any:
    """Open, describe and remember a model, so that no panel waits for its description."""
    from workbench.core.measure.opening import load  # and onnx with it

    def progress(done: int, total: int | None) -> None:
        share = f" of {total / 1e6:,.0f}" if total else ""
        job.step(f"getting it ready: {done / 1e6:,.0f}{share} MB")

    job.step("opening")
    model = load(source, progress=progress)
    model.describe()
    remember(source)
    return model


def with_recent(before: tuple[str, ...], source: Any) -> tuple[str, ...]:
    """Return the list with a source in front, if it can be named again."""
    name = nameable(source)
    return before if name is None else (name, *(other for other in before if other != name))[:MOST]


def remember(source: Any, file: str = RECENT_FILE) -> None:
    """Put a source in front of the list that every kernel writes."""
    if nameable(source) is None:
        return
    try:
        content = json.dumps(with_recent(recent(file), source), indent=1)
        write_atomically(Path(data_folder() / file), content.encode("utf-8"))
    except (OSError, StorageError, BundleError):
        return  # a home that cannot be written must not keep a model from being opened


def nameable(source: Any) -> str | None:
    """Return a name, an absolute path or a URL; None for models in memory and for a URL with a secret."""
    if not isinstance(source, str | os.PathLike):
        return None
    text = os.fspath(source)
    if not isinstance(text, str):
        return None
    if "://" in text:
        parts = urlsplit(text)
        return None if parts.query or parts.username or parts.password else text
    path = expanded(text)
    return str(path.absolute()) if path.exists() else text
