"""The step of ORT's transformer optimizer, told what the graph says about itself."""

from __future__ import annotations

from typing import Any

from workbench.config import Config, TransformerFusion
from workbench.errors import PrepareError
from workbench.models.model import Model
from workbench.preparation.nodes import in_words
from workbench.preparation.shape import transformer_shape
from workbench.preparation.step import Answer, Said, Step

ATTENTION = ("Attention", "MultiHeadAttention", "PackedAttention", "GroupQueryAttention")


# Of diffusion models: the operators that these make have kernels for GPUs alone.
ON_GPUS = (
    *("enable_nhwc_conv", "enable_group_norm", "enable_skip_group_norm", "enable_bias_splitgelu"),
    *("enable_bias_add", "enable_packed_kv", "enable_packed_qkv"),
)
GPUS = ("CUDAExecutionProvider", "TensorrtExecutionProvider", "MIGraphXExecutionProvider")


def transformer_fusion(asked: TransformerFusion, config: Config) -> Step:
    """Refuses what is no transformer, and what nothing was fused in."""
    found: list[str] = []
    on_gpu = any(provider.name in GPUS for provider in config.providers)

    def arguments(model: Model) -> dict[str, Any]:
        seen = transformer_shape(model.structure)
        kind = asked.model_type or seen.model_type
        heads, width = asked.num_heads or seen.num_heads, asked.hidden_size or seen.hidden_size
        if kind is None:
            raise PrepareError(
                "the graph has no attention, so ORT's transformer optimizer has nothing to fuse",
                "leave fusion out for this model, or name its kind: TransformerFusion(model_type='bert')",
            )
        found[:] = [
            *seen.why,
            *([] if heads else ["no head count found: attention is not fused without one (num_heads=…)"]),
        ]
        options = dict(asked.options)
        if kind in ("unet", "vae") and not on_gpu:
            options = {**dict.fromkeys(ON_GPUS, False), **options}
            found.append("without the fusions whose operators run on GPUs alone")
        return {
            "model_type": kind,
            "num_heads": heads or 0,
            "hidden_size": width or 0,
            "options": options,
        }

    def says(answer: Answer) -> Said:
        fused = {name: count for name, count in answer["fused"].items() if count}
        if not fused:
            raise PrepareError(
                "ORT's transformer optimizer fused nothing in this graph",
                "try another model_type, or leave fusion out: ORT's own passes at load may still fuse",
            )
        before, after = sum(answer["before"].values()), sum(answer["after"].values())
        notes: tuple[str, ...] = ()
        if not any(fused.get(name) for name in ATTENTION):
            notes = (
                "no attention was fused: ORT knows the pattern of eager attention exported by tracing; SDPA "
                "and dynamo exports have another",
            )
        return f"{in_words(fused)}; {before} nodes became {after} ({'; '.join(found)})", notes

    return Step("transformer fusion", "preparing.fusion", arguments, says, _explains)


def _explains(told: str) -> tuple[str, str] | None:
    """ORT's optimizer fails with errors of Python where a graph is not what it expects."""
    if "list index out of range" in told:
        return (
            "ORT's optimizer expects every Gemm of this kind to have a bias, and this export has one without",
            "give another model_type, export with torch.onnx.export(dynamo=False), or leave fusion out",
        )
    return None
