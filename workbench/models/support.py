"""Check of a model's versions against an ORT release; advice only, since releases move on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto

MAX_IR = 13  # onnxruntime 1.31
MAX_OPSET = 26
MAX_FILE_BYTES = 2**31 - 1  # the protobuf limit of one message


def check_supported(model: ModelProto, max_ir: int = MAX_IR, max_opset: int = MAX_OPSET) -> tuple[str, ...]:
    """Return the reasons, with fixes, why an ORT with these limits refuses the model."""
    reasons: list[str] = []
    if model.ir_version > max_ir:
        reasons.append(
            f"Its IR version is {model.ir_version}; this ORT reads up to {max_ir}. "
            f"Save it with `model.ir_version = {max_ir}`, which is usually enough."
        )
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx") and opset.version > max_opset:
            reasons.append(
                f"It uses opset {opset.version}; this ORT knows up to {max_opset}. Export it with "
                f"opset_version={max_opset}, or convert it with onnx.version_converter."
            )
    if not model.opset_import and model.ir_version >= 3 and not model.functions:
        reasons.append("It names no opset, which IR version 3 and later must. Export it again.")
    return tuple(reasons)
