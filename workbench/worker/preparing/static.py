"""Job: weights and activations as integers, from ranges that the job `calibrate` measured."""

from __future__ import annotations

import re
from typing import Any

import onnx
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.registry import QLinearOpsRegistry

from workbench.worker.preparing import files
from workbench.worker.preparing.calibrate import METHODS

TYPES = {
    "int8": QuantType.QInt8,
    "uint8": QuantType.QUInt8,
    "int16": QuantType.QInt16,
    "uint16": QuantType.QUInt16,
}
TRIES = 4  # each without the operators that the one before broke on
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
    QLinearOpsRegistry.pop("Where", None)  # its integer form leaves the tensors that it reads undefined
    notes: list[str] = []
    for _ in range(TRIES):
        try:
            quantize_static(
                source,
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
            broken = [name for name in _readers(source, str(error)) if name in QLinearOpsRegistry]
            if not broken:
                raise
            for name in broken:
                QLinearOpsRegistry.pop(name)
                notes.append(f"every {name} stays in float: ORT's integer form of it breaks this graph")
    return files.answer(source, target, notes)


def _readers(source: str, told: str) -> list[str]:
    """The types of the nodes that read the tensors which ORT's quantizer says it left undefined."""
    if "unknown initializers/tensors" not in told:
        return []
    tensors = set(re.findall(r"'([^']+)'", told))
    graph = onnx.load(source, load_external_data=False).graph
    return sorted({node.op_type for node in graph.node if tensors & set(node.input)})
