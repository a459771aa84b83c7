"""A model whose nodes all have names, so that trace, graph and placement can be joined.

ORT calls an unnamed node `<OpType>_<index>` in its trace and leaves it unnamed in the saved graph, and the
index is no position in the file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from workbench import home
from workbench.analysis.graph import name_nodes, unnamed
from workbench.models.structure import read_structure, tensors

_GENERATION = b"2"  # of the names given: another one makes other files


def named_model(path: Path) -> Path:
    """The model at `path` if all its nodes have names, else a copy in the cache where they have.

    External data is linked beside the copy where the file system can, and copied where it cannot.
    """
    import onnx
    from onnx.external_data_helper import uses_external_data

    if not unnamed(read_structure(path)):  # which reads no weights
        return path
    model = onnx.load(path, load_external_data=False)
    name_nodes(model)
    locations = sorted(
        {
            entry.value
            for tensor in tensors(model)
            if uses_external_data(tensor)
            for entry in tensor.external_data
            if entry.key == "location"
        }
    )
    raw = model.SerializeToString()
    digest = hashlib.sha256(_GENERATION + raw)
    for location in locations:
        stat = (path.parent / location).stat()
        digest.update(f"{location}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
    folder = home.cache_folder() / "named" / digest.hexdigest()[:24]
    target = folder / "model.onnx"
    if target.exists():
        return target
    folder.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        for location in locations:
            (making / location).parent.mkdir(parents=True, exist_ok=True)
            _link(path.parent / location, making / location)
        (making / target.name).write_bytes(raw)
        making.rename(folder)
    except OSError:
        if not target.exists():  # else another process was first
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return target


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
