"""Model files of any size in a job, read whole; a large one is written with its weights beside it."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import onnx

from workbench.core.models.naming import name_nodes, unnamed
from workbench.core.models.structure import graphs
from workbench.core.rewrites.scopes import with_subgraphs
from workbench.core.worker.session import weights_beside

MOST_IN_ONE_FILE = 1 << 30  # bytes of weights; protobuf ends at 2 GiB, and some tools fail earlier
DATA = "model.onnx.data"


def is_large(path: str) -> bool:
    """Return whether products of this file should keep their weights in a file of their own."""
    return has_external(path) or Path(path).stat().st_size > MOST_IN_ONE_FILE


def has_external(path: str) -> bool:
    """Return whether weights lie beside the file, where a graph saved by ORT would refer to them."""
    model = onnx.load(path, load_external_data=False)
    return any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in model.graph.initializer)


def whole(source: str, folder: str) -> str:
    """Return the file, or a copy with internal weights, which ORT's own format requires."""
    if not has_external(source):
        return source
    path = str(Path(folder) / "whole.onnx")
    onnx.save(onnx.load(source), path)
    return path


def saved_outside(source: str) -> dict[str, str]:
    """Return session entries with which ORT saves a large graph's weights in a file of their own."""
    return weights_beside(DATA) if is_large(source) else {}


def save(model: onnx.ModelProto, path: str) -> None:
    """Save a model in one file, or a large model with the weights in a second one."""
    if weight_bytes(model) <= MOST_IN_ONE_FILE:
        onnx.save(model, path)
        return
    onnx.save(
        model,
        path,
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=DATA,
        size_threshold=1024,
    )


def weight_bytes(model: onnx.ModelProto) -> int:
    """Return the size of the weights in memory; `ByteSize()` of a message fails above 2 GiB."""
    return sum(
        len(tensor.raw_data) + 4 * len(tensor.float_data) + 8 * len(tensor.int64_data)
        for graph in graphs(model)
        for tensor in graph.initializer
    )


def named(source: str, target: str) -> str:
    """Return the file, or a copy beside the target with a name for every node, as quantizers require."""
    if not unnamed(onnx.load(source, load_external_data=False)):
        return source
    model = onnx.load(source)
    name_nodes(model)
    return copy_beside(model, target, "named")


def copy_beside(model: onnx.ModelProto, target: str, folder_name: str) -> str:
    """Save a changed model in a folder beside the target."""
    folder = Path(target).parent / folder_name
    folder.mkdir()
    path = str(folder / "model.onnx")
    save(model, path)
    return path


def forget(copy: str, source: str) -> None:
    """Remove the copy of a changed model, if any."""
    if copy != source:
        shutil.rmtree(Path(copy).parent)


def operators(path: str) -> Counter[str]:
    """Return the number of nodes of each type, bodies included."""
    model = onnx.load(path, load_external_data=False)
    return Counter(node.op_type for graph in with_subgraphs(model.graph) for node in graph.node)


def answer(source: str, target: str, notes: list[str], **more: Any) -> dict[str, Any]:
    """Return the answer of a job: the operators before and after, and its notes."""
    return {
        "before": dict(operators(source)),
        "after": dict(operators(target)),
        "notes": notes,
        **more,
    }
