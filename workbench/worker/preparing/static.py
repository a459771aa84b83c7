"""Job: quantize weights and activations to integers, with ranges measured by the job `calibrate`."""

from __future__ import annotations

from typing import Any

import onnx
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.registry import QLinearOpsRegistry

from workbench.rewrites.scopes import reads_of
from workbench.worker.preparing import files
from workbench.worker.preparing.calibrate import METHODS

TYPES = {
    "int8": QuantType.QInt8,
    "uint8": QuantType.QUInt8,
    "int16": QuantType.QInt16,
    "uint16": QuantType.QUInt16,
}
WITH_BIAS = ("Conv", "ConvTranspose", "Gemm")  # the bias is the third input
FORMATS = {"qdq": QuantFormat.QDQ, "qoperator": QuantFormat.QOperator}


def run(
    source: str,
    target: str,
    ranges: str,
    format: str,
    activation: str,
    weight: str,
    per_channel: bool,
    reduce_range: bool,
    calibrator: str,
    op_types: list[str],
    exclude: list[str],
) -> dict[str, Any]:
    QLinearOpsRegistry.pop("Where", None)  # the integer form of Where leaves its inputs undefined
    float_model = unshared(source, target) if format == "qoperator" else source
    quantize_static(
        float_model,
        target,
        None,
        quant_format=FORMATS[format],
        op_types_to_quantize=op_types or None,
        per_channel=per_channel,
        reduce_range=reduce_range,
        activation_type=TYPES[activation],
        weight_type=TYPES[weight],
        nodes_to_exclude=exclude,
        use_external_data_format=files.is_large(source),
        calibrate_method=METHODS[calibrator],
        calibration_cache_path=ranges,
    )
    files.forget(float_model, source)
    return files.answer(source, target, [])


def unshared(source: str, target: str) -> str:
    """Return the file, or a copy beside the target in which no other node reads the bias of a product.

    ORT's quantizer to integer operators writes a shared constant once: with the scales of its first reader,
    or as an activation, which no kernel takes as a bias.
    """
    model = onnx.load(source)
    reads = reads_of(model)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    copies = 0
    for node in model.graph.node:
        bias = node.input[2] if node.op_type in WITH_BIAS and len(node.input) > 2 else ""
        if bias not in constants or reads[bias] < 2:
            continue
        reads[bias] -= 1
        copies += 1
        copy = model.graph.initializer.add()
        copy.CopyFrom(constants[bias])
        copy.name = node.input[2] = f"{bias}_unshared_{copies}"
    return files.copy_beside(model, target, "unshared") if copies else source
