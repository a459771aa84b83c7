"""Job: quantize weights and activations to integers, with ranges measured by the job `calibrate`."""

from __future__ import annotations

from typing import Any

import onnx
import onnxruntime as ort
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.registry import QLinearOpsRegistry

from workbench.core.rewrites.scopes import reads_of
from workbench.core.worker.preparing import files, retries
from workbench.core.worker.preparing.calibrate import METHODS

TYPES = {
    "int8": QuantType.QInt8,
    "uint8": QuantType.QUInt8,
    "int16": QuantType.QInt16,
    "uint16": QuantType.QUInt16,
}
WITH_BIAS = ("Conv", "ConvTranspose", "Gemm")  # the bias is the third input
FORMATS = {"qdq": QuantFormat.QDQ, "qoperator": QuantFormat.QOperator}


def run(source: str, target: str, ranges: str, **asked: Any) -> dict[str, Any]:
    """Quantize as asked, or with the changes that avoid a known failure; check that ORT loads the file."""
    model = onnx.load(source, load_external_data=False)
    settings = asked
    changes = [*retries.known_beforehand(model, asked)]
    if changes:
        settings = changes[-1].settings
    first: Exception | None = None
    while True:
        try:
            quantize(source, target, ranges, settings)
            ort.InferenceSession(target, quiet(), providers=["CPUExecutionProvider"])
            break
        except OSError:  # a full disk, say: no other settings help
            raise
        except Exception as error:  # noqa: BLE001 - ORT's tools raise bare exceptions of any kind
            first = first or error
            change = retries.after(error, model, settings, asked)
            if change is None or len(changes) >= retries.MOST_RETRIES:
                raise retries.refused(first, changes) from first
            settings = change.settings
            changes.append(change)
    settled = {name: settings[name] for name in asked if settings[name] != asked[name]}
    reasons = [change.reason for change in changes if change.setting in settled]
    bodies = retries.in_bodies(model)
    return files.answer(source, target, [], changes=reasons, settled=settled, bodies=bodies)


def quiet() -> ort.SessionOptions:
    """Return options of a session that only shows whether a file loads."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return options


def quantize(source: str, target: str, ranges: str, settings: dict[str, Any]) -> None:
    """Quantize once with ORT's quantizer."""
    QLinearOpsRegistry.pop("Where", None)  # the integer form of Where leaves its inputs undefined
    float_model = unshared(source, target) if settings["format"] == "qoperator" else source
    try:
        quantize_static(
            float_model,
            target,
            None,
            quant_format=FORMATS[settings["format"]],
            op_types_to_quantize=settings["op_types"] or None,
            per_channel=settings["per_channel"],
            reduce_range=settings["reduce_range"],
            activation_type=TYPES[settings["activation"]],
            weight_type=TYPES[settings["weight"]],
            nodes_to_exclude=settings["exclude"],
            use_external_data_format=files.is_large(source),
            calibrate_method=METHODS[settings["calibrator"]],
            calibration_cache_path=ranges,
        )
    finally:
        files.forget(float_model, source)


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
