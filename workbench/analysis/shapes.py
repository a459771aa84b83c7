"""Shapes and types of the source graph, as far as ONNX's own inference gives them without weights."""

from __future__ import annotations

from onnx import ModelProto, TensorProto, shape_inference
from onnx.shape_inference import InferenceError

from workbench.models.structure import tensors
from workbench.models.wire import KEEP_BYTES

MOST_BYTES = 256 << 20  # of structure: inference copies it through C++


def with_shapes(structure: ModelProto) -> ModelProto:
    """A copy with inferred value_info; the structure itself where inference finds the model contradictory."""
    bare = ModelProto()
    bare.CopyFrom(structure)
    for tensor in tensors(bare):
        if _is_empty(tensor):  # weights that were left out: inference only asks for their type and shape
            tensor.ClearField("external_data")
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="weights")
    if bare.ByteSize() > MOST_BYTES:
        return structure
    try:
        return shape_inference.infer_shapes(bare, check_type=False, strict_mode=False, data_prop=True)
    except (
        InferenceError,
        RuntimeError,
        ValueError,
    ):  # declared shapes that contradict each other: ORT decides
        return structure


def _is_empty(tensor: TensorProto) -> bool:
    return tensor.ByteSize() < KEEP_BYTES and not any(
        len(getattr(tensor, field))
        for field in (
            "raw_data",
            "float_data",
            "int32_data",
            "int64_data",
            "double_data",
            "uint64_data",
            "string_data",
        )
    )
