"""The step of ORT's transformer optimizer, with the shape read from the graph."""

from __future__ import annotations

from typing import Any

from workbench.core.config import Config, TransformerFusion
from workbench.core.errors import PrepareError
from workbench.core.models.model import Model
from workbench.core.prepare.nodes import in_words, nodes_before_and_after
from workbench.core.prepare.shape import TransformerShape, transformer_shape
from workbench.core.prepare.step import Answer, Step, Summary

ATTENTION = ("Attention", "MultiHeadAttention", "PackedAttention", "GroupQueryAttention")

_EXPLANATIONS = {  # of a Python error in ORT's optimizer
    "list index out of range": (
        "ORT's optimizer expects every Gemm of this kind to have a bias, and this export has one without",
        "give another model_type, export with torch.onnx.export(dynamo=False), or leave fusion out",
    ),
}
# Fusions of diffusion models, whose operators have kernels for GPUs only.
ON_GPUS = (
    *("enable_nhwc_conv", "enable_group_norm", "enable_skip_group_norm", "enable_bias_splitgelu"),
    *("enable_bias_add", "enable_packed_kv", "enable_packed_qkv"),
)
GPUS = ("CUDAExecutionProvider", "TensorrtExecutionProvider", "MIGraphXExecutionProvider")


def transformer_fusion(asked: TransformerFusion, config: Config) -> Step:
    """Return the step; refuse a graph without attention, or without any fusion by ORT."""
    evidence: list[str] = []
    contradiction: list[str] = []
    on_gpu = any(provider.name in GPUS for provider in config.providers)

    def arguments(model: Model) -> dict[str, Any]:
        shape = transformer_shape(model.structure)
        kind = asked.model_type or shape.model_type
        heads, width = asked.num_heads or shape.num_heads, asked.hidden_size or shape.hidden_size
        if kind is None:
            raise PrepareError(
                "the graph has no attention, so ORT's transformer optimizer has nothing to fuse",
                "leave fusion out for this model, or name its kind: TransformerFusion(model_type='bert')",
            )
        if heads and (width or 0) % heads:
            raise PrepareError(
                f"{heads} heads: the number does not divide the hidden size {width}",
                "leave num_heads and hidden_size out, and they are taken from the graph",
            )
        evidence[:] = shape.why
        if not heads:
            evidence.append("no head count found: attention is not fused without one (num_heads=…)")
        contradiction[:] = filter(None, [_contradiction(asked, shape)])
        options = dict(asked.options)
        if kind in ("unet", "vae") and not on_gpu:
            options = {**dict.fromkeys(ON_GPUS, False), **options}
            evidence.append("without the fusions whose operators run on GPUs alone")
        sizes = {"num_heads": heads or 0, "hidden_size": width or 0 if heads else 0}  # ORT wants both or none
        return {"model_type": kind, **sizes, "options": options}

    def summarize(answer: Answer) -> Summary:
        fused = {name: count for name, count in answer["fused"].items() if count}
        if not fused:
            raise PrepareError(
                "; ".join(["ORT's transformer optimizer fused nothing in this graph", *contradiction]),
                "leave num_heads and hidden_size out, and they are taken from the graph"
                if contradiction
                else "try another model_type, or leave fusion out: ORT's own passes at load may still fuse",
            )
        notes: tuple[str, ...] = ()
        if not any(fused.get(name) for name in ATTENTION):
            notes = (
                f"no attention was fused: {contradiction[0]}"
                if contradiction
                else "no attention was fused: ORT knows the pattern of eager attention exported by tracing; "
                "SDPA and dynamo exports have another",
            )
        return f"{in_words(fused)}; {nodes_before_and_after(answer)} ({'; '.join(evidence)})", notes

    return Step("transformer fusion", "preparing.fusion", arguments, summarize, _EXPLANATIONS)


def _contradiction(asked: TransformerFusion, shape: TransformerShape) -> str | None:
    """Return the user's values that contradict the graph, or None if all agree."""
    sizes = [
        ("{} heads", asked.num_heads, shape.num_heads),
        ("hidden size {}", asked.hidden_size, shape.hidden_size),
    ]
    known = [(words, given, actual) for words, given, actual in sizes if None not in (given, actual)]
    if all(given == actual for _, given, actual in known):
        return None
    all_given = " and ".join(words.format(given) for words, given, _ in known)
    all_actual = " and ".join(words.format(actual) for words, _, actual in known)
    return f"you gave {all_given}, the graph has {all_actual}"
