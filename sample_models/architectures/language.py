"""Text models of transformers: BERT, DistilBERT, GPT-2 and a small LLaMA with its cache."""

from __future__ import annotations

from typing import Literal

import torch
import transformers
from torch import nn
from transformers.cache_utils import DynamicCache

from sample_models.architectures import Blueprint

Attention = Literal["eager", "sdpa"]

TOKENS = {0: "batch", 1: "sequence"}


def bert_base(attention: Attention = "eager") -> Blueprint:
    """Return BERT-base uncased: 12 layers, 12 heads, width 768."""
    tokens = torch.randint(0, 30522, (2, 128))
    return Blueprint(
        build=lambda: TokensFirst(transformers.BertModel(_settled(transformers.BertConfig(), attention))),
        inputs={
            "input_ids": tokens,
            "attention_mask": torch.ones_like(tokens),
            "token_type_ids": torch.zeros_like(tokens),
        },
        outputs=("last_hidden_state", "pooler_output"),
        dynamic={
            "input_ids": TOKENS,
            "attention_mask": TOKENS,
            "token_type_ids": TOKENS,
            "last_hidden_state": TOKENS,
            "pooler_output": {0: "batch"},
        },
    )


def distilbert(attention: Attention = "eager") -> Blueprint:
    """Return DistilBERT for two classes: 6 layers, 12 heads, width 768."""
    tokens = torch.randint(0, 30522, (2, 128))
    config = transformers.DistilBertConfig()
    return Blueprint(
        build=lambda: TokensFirst(
            transformers.DistilBertForSequenceClassification(_settled(config, attention))
        ),
        inputs={"input_ids": tokens, "attention_mask": torch.ones_like(tokens)},
        outputs=("logits",),
        dynamic={"input_ids": TOKENS, "attention_mask": TOKENS, "logits": {0: "batch"}},
    )


def gpt2(attention: Attention = "eager") -> Blueprint:
    """Return GPT-2 small over a whole prompt, no cache: 12 layers, 12 heads, width 768."""
    tokens = torch.randint(0, 50257, (2, 256))
    config = transformers.GPT2Config(use_cache=False)
    return Blueprint(
        build=lambda: TokensFirst(transformers.GPT2LMHeadModel(_settled(config, attention))),
        inputs={"input_ids": tokens, "attention_mask": torch.ones_like(tokens)},
        outputs=("logits",),
        dynamic={"input_ids": TOKENS, "attention_mask": TOKENS, "logits": TOKENS},
    )


def llama_small(attention: Attention = "eager") -> Blueprint:
    """Return one decoding step of a LLaMA: 8 layers, 12 heads that share 4 keys, width 768, with cache."""
    config = transformers.LlamaConfig(
        vocab_size=32000,
        hidden_size=768,
        intermediate_size=2048,
        num_hidden_layers=8,
        num_attention_heads=12,
        num_key_value_heads=4,
        max_position_embeddings=2048,
    )
    batch, past, new = 2, 128, 3
    inputs = {
        "input_ids": torch.randint(0, config.vocab_size, (batch, new)),
        "attention_mask": torch.ones(batch, past + new, dtype=torch.long),
        "position_ids": torch.arange(past, past + new).repeat(batch, 1),
    }
    dynamic = {
        "input_ids": TOKENS,
        "attention_mask": {0: "batch", 1: "total"},
        "position_ids": TOKENS,
        "logits": TOKENS,
    }
    outputs = ["logits"]
    for layer in range(config.num_hidden_layers):
        for part in ("key", "value"):
            inputs[f"past_key_values.{layer}.{part}"] = torch.randn(batch, 4, past, 64)
            dynamic[f"past_key_values.{layer}.{part}"] = {0: "batch", 2: "past"}
            dynamic[f"present.{layer}.{part}"] = {0: "batch", 2: "total"}
            outputs.append(f"present.{layer}.{part}")
    return Blueprint(
        build=lambda: Cached(transformers.LlamaForCausalLM(_settled(config, attention))),
        inputs=inputs,
        outputs=tuple(outputs),
        dynamic=dynamic,
    )


class TokensFirst(nn.Module):
    """A transformers model with positional inputs: the token ids first."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        token_type_ids: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, ...]:
        extra = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        outputs = self.model(input_ids=input_ids, attention_mask=attention_mask, return_dict=True, **extra)
        return tuple(outputs.values())


class Cached(nn.Module):
    """A causal model with its cache as flat inputs and outputs: key and value of each layer."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        position_ids: torch.Tensor,
        *past: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        cache = DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        outputs = self.model(
            input_ids=input_ids,
            attention_mask=attention_mask,
            position_ids=position_ids,
            past_key_values=cache,
            use_cache=True,
        )
        present = [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]
        return (outputs.logits, *present)


def _settled(config: transformers.PretrainedConfig, attention: Attention) -> transformers.PretrainedConfig:
    config._attn_implementation = attention
    return config
