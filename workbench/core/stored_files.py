"""Entries of a folder of ours: size, last use, removal, and a bound on all of them."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from workbench.core.errors import StorageError
from workbench.core.text import path_text

_MOST_BYTES = 20 << 30  # of one folder of what can be made again
UNUSED_S = 7 * 24 * 3600.0  # a notebook that stayed open over the weekend still finds its model


def check_regular(path: Path) -> None:
    """Raise an OSError for a pipe or a device, which could deliver data for ever or never."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", str(path))


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return the path with `~` as the user's folder; as it is where `~` names no user of this machine."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # the name of a file may begin with ~, too
        return Path(path)


def folder_to_write(path: str | os.PathLike[str]) -> Path:
    """Return the path of a folder of the user's, with `~` as the user's folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise StorageError(
            f"{path_text(Path(path))} is in the folder of a user that this machine does not have",
            "correct the name after ~, or give the path in full",
        ) from error


def free_path(path: Path) -> Path:
    """Return the path or, where there is something, the first that is free with a number behind its name."""
    numbered = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(free for free in chain([path], numbered) if not free.exists())


def made_folder(path: str | os.PathLike[str]) -> Path:
    """Return a folder of the user's, which is made where there is none."""
    folder = folder_to_write(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"the folder {path_text(folder)} cannot be made: {error.strerror or error}"
        raise StorageError(problem, "give a folder that you may write to") from error
    return folder


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One entry: a file, or a folder with its files."""

    path: Path
    size_bytes: int
    used_s: float  # since the epoch: the last change or, where the disk records it, the last reading

    def remove(self) -> None:
        """Remove it; another process may have been quicker."""
        if self.path.is_dir() and not self.path.is_symlink():
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self.path.unlink(missing_ok=True)


def stored_files(folder: Path) -> Iterator[StoredFile]:
    """List the entries of a folder, which need not exist; hidden ones are being made and left out."""
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return
    for path in paths:
        size_bytes, used_s = 0, 0.0
        for file in (path, *path.rglob("*")) if path.is_dir() else (path,):
            try:
                status = file.lstat()
            except OSError:  # another process removes it
                continue
            size_bytes += 0 if file.is_dir() else status.st_size
            used_s = max(used_s, status.st_mtime, 0.0 if file.is_dir() else status.st_atime)
        yield StoredFile(path, size_bytes, used_s)


def trim(
    folder: Path,
    *,
    most_bytes: int = _MOST_BYTES,
    unused_s: float = UNUSED_S,
    remove: Callable[[StoredFile], None] = StoredFile.remove,
) -> None:
    """Remove what was unused for longest until the rest fits `most_bytes`; keep what was used lately."""
    total = 0
    for entry in sorted(stored_files(folder), key=lambda entry: -entry.used_s):
        total += entry.size_bytes
        if total > most_bytes and time.time() - entry.used_s > unused_s:
            remove(entry)
