"""A model whose nodes all have names, so that trace, graph and placement can be joined.

ORT calls an unnamed node `<OpType>_<index>` in its trace and leaves it unnamed in the saved graph, and the
index is no position in the file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import threading
from pathlib import Path

from workbench.core import home
from workbench.core.models.external import locations
from workbench.core.models.fingerprint import file_sha256
from workbench.core.models.structure import read_structure
from workbench.core.stored_files import trim
from workbench.core.text import path_text
from workbench.core.worker.launch import call_job
from workbench.features.explain.graph import unnamed

_TIMEOUT_S = 900.0
_GENERATION = b"3"  # of the names given: another one makes other files


def named_model(path: Path, cancel: threading.Event | None = None) -> Path:
    """Return the model at `path` if all its nodes have names, else a copy in the cache where they have.

    External data is linked beside the copy where the file system can, and copied where it cannot.
    """
    structure = read_structure(path)  # which reads no weights
    if not unnamed(structure):
        return path
    files = sorted(locations(structure, path_text(path)))
    digest = hashlib.sha256(_GENERATION + file_sha256(path, cancel).encode())
    for location in files:
        stat = (path.parent / location).stat()
        digest.update(f"{location}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
    folder = home.cache_folder() / "named" / digest.hexdigest()[:24]
    target = folder / "model.onnx"
    if target.exists():
        return target
    folder.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        for location in files:
            (making / location).parent.mkdir(parents=True, exist_ok=True)
            _link(path.parent / location, making / location)
        arguments = {"source": str(path.absolute()), "target": str(making / target.name)}
        call_job("preparing.naming", arguments, timeout_s=_TIMEOUT_S, cancel=cancel)
        making.rename(folder)
        trim(folder.parent)
    except OSError as error:
        if not target.exists():  # else another process was first
            reason = error.strerror or str(error)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise home.unusable(
                folder.parent, "the folder of models with named nodes", "WORKBENCH_HOME", reason, full=full
            ) from error
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return target


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
