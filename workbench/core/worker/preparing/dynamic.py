"""Job: quantize weights to 8-bit integers, and activations at run time."""

from __future__ import annotations

from typing import Any

import onnx
from onnx import TensorProto
from onnxruntime.quantization import QuantType, quantize_dynamic

from workbench.core.worker.preparing import files, retries


def run(
    source: str,
    target: str,
    weight: str,
    per_channel: bool,
    reduce_range: bool,
    op_types: list[str],
    exclude: list[str],
) -> dict[str, Any]:
    model = onnx.load(source)
    for value in model.graph.value_info:  # the exporter's shapes contradict the rewritten graph;
        value.type.tensor_type.ClearField("shape")  # the exporter's types are needed for ORT's own operators
    quantize_dynamic(
        model,
        target,
        op_types_to_quantize=op_types or None,
        per_channel=per_channel,
        reduce_range=reduce_range,
        weight_type=QuantType.QInt8 if weight == "int8" else QuantType.QUInt8,
        nodes_to_exclude=exclude,
        use_external_data_format=files.is_large(source),
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )
    bodies = retries.in_bodies(onnx.load(source, load_external_data=False))
    return files.answer(source, target, [], bodies=bodies)
