"""The temporary folder of workers, locked while its kernel lives, and the error for a full disk."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from workbench.core import home
from workbench.core.errors import StorageError
from workbench.core.locked_folder import PREFIX, locked_folder, remove_abandoned
from workbench.core.text import path_text

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR})
_NO_ROOM_BYTES = 1 << 20  # less than any graph that ORT failed to write for another reason
_HOME = ("the folder for kept files", "WORKBENCH_HOME")
_TEMPORARY = ("the temporary folder", "TMPDIR")
_CLOSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EIO})


_REMOVED = (
    "load the model again with wb.load: `workbench clean`, or a cleaner of temporary files, removes files "
    "that a running kernel may still use"
)


class WorkerFolder:
    """A private temporary folder for logs and feeds; folders of dead kernels are removed."""

    def __init__(self) -> None:
        try:
            remove_abandoned(Path(tempfile.gettempdir()))
            self.path, self._lock = locked_folder()
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
        if folder is not None and error.errno in _GONE and folder.is_dir():
            return StorageError(f"{path_text(file)} is gone{_during(stage)}", _REMOVED)
    elif full and not temporary_file:
        folder = min((temporary, *homes), key=_free_bytes)
    if folder is None:
        return None
    role, variable = _TEMPORARY if folder == temporary else _HOME
    reason = f"{error.strerror or error}{_during(stage)}"
    return home.unusable(folder, role, variable, reason, full=full)


def _during(stage: str) -> str:
    return f" (during {stage})" if stage else ""


def full_disk(stage: str) -> StorageError | None:
    """Return the error of a full disk of ours, or None: ORT gives no reason when it cannot write."""
    if min(map(_free_bytes, (_temporary_folder(), *home.places()))) >= _NO_ROOM_BYTES:
        return None
    return no_room(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), stage)


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
