"""The store of unpacked samples: one folder each, complete or absent.

A folder's name contains the digest of the packed file, so a changed sample has another folder. All files are
written to a hidden folder, the manifest last, and the folder is then renamed. Two processes may work at once:
the second one to finish drops its own folder.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Protocol

from sample_models.rehydrate import GENERATOR, Progress, rehydrate

_MANIFEST = "manifest.json"
INSTALL_TRIES = 10  # a retry means that another process replaced the folder in the same instant


class Write(Protocol):
    """A function that writes the model of a packed file to a path; returns what it wrote."""

    def __call__(self, packed: bytes, path: Path, /, *, progress: Progress | None) -> tuple[Path, ...]: ...


def stored(
    name: str, packed: bytes, folder: Path, *, progress: Progress | None = None, write: Write = rehydrate
) -> Path:
    """Return the path of the sample's model below `folder`; make a missing or damaged one."""
    home = folder / f"{name}-{digest(packed)}"
    model_path = home / f"{name}.onnx"
    if is_whole(home):
        return model_path
    folder.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder))
    try:
        for path in write(packed, making / model_path.name, progress=progress):
            path.chmod(0o644)
        write_manifest(making)
        _install(making, home)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    _remove_older(name, keep=home)
    return model_path


def digest(packed: bytes) -> str:
    """Return a digest of the packed file and of the generation of the code that makes its weights."""
    return hashlib.sha256(b"%d " % GENERATOR + packed).hexdigest()[:12]


def write_manifest(home: Path) -> None:
    """Note each file's size and time of change."""
    (home / _MANIFEST).write_text(json.dumps(_state(home)), encoding="utf-8")


def is_whole(home: Path) -> bool:
    """Return whether no file below `home` changed since its manifest was written.

    Size and time decide, as with make: hashing half a gigabyte at each load costs more than drawing it again.
    """
    try:
        noted = json.loads((home / _MANIFEST).read_text(encoding="utf-8"))
        return bool(noted == _state(home))
    except (OSError, ValueError):
        return False


def _state(home: Path) -> dict[str, list[int]]:
    files = (path for path in home.iterdir() if path.name != _MANIFEST)
    return {path.name: [path.stat().st_size, path.stat().st_mtime_ns] for path in sorted(files)}


def _install(making: Path, home: Path) -> None:
    """Rename `making` to `home`; replace a damaged folder there, keep a complete one."""
    for _ in range(INSTALL_TRIES):
        try:
            making.rename(home)
            return
        except OSError:
            if is_whole(home):
                return
            if not home.exists():
                raise  # no folder in the way: the reason is permissions or a full disk
        aside = Path(tempfile.mkdtemp(prefix=".damaged-", dir=home.parent))
        try:
            home.rename(aside / home.name)
        except FileNotFoundError:
            pass  # another process moved the folder first
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    raise OSError(f"{home} is changed by others all the time")


def _remove_older(name: str, *, keep: Path) -> None:
    """Remove the folders of earlier versions of this sample."""
    length = len(keep.name)
    for sibling in keep.parent.glob(f"{name}-*"):
        suffix = sibling.name.removeprefix(f"{name}-")
        if sibling != keep and len(sibling.name) == length and _is_digest(suffix):
            shutil.rmtree(sibling, ignore_errors=True)


def _is_digest(text: str) -> bool:
    return all(letter in "0123456789abcdef" for letter in text)
