"""The temporary folder of workers, locked while its kernel lives, and what to say when it has no room."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from workbench.errors import WorkerError

try:
    import fcntl
except ImportError:  # Windows: there the process id in the folder's name must do
    fcntl = None  # type: ignore[assignment]

PREFIX = "ort-workbench-"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_CLOSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EIO})


class WorkerFolder:
    """A private temporary folder for logs and feeds; folders of dead kernels are swept away."""

    def __init__(self) -> None:
        try:
            _sweep(Path(tempfile.gettempdir()))
            self.path, self._lock = _locked_folder()
        except OSError as error:
            raise no_room(error.errno, str(error)) or error from error

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """A disk that was full meanwhile is told as such."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        if isinstance(error, OSError) and error.errno in _FULL:
            raise no_room(error.errno, str(error)) or error from error


def no_room(number: int | None, told: str) -> WorkerError | None:
    """The error for an OSError with this number, None if it is not about files that we wrote."""
    if number in _FULL:
        return WorkerError(
            f"the disk of the temporary folder is full: {told}",
            "free some space, or set TMPDIR to a folder on a disk that has more",
        )
    if number in _CLOSED:
        return WorkerError(
            f"the temporary folder cannot be used: {told}",
            "set TMPDIR to a folder that exists and that you may write to",
        )
    return None


def _locked_folder() -> tuple[Path, int | None]:
    """A new folder and the descriptor that holds its lock; another one if a sweeper was quicker."""
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
        except OSError:  # a file system without locks, where no sweeper can lock and remove it either
            return path, lock
        if path.exists():
            return path, lock
        os.close(lock)


def _sweep(parent: Path) -> None:
    """Remove what dead kernels left; a process id alone says nothing where containers share the folder."""
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
    except OSError:  # another user's, or just removed: not ours to judge
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # its kernel lives, or this file system has no locks
        return
    finally:
        os.close(lock)


def _alive(pid: int) -> bool:
    import psutil

    return psutil.pid_exists(pid)
