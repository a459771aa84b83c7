"""The hash that identifies a model: of its file, and of its weight files if there are any."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.core.background import check_cancel
from workbench.core.errors import ModelError, StorageError
from workbench.core.home import cache_folder
from workbench.core.stored_files import check_regular, trim
from workbench.core.text import path_text

_CHUNK_BYTES = 1 << 20
MOST_NOTES_BYTES = 2_000_000  # about 10,000 files
SETTLED_S = 2.0  # a younger file may change again within its clock's tick: do not cache


def fingerprint(path: Path, external: Sequence[str], cancel: threading.Event | None = None) -> str:
    """Return `sha256sum` of a single-file model, else of that hash and each external file's name and hash."""
    own = file_sha256(path, cancel)
    if not external:
        return own
    total = hashlib.sha256(own.encode())
    for name in sorted(external):
        total.update(f"\0{name}\0{file_sha256(path.parent / name, cancel)}".encode())
    return total.hexdigest()


def file_sha256(path: Path, cancel: threading.Event | None = None) -> str:
    """Return the hash of a file, cached for as long as its size and times stay the same."""
    try:
        state, note = _state(path), _note(path)
        known = None if note is None else _remembered(note, state)
        if known is not None:
            return known
        digest = read_sha256(path, cancel)
        if (
            note is not None
            and _state(path) == state
            and time.time() - max(state[1], state[2]) / 1e9 > SETTLED_S
        ):
            _remember(note, state, digest)
        return digest
    except OSError as error:
        raise ModelError(
            f"{path_text(path)} cannot be read: {error.strerror}", "Check that the file is still there"
        ) from error


def read_sha256(path: Path, cancel: threading.Event | None = None) -> str:
    """Return the hash of a file as it is now."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            check_cancel(cancel)
    return digest.hexdigest()


def _state(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _note(path: Path) -> Path | None:
    """Return the file that caches the hash, or None if there is no folder for it."""
    try:
        folder = cache_folder()
    except StorageError:  # without a cache, every use hashes again
        return None
    return folder / "hashes" / f"{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]}.json"


def _remembered(note: Path, state: list[int]) -> str | None:
    try:
        check_regular(note)
        known = json.loads(note.read_text(encoding="utf-8"))
        digest = known["sha256"] if known["state"] == state else None
    except (OSError, ValueError, KeyError, TypeError):  # no cached hash, or a foreign file: hash the file
        return None
    return digest if isinstance(digest, str) and len(digest) == 64 else None


def _remember(note: Path, state: list[int], digest: str) -> None:
    written = note.with_suffix(f".{os.getpid()}-{threading.get_ident()}")  # a name that no other writer uses
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(json.dumps({"state": state, "sha256": digest}), encoding="utf-8")
        written.replace(note)
        if digest.endswith("00"):  # one in 256: listing the cache takes time
            trim(note.parent, most_bytes=MOST_NOTES_BYTES)
    except OSError:  # a full or read-only home: the next use hashes again
        written.unlink(missing_ok=True)
