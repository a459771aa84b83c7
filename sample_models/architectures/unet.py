"""A denoising U-Net like Stable Diffusion's, narrower: residual blocks, self- and cross-attention, skips."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from sample_models.architectures import Blueprint

_WIDTHS = (128, 256, 512)  # Stable Diffusion 1.5 has 320, 640, 1280 and 1280 again
_HEADS = 8
TEXT_WIDTH = 768
GROUPS = 32


def sd_unet() -> Blueprint:
    """Return one denoising step on 32 x 32 latents (a 256 x 256 picture) with 77 tokens of text."""
    return Blueprint(
        build=UNet,
        inputs={
            "sample": torch.randn(2, 4, 32, 32),
            "timestep": torch.tensor([10, 500]),
            "encoder_hidden_states": torch.randn(2, 77, TEXT_WIDTH),
        },
        outputs=("noise",),
        dynamic={name: {0: "batch"} for name in ("sample", "timestep", "encoder_hidden_states", "noise")},
    )


class Residual(nn.Module):
    """Two 3 x 3 convolutions, with the time added between them."""

    def __init__(self, before: int, after: int, time: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(GROUPS, before)
        self.conv1 = nn.Conv2d(before, after, 3, padding=1)
        self.time = nn.Linear(time, after)
        self.norm2 = nn.GroupNorm(GROUPS, after)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1)
        self.skip = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        hidden = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(hidden)))


class Attention(nn.Module):
    """Scaled dot-product attention, written as matrix products and a softmax."""

    def __init__(self, width: int, context: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(context, width, bias=False)
        self.value = nn.Linear(context, width, bias=False)
        self.out = nn.Linear(width, width)
        self.head = width // _HEADS

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            part.view(part.shape[0], part.shape[1], _HEADS, self.head).transpose(1, 2)
            for part in (self.query(x), self.key(context), self.value(context))
        )
        weights = torch.softmax(query @ key.transpose(-1, -2) * self.head**-0.5, dim=-1)
        joined = (weights @ value).transpose(1, 2)
        return self.out(joined.reshape(joined.shape[0], joined.shape[1], _HEADS * self.head))


class Transformer(nn.Module):
    """Self-attention, cross-attention to the text and a gated feed-forward, with pixels as tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(GROUPS, width)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.itself = Attention(width, width)
        self.text = Attention(width, TEXT_WIDTH)
        self.widen = nn.Linear(width, 8 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        rows, columns = int(x.shape[2]), int(x.shape[3])
        tokens = self.norm(x).flatten(2).transpose(1, 2)
        normed = self.norm1(tokens)
        tokens = tokens + self.itself(normed, normed)
        tokens = tokens + self.text(self.norm2(tokens), text)
        values, gate = self.widen(self.norm3(tokens)).chunk(2, dim=-1)
        tokens = tokens + self.narrow(values * F.gelu(gate))
        return x + tokens.transpose(1, 2).reshape(-1, int(x.shape[1]), rows, columns)


class UNet(nn.Module):
    """Down blocks, a middle block, and up blocks with skip connections from the down blocks."""

    def __init__(self) -> None:
        super().__init__()
        time = 4 * _WIDTHS[0]
        self.time = nn.Sequential(nn.Linear(_WIDTHS[0], time), nn.SiLU(), nn.Linear(time, time))
        self.enter = nn.Conv2d(4, _WIDTHS[0], 3, padding=1)
        befores = (_WIDTHS[0], *_WIDTHS[:-1])
        self.down = nn.ModuleList(Residual(a, b, time) for a, b in zip(befores, _WIDTHS, strict=True))
        self.down_attention = nn.ModuleList(Transformer(width) for width in _WIDTHS)
        self.shrink = nn.ModuleList(nn.Conv2d(w, w, 3, stride=2, padding=1) for w in _WIDTHS[:-1])
        self.middle = Residual(_WIDTHS[-1], _WIDTHS[-1], time)
        self.middle_attention = Transformer(_WIDTHS[-1])
        ups = tuple(reversed(_WIDTHS))
        afters = (*ups[1:], _WIDTHS[0])
        self.up = nn.ModuleList(Residual(2 * w, after, time) for w, after in zip(ups, afters, strict=True))
        self.up_attention = nn.ModuleList(Transformer(after) for after in afters)
        self.grow = nn.ModuleList(nn.Conv2d(w, w, 3, padding=1) for w in afters[:-1])
        self.norm = nn.GroupNorm(GROUPS, _WIDTHS[0])
        self.leave = nn.Conv2d(_WIDTHS[0], 4, 3, padding=1)

    def forward(self, sample: torch.Tensor, timestep: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        time = self.time(_waves(timestep, _WIDTHS[0]))
        x = self.enter(sample)
        kept = []
        for level, (residual, attention) in enumerate(zip(self.down, self.down_attention, strict=True)):
            x = attention(residual(x, time), text)
            kept.append(x)
            if level < len(self.shrink):
                x = self.shrink[level](x)
        x = self.middle_attention(self.middle(x, time), text)
        for level, (residual, attention) in enumerate(zip(self.up, self.up_attention, strict=True)):
            x = attention(residual(torch.cat((x, kept.pop()), dim=1), time), text)
            if level < len(self.grow):
                x = self.grow[level](F.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.leave(F.silu(self.norm(x)))


def _waves(timestep: torch.Tensor, width: int) -> torch.Tensor:
    """Return the time as sines and cosines of falling frequency."""
    half = width // 2
    frequencies = torch.exp(torch.arange(half, dtype=torch.float32) * (-math.log(10000) / half))
    angles = timestep[:, None].float() * frequencies[None, :]
    return torch.cat((torch.cos(angles), torch.sin(angles)), dim=-1)
