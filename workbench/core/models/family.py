"""The probable family of a model, guessed from names, shapes and operators, with the reason."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from workbench.core.models.declared import Declared, TensorType
from workbench.core.models.element_type import ElementType
from workbench.core.text import folded, shorten

Family = Literal["BERT-like", "GPT-like", "vision", "audio", "other"]

_INTEGERS = (ElementType.INT64, ElementType.INT32)
_AUDIO = re.compile(r"audio|waveform|(^|_)wave|mel|speech|spectro|fbank|input_features|^pcm")
_IMAGE = re.compile(r"pixel|image|^img|^data$")
_TOKENS = re.compile(r"(^|_)ids$|token|^input$|^tokens")
_CACHE = re.compile(r"past|cache|present")
_AUDIO_OPERATORS = ("STFT", "DFT", "MelWeightMatrix")


def guess_family(
    inputs: Sequence[Declared], outputs: Sequence[Declared], operators: Mapping[str, int]
) -> tuple[Family, str]:
    """Guess the family and return it with the reason; no measurement depends on it."""
    tensors = [(folded(d.name), d.name, d.type) for d in inputs if isinstance(d.type, TensorType)]
    for low, name, _ in tensors:
        if _AUDIO.search(low):
            return "audio", f"the input {shorten(name)!r} is named like sound"
    for spectral in _AUDIO_OPERATORS:
        if spectral in operators:
            return "audio", f"it computes spectra ({spectral})"
    for low, name, image in tensors:
        if image.dims is not None and len(image.dims) == 4 and image.element not in _INTEGERS:
            channels = [dim for dim in (image.dims[1], image.dims[3]) if dim in (1, 3, 4)]
            if channels and (_IMAGE.search(low) or "Conv" in operators or "QLinearConv" in operators):
                return "vision", f"the input {shorten(name)!r} has the shape of an image: {image}"
    return _language(tensors, outputs, operators)


def _language(
    tensors: list[tuple[str, str, TensorType]], outputs: Sequence[Declared], operators: Mapping[str, int]
) -> tuple[Family, str]:
    tokens = [name for low, name, kind in tensors if kind.element in _INTEGERS and _TOKENS.search(low)]
    if not tokens or not any("Gather" in name or "Embed" in name for name in operators):
        return "other", "no input is named or shaped like an image, sound or token ids"
    ids = shorten(tokens[0])
    if any(_CACHE.search(low) for low, _, _ in tensors) or any(
        _CACHE.search(folded(d.name)) for d in outputs
    ):
        return "GPT-like", f"token ids ({ids!r}) and a cache of past keys and values"
    if any("type_ids" in low or "segment" in low for low, _, _ in tensors):
        return "BERT-like", f"token ids ({ids!r}) and token types"
    if not any(
        name.rpartition(".")[2] in ("Softmax", "Attention", "MultiHeadAttention") for name in operators
    ):
        return "other", f"token ids ({ids!r}), but no attention"
    per_token = [d for d in outputs if len(d.dims) == 3]
    if any("logits" in folded(d.name) for d in per_token) or any("GroupQuery" in n for n in operators):
        return "GPT-like", f"token ids ({ids!r}) in, logits for every token out"
    return "BERT-like", f"token ids ({ids!r}) and attention, without a cache or logits for every token"
