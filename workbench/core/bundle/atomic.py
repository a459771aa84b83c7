"""Atomic file writes: a reader sees the old content or the new content, never a mixture.

The new content goes to a temporary file in the same folder, which then takes the name. What a killed writer
left behind is removed by a later save, an hour after its last change.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from workbench.core.errors import BundleError

_SUFFIX = ".ortbench.tmp"
_STALE_S = 3600.0  # no writer takes as long

_NO_SPACE = "Free some space, or save to another disk. The old file, if there was one, is unchanged."
_NOT_ALLOWED = "Save to a folder that you may write to. The old file, if there was one, is unchanged."
_FIXES = {
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: _NO_SPACE,
    errno.EFBIG: _NO_SPACE,
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.EROFS: _NOT_ALLOWED,
    errno.ENOENT: "Make the folder first, or correct the path.",
    errno.ENOTDIR: "Correct the path: a part of it is a file, not a folder.",
    errno.EISDIR: "Give the name of a file, such as result.ortbench.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
}


def write_atomically(path: str | os.PathLike[str], blob: bytes) -> Path:
    """Write `blob` to `path` in one step; return the written path, with links resolved."""
    with _named(path):
        target = Path(path).expanduser().resolve()
        mode = _mode_of(target)
        _remove_stale(target.parent)
        with _temporary(target.parent) as temporary:
            _fill(temporary, blob, mode)
            temporary.replace(target)
        _sync_folder(target.parent)
    return target


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise the error of a path that takes no file; measuring takes minutes and asks before."""
    with _named(path):
        target = Path(path).expanduser().resolve()
        _mode_of(target)
        with _temporary(target.parent):
            pass


@contextlib.contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise what the system refuses as our own error that names the path and the fix."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:  # ValueError: a null byte; RuntimeError: no home
        number = error.errno if isinstance(error, OSError) else None
        fix = _FIXES.get(number or 0, "Save to another path.")
        raise BundleError(f"{os.fspath(path)!r} cannot be written: {reason_of(error)}.", fix) from error


def reason_of(error: Exception) -> str:
    """Return the system's message without error number and path."""
    if isinstance(error, ValueError) and "embedded null" in str(
        error
    ):  # worded by each Python in its own way
        return "a path holds no null byte"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _mode_of(target: Path) -> int | None:
    """Return the permissions to keep; refuse to replace anything but a regular file."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise ValueError("it is a device, a pipe or a socket, not a file")
    return stat.S_IMODE(mode)


@contextlib.contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    """Yield a new file in `folder`; remove it at the end unless it was moved."""
    path = folder / f".{secrets.token_hex(8)}{_SUFFIX}"
    path.touch(exist_ok=False)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _fill(path: Path, blob: bytes, mode: int | None) -> None:
    with path.open("wb") as file:
        file.write(blob)
        file.flush()
        os.fsync(file.fileno())
    if mode is not None:
        path.chmod(mode)


def _remove_stale(folder: Path) -> None:
    """Remove the temporary files of writers that no longer live."""
    for path in folder.glob(f".*{_SUFFIX}"):
        with contextlib.suppress(OSError):  # another writer was quicker, or it is of another user
            if time.time() - path.stat().st_mtime > _STALE_S:
                path.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut where the system can sync folders."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
