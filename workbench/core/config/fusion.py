"""ORT's offline transformer optimizer as a value of a config."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.core.config.kinds import Choice, Count
from workbench.core.config.name_kinds import Switches
from workbench.core.config.parts import ConfigPart
from workbench.core.errors import ConfigError

MODEL_TYPES = (
    *("bart", "bert", "bert_keras", "bert_tf", "clip", "conformer", "gpt2", "gpt2_tf", "gpt_neox", "mmdit"),
    *("phi", "qwen3", "sam2", "swin", "t5", "tnlr", "unet", "vae", "vit"),
)
SWITCHES = (
    *("disable_multi_head_attention_bias", "enable_attention", "enable_bias_add", "enable_bias_gelu"),
    *("enable_bias_skip_layer_norm", "enable_bias_splitgelu", "enable_embed_layer_norm", "enable_gelu"),
    *("enable_gelu_approximation", "enable_gemm_fast_gelu", "enable_group_norm", "enable_layer_norm"),
    *("enable_nhwc_conv", "enable_packed_kv", "enable_packed_qkv", "enable_qordered_matmul"),
    *("enable_rotary_embeddings", "enable_shape_inference", "enable_skip_group_norm"),
    *("enable_skip_layer_norm", "group_norm_channels_last", "use_multi_head_attention"),
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TransformerFusion(ConfigPart):
    """ORT's transformer optimizer: attention, embeddings and normalization become one operator each.

    Fields left at None are read from the graph; the record of the step names them.

    >>> import workbench as wb
    >>> wb.TransformerFusion(model_type="bert", num_heads=12, hidden_size=768)
    TransformerFusion(model_type='bert', num_heads=12, hidden_size=768)
    """

    FIELD: ClassVar[str] = "fusion"
    KIND: ClassVar[str] = "transformer"
    LABEL: ClassVar[str] = "transformer fusion"

    model_type: str | None = Choice.declare(
        "read from the graph",
        "The architecture whose patterns ORT looks for. Default: read from the graph, and recorded.",
        "ORT fuses nothing with the type that was read from the graph.",
        MODEL_TYPES,
    )
    num_heads: int | None = Count.declare(
        "read from the graph",
        "Heads of an attention; without it the optimizer fuses none. Default: read from the graph.",
        "The number read from the graph is wrong, or the graph shows none.",
        label="attention heads",
    )
    hidden_size: int | None = Count.declare(
        "read from the graph",
        "Width of the hidden state. Default: read from the graph.",
        "The number read from the graph is wrong, or the graph shows none.",
    )
    options: tuple[tuple[str, bool], ...] = Switches.declare(
        "as ORT has them",
        "Single fusions on or off, by the names of ORT's FusionOptions. Default: ORT's for the type.",
        "One of the fusions costs time or accuracy: SkipLayerNormalization often does on a CPU.",
        SWITCHES,
    )

    def check(self) -> None:
        if self.num_heads and self.hidden_size and self.hidden_size % self.num_heads:
            raise ConfigError(
                f"hidden_size={self.hidden_size} is no multiple of num_heads={self.num_heads}.",
                "Give the width of all heads together, such as 768 for 12 heads of 64.",
            )
