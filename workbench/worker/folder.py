"""The temporary folder of workers, locked while its kernel lives, and the error for a full disk."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from workbench import home
from workbench.errors import StorageError

try:
    import fcntl
except ImportError:  # Windows: the process id in the folder's name replaces the lock
    fcntl = None  # type: ignore[assignment]

PREFIX = "ort-workbench-"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_HOME = ("the folder for kept files", "WORKBENCH_HOME")
_TEMPORARY = ("the temporary folder", "TMPDIR")
_CLOSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EIO})


class WorkerFolder:
    """A private temporary folder for logs and feeds; folders of dead kernels are removed."""

    def __init__(self) -> None:
        try:
            _sweep(Path(tempfile.gettempdir()))
            self.path, self._lock = _locked_folder()
        except OSError as error:
            raise no_room(error, temporary_file=True) or error from error

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the folder; translate the error of a full disk."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        if isinstance(error, OSError) and error.errno in _FULL:
            raise no_room(error) or error from error


def no_room(error: OSError, stage: str = "", *, temporary_file: bool = False) -> StorageError | None:
    """Return the error that names our folder and its disk, or None if another file is at fault.

    A write error names no file: the folder on the fuller disk is then at fault.
    """
    full = error.errno in _FULL
    if not full and error.errno not in _CLOSED:
        return None
    temporary, homes = _temporary_folder(), home.places()
    folder: Path | None = temporary
    if error.filename is not None and not temporary_file:
        file = Path(os.fsdecode(error.filename)).absolute()
        ours = {temporary / part: temporary for part in file.parts if part.startswith(PREFIX)}
        ours.update((place, place) for place in homes)
        folder = next((ours[place] for place in ours if file.is_relative_to(place)), None)
    elif full and not temporary_file:
        folder = min((temporary, *homes), key=_free_bytes)
    if folder is None:
        return None
    role, variable = _TEMPORARY if folder == temporary else _HOME
    reason = f"{error.strerror or error}{f' (during {stage})' if stage else ''}"
    return home.unusable(folder, role, variable, reason, full=full)


def _temporary_folder() -> Path:
    try:
        return Path(tempfile.gettempdir()).absolute()
    except FileNotFoundError:  # no temporary folder that Python tries is writable
        return Path(os.environ.get("TMPDIR", "/tmp"))


def _free_bytes(folder: Path) -> int:
    """Return the free space on the disk of a folder, which need not exist yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _locked_folder() -> tuple[Path, int | None]:
    """Return a new folder and the descriptor of its lock; try another folder if a sweep removed the first."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        if fcntl is None:
            return path, None
        try:
            lock = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        except OSError:  # a file system without locks: no sweep can lock and remove the folder either
            return path, lock
        if path.exists():
            return path, lock
        os.close(lock)


def _sweep(parent: Path) -> None:
    """Remove folders of dead kernels, judged by the lock: process ids differ between containers."""
    for folder in parent.glob(f"{PREFIX}*-*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[0]
        if owner.isdecimal() and int(owner) != os.getpid():
            _remove_if_dead(folder, int(owner))


def _remove_if_dead(folder: Path, owner: int) -> None:
    if fcntl is None:
        if not _alive(owner):
            shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # the folder of another user, or already removed
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # the kernel lives, or this file system has no locks
        return
    finally:
        os.close(lock)


def _alive(pid: int) -> bool:
    import psutil

    return psutil.pid_exists(pid)
