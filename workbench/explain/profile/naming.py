"""A model whose nodes all have names, so that trace, graph and placement can be joined.

ORT calls an unnamed node `<OpType>_<index>` in its trace and leaves it unnamed in the saved graph, and the
index is no position in the file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench import home

_GENERATION = b"1"  # of the names given: another one makes other files


def named_model(path: Path) -> Path:
    """The model at `path` if all its nodes have names, else a copy in the cache where they have.

    External data is linked beside the copy where the file system can, and copied where it cannot.
    """
    import onnx
    from onnx.external_data_helper import uses_external_data

    model = onnx.load(path, load_external_data=False)
    if not name_nodes(model):
        return path
    locations = sorted(
        {
            entry.value
            for tensor in _tensors(model.graph)
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


def name_nodes(model: Any) -> int:
    """Name every unnamed node of a ModelProto, subgraphs and functions included; how many were named."""
    nodes = [node for graph in (model.graph, *model.functions) for node in _nodes(graph)]
    taken = {node.name for node in nodes}
    count = 0
    for position, node in enumerate(nodes):
        if node.name:
            continue
        name = f"{node.op_type}_{position}"
        while name in taken:
            name += "_"
        node.name = name
        taken.add(name)
        count += 1
    return count


def _nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for body in _bodies(node):
            yield from _nodes(body)


def _bodies(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _tensors(graph: Any) -> Iterator[Any]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
        for body in _bodies(node):
            yield from _tensors(body)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
