"""Job: quantize weights and activations to integers, with ranges measured by the job `calibrate`."""

from __future__ import annotations

import re
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
TRIES = 4  # each leaves out the operators on which the previous one failed
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
    notes: list[str] = []
    float_model = unshared(source, target) if format == "qoperator" else source
    for _ in range(TRIES):
        try:
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
            break
        except ValueError as error:
            broken = [name for name in _readers(float_model, str(error)) if name in QLinearOpsRegistry]
            if not broken:
                raise
            for name in broken:
                QLinearOpsRegistry.pop(name)
                notes.append(f"every {name} stays in float: ORT's integer form of it breaks this graph")
    files.forget(float_model, source)
    return files.answer(source, target, notes)


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


def _readers(source: str, message: str) -> list[str]:
    """Return the types of the nodes that read the undefined tensors named by ORT's quantizer."""
    if "unknown initializers/tensors" not in message:
        return []
    tensors = set(re.findall(r"'([^']+)'", message))
    graph = onnx.load(source, load_external_data=False).graph
    return sorted({node.op_type for node in graph.node if tensors & set(node.input)})
