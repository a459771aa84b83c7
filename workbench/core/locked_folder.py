"""Locks that end with their process: of a temporary folder, and of work that only one process may do."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

try:
    import fcntl
except ImportError:  # Windows: the process id in the folder's name replaces the lock
    fcntl = None  # type: ignore[assignment]

PREFIX = "ort-workbench-"
_POLL_S = 0.1


def locked_folder() -> tuple[Path, int | None]:
    """Return a new folder and the descriptor of its lock; try again if another process removed the folder."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        if fcntl is None:
            return path, None
        try:
            lock = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            if try_lock(lock) and path.exists():
                return path, lock
        except OSError:  # a file system without locks: none can lock and remove the folder either
            return path, lock
        os.close(lock)


def try_lock(number: int) -> bool:
    """Take the lock of an open file; return False while another process holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def alone(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of this file; call `on_wait` again and again while another process holds it.

    Removing the file is allowed inside of the block alone.
    """
    lock = FileLock(path, mode=0o600)
    while not lock.is_locked:
        try:
            lock.acquire(blocking=False)
        except Timeout:
            on_wait()
            time.sleep(_POLL_S)
    try:
        yield
    finally:
        lock.release()


def remove_abandoned(parent: Path) -> None:
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
        if try_lock(lock):  # else the kernel lives
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # this file system has no locks
        return
    finally:
        os.close(lock)


def _alive(pid: int) -> bool:
    import psutil

    return psutil.pid_exists(pid)
