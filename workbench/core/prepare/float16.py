"""The step to 16-bit floats."""

from __future__ import annotations

from typing import Any

from onnx import TensorProto

from workbench.core.config import BFloat16, Config, Float16
from workbench.core.errors import PrepareError
from workbench.core.models.model import Model
from workbench.core.prepare.nodes import appeared, in_words, op_types
from workbench.core.prepare.step import Answer, Step, Summary

BFLOAT16_PROVIDERS = (
    *("CUDAExecutionProvider", "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider"),
    "MIGraphXExecutionProvider",
)
_EXPLANATIONS = {
    r"INVALID_GRAPH.*?(Type Error: .*)": (
        "ORT's converter left an operator with types that it does not take, so the file would not load: {}",
        "use another precision for this model: it has an operator that takes no 16-bit floats, and ORT "
        "cannot work out the types around it",
    )
}


def half(asked: Float16 | BFloat16, config: Config) -> Step:
    """Return the step; refuse bfloat16 without a provider that has kernels for it."""
    brain = isinstance(asked, BFloat16)
    on_cpu = all(provider.name == "CPUExecutionProvider" for provider in config.providers)

    def arguments(model: Model) -> dict[str, Any]:
        if brain and not any(provider.name in BFLOAT16_PROVIDERS for provider in config.providers):
            raise PrepareError(
                "ONNX Runtime has no bfloat16 kernels for MatMul, Gemm, Conv, Add, Relu or Softmax on the "
                "CPU, and this config lists no provider that has them",
                "use Float16() or an 8-bit precision, or list a provider that has them: providers=['cuda']",
            )
        if not _has_float32(model):
            raise PrepareError(
                "the model has no float32 tensors to convert", "leave precision out for this model"
            )
        return {"keep_io": asked.keep_io, "blocked_ops": list(asked.blocked_ops), "bfloat16": brain}

    def summarize(answer: Answer) -> Summary:
        casts = appeared(answer, ("Cast",))
        notes: tuple[str, ...] = ()
        if on_cpu:
            notes = (
                "the CPU has few 16-bit kernels: ORT puts casts around the rest, which is rarely faster than "
                "float32",
            )
        return f"16-bit floats{f'; {in_words(casts)} more' if casts else ''}", notes

    return Step(asked.LABEL, "preparing.half", arguments, summarize, _EXPLANATIONS, generation=3)


def _has_float32(model: Model) -> bool:
    """Return whether a weight or an input is float32, or a Constant may be."""
    graph = model.structure.graph
    types = {tensor.data_type for tensor in graph.initializer}
    types |= {value.type.tensor_type.elem_type for value in graph.input}
    return TensorProto.FLOAT in types or "Constant" in op_types(model)
