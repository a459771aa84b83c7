"""The sizes that the position tables of a transformer allow."""

from __future__ import annotations

import re
from math import isqrt
from typing import TYPE_CHECKING

from workbench.core.text import folded

if TYPE_CHECKING:
    from onnx import ModelProto

MOST_TOKENS = 100_000
PROMPT, TOKENS = 128, 64  # where the model has positions for so many
_POSITIONS = re.compile(r"position|pos_emb|wpe|pos_enc")


def positions_of(model: ModelProto) -> int | None:
    """Return the rows of the smallest position table: a longer sequence would not fit."""
    rows = [
        int(tensor.dims[0])
        for tensor in model.graph.initializer
        if len(tensor.dims) == 2
        and tensor.dims[0] > 1 < tensor.dims[1]
        and _POSITIONS.search(folded(tensor.name))
    ]
    fit = min(rows, default=None)
    if fit is not None and fit > 4 and (fit - 2) & (fit - 3) == 0:
        return fit - 2  # RoBERTa's and BART's tables begin with two unused rows
    return fit


def usual_prompt(most_tokens: int | None, tokens: int | None = None) -> int:
    """Return the length of a prompt where none is given: it and what follows fit the positions."""
    most = most_tokens or MOST_TOKENS
    return max(1, min(PROMPT, most // 2, most - (tokens or 0)))


def usual_tokens(most_tokens: int | None, prompt: int) -> int:
    """Return how many tokens follow a prompt where no number is given."""
    return max(1, min(TOKENS, (most_tokens or MOST_TOKENS) - prompt))


def image_side(model: ModelProto) -> int | None:
    """Return the image side that fits the position table of a vision transformer."""
    patches = [
        int(next((a.ints[0] for a in node.attribute if a.name == "kernel_shape" and len(a.ints) == 2), 0))
        for node in model.graph.node
        if node.op_type == "Conv"
    ]
    for tensor in model.graph.initializer:
        if len(tensor.dims) == 3 and tensor.dims[0] == 1 and _POSITIONS.search(folded(tensor.name)):
            for extra in (1, 0, 2):  # one class token, none, or a class and a distillation token
                count = int(tensor.dims[1]) - extra
                if count > 0 and isqrt(count) ** 2 == count and patches and 1 < patches[0] <= 64:
                    return min(isqrt(count) * patches[0], 4096)
    return None
