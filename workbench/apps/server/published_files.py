"""Files that the kernel publishes for the server, by entries in a private folder of the user.

A browser can name an entry by its random id and nothing else: no path comes from an address. The server
reads an entry only from a folder and a file that nobody else may write, and serves a file only while place
on disk, size and time of change are as published, and never through a link.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import BinaryIO, Literal, get_args

from workbench.core.errors import WorkbenchError
from workbench.core.home import data_folder
from workbench.core.text import path_text

Kind = Literal["netron", "speedscope"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LIFE_S = 7 * 24 * 3600.0  # models of a notebook left open over the weekend stay available
MOST_ENTRY_BYTES = 100_000
_ID = re.compile(r"[A-Za-z0-9_-]{32}\Z")
_OURS = (".json", ".onnx", ".trace")  # endings of an entry, and of the files made for one


class PublishedError(WorkbenchError):
    """The error of a link whose model or trace is gone or was changed."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """One file that may be served, in its state at publication."""

    kind: Kind
    title: str  # untrusted text
    path: str
    size_bytes: int
    modified_ns: int
    inode: int
    device: int
    expires_s: float  # since the epoch
    made: bool  # made for this entry, removed with the entry


def folder() -> Path:
    """Return the folder of entries, private to its owner."""
    place = data_folder() / "published"
    place.mkdir(mode=0o700, exist_ok=True)
    if not _private(place, directory=True):
        raise PublishedError(
            f"{place} can be written by others, or is not yours",
            "remove it, or set WORKBENCH_HOME to a folder of your own",
        )
    return place


def new_id() -> str:
    """Return an unguessable id."""
    return secrets.token_urlsafe(24)


def publish(kind: Kind, file: Path, title: str, *, id: str | None = None, made: bool = False) -> str:
    """Allow the server to serve this file; return the id for the browser."""
    place, id = folder(), id or new_id()
    clear(place)
    path = Path(os.path.realpath(file))  # the server follows no links
    try:
        status = path.stat()
    except OSError as error:
        problem = f"{path_text(path)} cannot be shown: {error.strerror or error}"
        raise PublishedError(problem, "open the model again from where it is now") from error
    entry = PublishedFile(
        kind=kind,
        title=title,
        path=str(path),
        size_bytes=status.st_size,
        modified_ns=status.st_mtime_ns,
        inode=status.st_ino,
        device=status.st_dev,
        expires_s=time.time() + LIFE_S,
        made=made,
    )
    write_private(place / f"{id}.json", json.dumps(asdict(entry)).encode("utf-8"))
    return id


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that only its owner can read."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(content)


def find(id: str, kind: Kind) -> PublishedFile:
    """Return the entry of this id; refuse an expired, damaged or public entry, and one of another kind."""
    gone = PublishedError(
        "this link is unknown here, or older than a week",
        "open it again from the notebook; kernel and server must share the same WORKBENCH_HOME",
    )
    if not _ID.match(id):
        raise gone
    try:
        path = folder() / f"{id}.json"
        with _opened(path) as file:
            data = json.loads(file.read(MOST_ENTRY_BYTES)) if _private(path) else {}
        entry = PublishedFile(**data)
        if not _well_typed(entry) or entry.kind != kind or not entry.expires_s > time.time():
            raise gone
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise gone from error
    return entry


def _well_typed(entry: PublishedFile) -> bool:
    """Return whether every value has the type of its field: a damaged file can hold any type."""
    types = {"str": str, "Kind": str, "bool": bool, "int": int, "float": (int, float)}
    return all(
        isinstance(value := getattr(entry, field.name), types[str(field.type)])  # type: ignore[arg-type]
        and (field.type == "bool" or not isinstance(value, bool))
        for field in fields(entry)
    )


def open_file(entry: PublishedFile) -> BinaryIO:
    """Open the file of an entry, unless another file has taken its place."""
    changed = PublishedError(
        "the file was changed, replaced or removed since this link was made",
        "open it again from the notebook",
    )
    try:
        file = _opened(Path(entry.path))
    except (OSError, ValueError) as error:  # ValueError: no file can have this path
        raise changed from error
    status = os.fstat(file.fileno())
    now = (status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev)
    if now != (entry.size_bytes, entry.modified_ns, entry.inode, entry.device):
        file.close()
        raise changed
    return file


def clear(place: Path | None = None) -> None:
    """Remove expired entries with the files made for them, and equally old files without an entry."""
    place = place or folder()
    for path in place.glob("*.json"):
        # Another process may be clearing too.
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            if json.loads(path.read_bytes())["expires_s"] < time.time():
                for ending in _OURS:
                    path.with_suffix(ending).unlink(missing_ok=True)
    for path in place.iterdir():  # the entry of this file was never written, or is damaged
        with suppress(OSError):
            if path.suffix in _OURS and path.lstat().st_mtime + LIFE_S < time.time():
                path.unlink()


def _opened(path: Path) -> BinaryIO:
    """Open a regular file; refuse links, pipes and devices."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    if path.is_symlink():  # for systems without the flag
        raise OSError("a symbolic link")
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("no regular file")
    return file


def _private(path: Path, *, directory: bool = False) -> bool:
    """Return whether only this user can write the file, as the user's folder ensures on Windows."""
    status = path.lstat()
    right = stat.S_ISDIR(status.st_mode) if directory else stat.S_ISREG(status.st_mode)
    if sys.platform == "win32":
        return right
    return right and status.st_uid == os.getuid() and not status.st_mode & 0o077
