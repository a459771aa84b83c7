"""The facts of a model file, in the form of its card."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from sample_models.cards import Port

if TYPE_CHECKING:
    import onnx


def facts(model: onnx.ModelProto, meaning: Callable[[str], str]) -> dict[str, Any]:
    """Return the card's fields that the file itself contains."""
    return {
        "opset": next(opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")),
        "ir": model.ir_version,
        "nodes": len(model.graph.node),
        "parameters": sum(_size(tensor) for tensor in model.graph.initializer if _is_float(tensor)),
        "inputs": _ports(model.graph.input, meaning),
        "outputs": _ports(model.graph.output, meaning),
    }


def _ports(values: Iterable[onnx.ValueInfoProto], meaning: Callable[[str], str]) -> tuple[Port, ...]:
    import onnx

    return tuple(
        Port(
            value.name,
            onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type).name,
            tuple(dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim),
            meaning(value.name),
        )
        for value in values
    )


def _is_float(tensor: onnx.TensorProto) -> bool:
    import onnx

    return tensor.data_type in (
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.FLOAT16,
        onnx.TensorProto.DOUBLE,
        onnx.TensorProto.INT8,  # the weights of a quantized model
    )


def _size(tensor: onnx.TensorProto) -> int:
    count = 1
    for extent in tensor.dims:
        count *= extent
    return count
