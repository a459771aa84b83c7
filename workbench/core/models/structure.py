"""Reading a model's structure: everything but the weights, with all text fields checked."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from workbench.core.errors import ModelError
from workbench.core.installed import need
from workbench.core.models.sniff import HEAD_BYTES, not_onnx
from workbench.core.models.wire import Malformed, TooLarge, without_weights
from workbench.core.rewrites.graphs import attributes, graphs
from workbench.core.text import path_text, shorten

if TYPE_CHECKING:
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import AttributeProto, ModelProto, TensorProto

_AGAIN = "Download, copy or export the model again"
MOST_GRAPH_NODES = 300_000  # walked in some six seconds


def read_structure(path: Path) -> ModelProto:
    """Read the model in a file, without the data of its large tensors."""
    label = path_text(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ModelError(f"{label} is not a regular file", "Give the path of an .onnx file")
        with path.open("rb") as file:
            return structure_of(file, status.st_size, label)
    except PermissionError as error:
        raise ModelError(
            f"{label} may not be read: {error.strerror}", "Ask its owner for the right, or copy the file"
        ) from error
    except OSError as error:
        raise ModelError(
            f"{label} cannot be read: {error.strerror}", "Check the disk and the path"
        ) from error


def structure_of_bytes(data: bytes, label: str) -> ModelProto:
    """Read the model in memory, without the data of its large tensors."""
    return structure_of(io.BytesIO(data), len(data), label)


def structure_of(file: BinaryIO, size: int, label: str) -> ModelProto:
    """Read the model in an open file of `size` bytes; `label` names it in errors."""
    if size == 0:
        raise ModelError(f"{label} is empty (0 bytes)", _AGAIN)
    head = file.read(HEAD_BYTES)
    file.seek(0)
    other = not_onnx(head)
    if other is not None:
        raise ModelError(f"{label} is no ONNX model: it is {other[0]}", other[1])
    need("onnx")
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        model: ModelProto = ModelProto.FromString(without_weights(file, size))
    except Malformed as error:
        raise ModelError(f"{label} is damaged or no ONNX model: {error}", _AGAIN) from error
    except TooLarge as error:
        fix = "Export loops as Loop or Scan instead of unrolled, and give tables of texts as inputs"
        raise ModelError(f"{label} is too large: {error}", fix) from error
    except DecodeError as error:
        raise ModelError(f"{label} is damaged or no ONNX model: {_reason(error)}", _AGAIN) from error
    if not model.HasField("graph"):
        raise ModelError(f"{label} is no ONNX model: it holds no graph", "Give the .onnx file itself")
    _check_size(model, label)
    _check_text(model, label)
    return model


def tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Yield every stored tensor: initializers and values of attributes, in subgraphs and functions too."""
    for graph in graphs(model):
        yield from getattr(graph, "initializer", ())
        for sparse in getattr(graph, "sparse_initializer", ()):
            yield from (sparse.values, sparse.indices)
        for attribute in attributes(graph):
            yield from tensors_of(attribute)


def tensors_of(attribute: AttributeProto) -> Iterator[TensorProto]:
    """Yield the tensors of one attribute; of a sparse one its values and their indices."""
    if attribute.HasField("t"):
        yield attribute.t
    yield from attribute.tensors
    own = (attribute.sparse_tensor,) if attribute.HasField("sparse_tensor") else ()
    for sparse in (*own, *attribute.sparse_tensors):
        yield from (sparse.values, sparse.indices)


def _reason(error: DecodeError) -> str:
    text = str(error)
    if "MaxDepth" in text or "recursion" in text.lower():
        return "it nests subgraphs deeper than protobuf allows (100 levels)"
    return shorten(text, 200)


def _check_size(model: ModelProto, label: str) -> None:
    """Refuse a graph that a small file can hold and no process can walk in seconds."""
    count = 0
    for graph in graphs(model):
        count += len(graph.node)
        if count > MOST_GRAPH_NODES:
            raise ModelError(
                f"{label} has more than {MOST_GRAPH_NODES:,} nodes; the largest nets have a tenth",
                "Export loops as Loop or Scan instead of unrolled",
            )


def _check_text(model: ModelProto, label: str) -> None:
    """Refuse a name that is not UTF-8: the protobuf library returns bytes for it."""
    for text in _texts(model):
        if isinstance(text, bytes):
            raise ModelError(f"{label} is damaged: the name {text[:40]!r} is not UTF-8 text", _AGAIN)


def _texts(model: ModelProto) -> Iterator[object]:
    from onnx import GraphProto

    yield from (model.producer_name, model.producer_version, model.domain, model.graph.name)
    yield from (opset.domain for opset in model.opset_import)
    for graph in graphs(model):
        yield graph.name
        if isinstance(graph, GraphProto):
            for value in (*graph.input, *graph.output, *graph.value_info):
                yield value.name
        else:
            yield graph.domain
            yield from (*graph.input, *graph.output, *graph.attribute)
        for node in graph.node:
            yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
            for attribute in node.attribute:
                yield from (attribute.name, attribute.ref_attr_name)
    for tensor in tensors(model):
        yield tensor.name
        yield from (text for entry in tensor.external_data for text in (entry.key, entry.value))
