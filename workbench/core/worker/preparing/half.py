"""Job: convert to float16 by ORT's converter, and to bfloat16 by retyping its result."""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, numpy_helper
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented
from onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST
from onnxruntime.transformers.onnx_model import OnnxModel

from workbench.core.worker.preparing import files


def run(source: str, target: str, keep_io: bool, blocked_ops: list[str], bfloat16: bool) -> dict[str, Any]:
    proto = onnx.load(source)
    wide: dict[str, Any] = {}
    if bfloat16:
        wide = {  # float16 clips large values and loses small ones
            tensor.name: numpy_helper.to_array(tensor)
            for tensor in proto.graph.initializer
            if tensor.data_type == TensorProto.FLOAT
        }
        blocked_ops = [*blocked_ops, *_without_bfloat16(proto)]
    model = OnnxModel(proto)
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
    ):  # ORT's shape inference leaves a file
        model.convert_float_to_float16(
            keep_io_types=keep_io, op_block_list=sorted({*DEFAULT_OP_BLOCK_LIST, *blocked_ops})
        )
    model.topological_sort()
    if bfloat16:
        _retype(model.model.graph, wide)
    files.save(model.model, target)
    del model, proto, wide
    _check_types(target)
    return files.answer(source, target, [])


def _check_types(path: str) -> None:
    """Load the file: ORT's converter may leave an operator with unsupported types."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    with contextlib.suppress(NotImplemented):  # another provider may have a kernel that the CPU lacks
        ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _without_bfloat16(proto: onnx.ModelProto) -> list[str]:
    """Return operators with float16 but without bfloat16 in this model's opset, such as Conv before 22."""
    opset = next(entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx"))
    op_types = []
    for name in {node.op_type for node in proto.graph.node if node.domain in ("", "ai.onnx")}:
        schema = onnx.defs.get_schema(name, opset)
        kinds = [set(types.allowed_type_strs) for types in schema.type_constraints]
        if any("tensor(float16)" in types and "tensor(bfloat16)" not in types for types in kinds):
            op_types.append(name)
    return op_types


def _retype(graph: Any, wide: dict[str, Any]) -> None:
    half, brain = TensorProto.FLOAT16, TensorProto.BFLOAT16
    for tensor in graph.initializer:
        _retype_tensor(tensor, wide.get(tensor.name))
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.tensor_type.elem_type == half:
            value.type.tensor_type.elem_type = brain
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                _retype(attribute.g, wide)
            elif attribute.type == onnx.AttributeProto.TENSOR:
                _retype_tensor(attribute.t, None)
            elif attribute.name in ("to", "dtype") and attribute.i == half:
                attribute.i = brain


def _retype_tensor(tensor: Any, wide: Any) -> None:
    if tensor.data_type != TensorProto.FLOAT16:
        return
    values = numpy_helper.to_array(tensor) if wide is None else wide
    rounded = values.astype(np.float32)
    bits = rounded.view(np.uint32)
    nearest_even = ((bits >> 16) & 1) + np.uint32(0x7FFF)
    raw = np.where(np.isnan(rounded), bits >> 16, (bits + nearest_even) >> 16).astype(np.uint16)
    name, dims = tensor.name, list(tensor.dims)
    tensor.Clear()
    tensor.name, tensor.data_type, tensor.raw_data = name, TensorProto.BFLOAT16, raw.tobytes()
    tensor.dims.extend(dims)
