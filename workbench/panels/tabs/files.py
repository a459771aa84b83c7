"""Files that the browser gets: names that are made from a model's name, and contents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.worker.folder import WorkerFolder

MOST_LETTERS = 60  # of a model's name in a file name


def file_name(model: str) -> str:
    """Return a safe file name for a model's name, which may hold anything."""
    safe = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-" for letter in model
    )
    return safe.strip("-")[:MOST_LETTERS] or "result"


def content_of(write: Callable[[Path], Path], name: str) -> bytes:
    """Return the content of the file that `write` makes, for a browser on another machine than the kernel."""
    with WorkerFolder() as folder:
        return write(folder / name).read_bytes()
