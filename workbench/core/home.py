"""Where our state lives: the platform's user folders, or below WORKBENCH_HOME when that is set."""

from __future__ import annotations

import atexit
import os
import shutil
import threading
from pathlib import Path

from workbench.core.errors import StorageError, warn_user
from workbench.core.locked_folder import locked_folder

_NAME = "ort-workbench"
_substitutes: dict[Path, Path] = {}  # cache folder that cannot be written: temporary folder in its place
_substituting = threading.Lock()


def data_folder() -> Path:
    """Make and return the folder of what must not be lost: the history."""
    return _made(_place("data"))


def cache_folder() -> Path:
    """Make and return the folder of what can be made again: samples, downloads, prepared models.

    If it cannot be written, return a temporary folder that lasts as long as this process.
    """
    folder = _place("cache")
    try:
        return _made(folder)
    except StorageError as error:
        return _substitute(folder, error)


def places() -> tuple[Path, ...]:
    """Return both folders without making them."""
    return (_place("data"), _place("cache"))


def unusable(folder: Path, role: str, variable: str, reason: str, *, full: bool = False) -> StorageError:
    """Return the error of a folder that cannot be written; `variable` moves it to another place."""
    if full:
        return StorageError(
            f"the disk of {role} {folder} is full: {reason}",
            f"free some space there, or set {variable} to a folder on a disk with more room",
        )
    return StorageError(
        f"{role} {folder} cannot be used: {reason}", f"set {variable} to a folder that you may write to"
    )


def _place(kind: str) -> Path:
    home = os.environ.get("WORKBENCH_HOME")
    if home:
        return Path(home).expanduser() / kind
    import platformdirs  # here, because `import workbench` must stay fast

    return Path(platformdirs.user_data_dir(_NAME) if kind == "data" else platformdirs.user_cache_dir(_NAME))


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise unusable(folder, "the folder for kept files", "WORKBENCH_HOME", reason) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise unusable(folder, "the folder for kept files", "WORKBENCH_HOME", "it is not writable")
    return folder


def _substitute(folder: Path, error: StorageError) -> Path:
    with _substituting:
        if folder not in _substitutes:
            try:
                temporary, _ = locked_folder()  # the lock is held until the process ends
            except OSError:
                raise error from None
            atexit.register(shutil.rmtree, temporary, ignore_errors=True)
            _substitutes[folder] = temporary
            warn_user(
                f"{error.problem}. Samples, downloads and prepared models are kept in {temporary} "
                f"until this process ends; {error.fix}"
            )
        return _substitutes[folder]
