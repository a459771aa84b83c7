"""Train the transformer for digits: `python -m sample_models.train_vit`. Needs the extra `torch`."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from sample_models.training import (
    DIGITS_LICENCE,
    DIGITS_MEANINGS,
    EXPORTED_WITH,
    SEED,
    export_trained,
    fit,
    publish,
    target,
)

_NAME = "digits-vit"
PATCH, TOKENS, WIDTH, HEADS, DEPTH = 8, 64, 96, 4, 4
_EPOCHS = 30


class EncoderBlock(nn.Module):
    """Attention and a feed-forward part, each after a norm. `causal` masks later tokens."""

    def __init__(self, width: int, heads: int, causal: bool = False) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.heads, self.head, self.causal = heads, width // heads, causal

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens = x.shape[0], x.shape[1]
        query, key, value = (
            part.view(batch, tokens, self.heads, self.head).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).chunk(3, dim=-1)
        )
        scores = query @ key.transpose(-1, -2) * self.head**-0.5
        if self.causal:
            positions = torch.arange(tokens)
            scores = scores.masked_fill(positions[None, :] > positions[:, None], -1e4)
        mixed = (torch.softmax(scores, dim=-1) @ value).transpose(1, 2)
        x = x + self.out(mixed.reshape(batch, tokens, self.heads * self.head))
        return x + self.narrow(nn.functional.gelu(self.widen(self.norm2(x))))


class Vit(nn.Module):
    """A vision transformer: patches of 8 x 8, four blocks, the average token."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, WIDTH, PATCH, PATCH)
        self.places = nn.Parameter(0.02 * torch.randn(1, TOKENS, WIDTH))
        self.blocks = nn.Sequential(*(EncoderBlock(WIDTH, HEADS) for _ in range(DEPTH)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 10)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        tokens = self.patches(pixels).flatten(2).transpose(1, 2) + self.places
        return self.head(self.norm(self.blocks(tokens)).mean(dim=1))


def make(folder: Path | None = None) -> Path:
    """Train and write the ONNX file."""
    torch.manual_seed(SEED)
    net = Vit()
    fit(net, epochs=_EPOCHS, rate=2e-3)
    path = target(_NAME, folder)
    export_trained(net, {"pixels": torch.rand(2, 1, 64, 64)}, path, {0: "batch"})
    return path


if __name__ == "__main__":
    print(
        publish(
            _NAME,
            make(),
            family="vision",
            what="A small vision transformer that reads handwritten digits, 64 x 64, in float32.",
            teaches="Dynamic int8 and float16 on a transformer, with the accuracy they really cost.",
            origin="trained here on scikit-learn's digits, enlarged",
            licence=DIGITS_LICENCE,
            remake="python -m sample_models.train_vit",
            exporter=EXPORTED_WITH,
            meanings=DIGITS_MEANINGS,
            dims=(("batch", 1),),
        ).score
    )
