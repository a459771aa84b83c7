"""The cache of prepared models: one folder per entry, named by a hash of its sources, complete or absent.

A process makes an entry in a hidden folder under a lock and then renames the folder. The system releases the
lock of a dead process, and the next holder of the lock removes the hidden folder. Hashes are checked on
reading, so a damaged entry is made again.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.core import home, stored_files
from workbench.core.background import check_cancel
from workbench.core.errors import PrepareError, WorkbenchError
from workbench.core.locked_folder import alone
from workbench.core.models.fingerprint import file_sha256
from workbench.core.prepare.step import PRODUCTS

_MOST_BYTES = 20 << 30  # bound of all entries, unless WORKBENCH_PREPARED_GB is set
IN_USE_S = 3600.0  # entries used within the last hour stay: a measurement may be running
ENTRY_FILE = "entry.json"
MOST_NOTE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A prepared model in the cache, and the answer of its job."""

    model: Path  # or another product of the step
    answer: dict[str, Any]  # of the job
    duration_s: float  # of the job
    fresh: bool  # made by this call


Make = Callable[[Path], tuple[dict[str, Any], float]]
Check = Callable[[dict[str, Any]], object]


def entry(key: str, make: Make, *, check: Check = bool, cancel: threading.Event | None = None) -> CachedModel:
    """Return the cached entry of this key, or make it.

    `make` writes model.onnx (or .ort) and its weights into a folder, and returns the job's answer and
    duration. `check` reads an answer; an entry with an unreadable answer is damaged.
    """
    folder = _folder()
    cached = _read(folder / key, check)
    if cached is not None:
        return cached
    with alone(folder / f".{key}.lock", lambda: check_cancel(cancel)):
        cached = _read(folder / key, check)  # another process may have made the entry meanwhile
        if cached is not None:
            return cached
        making = folder / f".{key}.making"
        shutil.rmtree(making, ignore_errors=True)  # left by a dead process
        try:
            making.mkdir()
            answer, duration_s = make(making)
            _write_note(making, answer, duration_s)
            if (folder / key).exists():
                _discard(folder / key)  # a damaged entry
            making.rename(folder / key)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            reason = error.strerror or str(error)
            raise home.unusable(
                folder, "the folder of prepared models", "WORKBENCH_HOME", reason, full=full
            ) from error
        finally:
            shutil.rmtree(making, ignore_errors=True)
    trim()
    made = _read(folder / key, check)
    if made is None:
        raise PrepareError(
            f"the prepared model in {folder} changed while it was written",
            "check the disk; nothing else should write to that folder",
        )
    return replace(made, fresh=True)


def trim(*, most_bytes: int | None = None) -> None:
    """Remove the least recently used entries until the rest fits the bound."""
    bound = _bound() if most_bytes is None else most_bytes
    stored_files.trim(_folder(), most_bytes=bound, unused_s=IN_USE_S, remove=lambda entry: remove(entry.path))


def _folder() -> Path:
    folder = home.cache_folder() / "prepared"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _bound() -> int:
    setting = os.environ.get("WORKBENCH_PREPARED_GB")
    if not setting:
        return _MOST_BYTES
    try:
        return int(float(setting) * 1e9)
    except (ValueError, OverflowError) as error:
        raise PrepareError(
            f"WORKBENCH_PREPARED_GB is {setting!r}, which is no number of bytes",
            "set it to gigabytes, such as 20",
        ) from error


def _read(folder: Path, check: Check) -> CachedModel | None:
    """Return the cached entry, or None for a missing or damaged one."""
    try:
        if not (folder / ENTRY_FILE).is_file() or (folder / ENTRY_FILE).stat().st_size > MOST_NOTE_BYTES:
            return None
        note = json.loads((folder / ENTRY_FILE).read_text(encoding="utf-8"))
        files = dict(note["files"])
        if note["model"] not in files or any(Path(name).name != name for name in files):
            return None  # unchecked files are not loaded
        if not all((folder / name).is_file() for name in files):  # reading a pipe would never end
            return None
        if any(file_sha256(folder / name) != digest for name, digest in files.items()):
            return None
        whole = CachedModel(
            folder / note["model"], dict(note["answer"]), float(note["duration_s"]), fresh=False
        )
        check(whole.answer)
        (folder / ENTRY_FILE).touch()
        return whole
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    except WorkbenchError:  # a file of the entry is gone or unreadable
        return None


def _write_note(making: Path, answer: dict[str, Any], duration_s: float) -> None:
    files = {path.name: file_sha256(path) for path in sorted(making.iterdir()) if path.is_file()}
    (model,) = (name for name in files if name in PRODUCTS)
    note = {"model": model, "files": files, "answer": answer, "duration_s": duration_s}
    (making / ENTRY_FILE).write_text(json.dumps(note), encoding="utf-8")


def remove(path: Path) -> None:
    """Remove the entry; keep a locked entry."""

    def give_up() -> None:
        raise BlockingIOError

    lock = path.with_name(f".{path.name}.lock")
    # It may be in use, or owned by another user: the next trim tries again.
    with suppress(OSError), alone(lock, give_up):
        _discard(path)
        lock.unlink(missing_ok=True)


def _discard(path: Path) -> None:
    """Rename an entry, then remove it, so that no reader meets half an entry."""
    aside = path.with_name(f".{path.name}.removed")
    shutil.rmtree(aside, ignore_errors=True)
    path.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)
