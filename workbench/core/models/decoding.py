"""The loop of a language model: its input of tokens, its logits and its cache, from names and shapes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto

from workbench.core.errors import InputError
from workbench.core.models.declared import (
    Declared,
    Dim,
    TensorType,
    declared_inputs,
    declared_outputs,
)
from workbench.core.models.element_type import size_bytes
from workbench.core.models.position_tables import positions_of
from workbench.core.models.structure import tensors
from workbench.core.rewrites.graphs import graphs
from workbench.core.text import folded, listed, shorten

_INTEGERS = (TensorProto.INT64, TensorProto.INT32)
_TOKENS = re.compile(r"input_ids|token_ids|tokens|(^|_)ids?$")
_NO_TOKENS = re.compile(r"type|mask|position|segment|encoder_|past|seqlen")
_CACHE_WORD = re.compile(r"past_key_values|present_key_values|past_key_value|past|present|cache")
_LENGTH = re.compile(r"past|seq|len|total|cache|time")
_FIX = "export the model with dynamic axes for batch and sequence, and for the length of the cache"


@dataclass(frozen=True, slots=True)
class Cache:
    """An input that takes what an output gave at the step before; `axis` is the one that grows."""

    past: str
    present: str
    axis: int


@dataclass(frozen=True, slots=True)
class DecodingNames:
    """The names of a model that a loop over tokens needs. All are untrusted."""

    tokens: str
    logits: str
    mask: str | None  # ones for every token so far
    positions: str | None
    positions_rank: int
    segments: str | None  # zeros beside the tokens
    branch: str | None  # whether there is a cache to read, of models that hold both branches
    caches: tuple[Cache, ...]  # empty: every step runs the whole sequence
    most_tokens: int | None  # rows of the table of positions


def decoding_names(model: ModelProto) -> DecodingNames:
    """Return the names; an InputError says what the model lacks."""
    inputs, outputs = declared_inputs(model), declared_outputs(model)
    tokens = _tokens(inputs)
    batch, sequence = tokens.dims
    if isinstance(sequence, int):
        raise InputError(
            f"{shorten(tokens.name)!r} takes {sequence} tokens and no other number, so it cannot go on",
            _FIX,
        )
    caches = tuple(_caches(inputs, outputs, batch))
    presents = {cache.present for cache in caches}
    logits = _logits([output for output in outputs if output.name not in presents])
    return DecodingNames(
        tokens=tokens.name,
        logits=logits,
        mask=_named(inputs, r"mask", tokens, rank=2),
        positions=(positions := _named(inputs, r"position", tokens)),
        positions_rank=next((len(value.dims) for value in inputs if value.name == positions), 2),
        segments=_named(inputs, r"type_id|segment", tokens, rank=2),
        branch=_named(inputs, r"use_cache", tokens),
        caches=caches,
        most_tokens=positions_of(model),
    )


def decoding_dims(model: ModelProto, names: DecodingNames, prompt: int, batch: int = 1) -> dict[str, int]:
    """Return the sizes of example inputs: so many prompts of this length."""
    (tokens,) = (value for value in declared_inputs(model) if value.name == names.tokens)
    if isinstance(tokens.dims[0], int) and tokens.dims[0] != batch:
        raise InputError(f"{shorten(tokens.name)!r} takes a batch of {tokens.dims[0]}, not of {batch}", _FIX)
    sizes = zip((0, 1), (batch, prompt), tokens.dims, strict=True)
    return {f"{tokens.name}.{axis}": size for axis, size, dim in sizes if not isinstance(dim, int)}


def check_length(names: DecodingNames, prompt: int, tokens: int) -> None:
    """Refuse more tokens than the model has positions for."""
    if names.most_tokens is not None and prompt + tokens > names.most_tokens:
        raise InputError(
            f"{prompt} tokens and {tokens} more are {prompt + tokens}, and the model has positions for "
            f"{names.most_tokens}",
            "give a shorter prompt=, or fewer tokens=",
        )


def cache_feeds(names: DecodingNames, feed: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the shape of each empty cache: that of the example with nothing along the growing axis."""
    shapes = {}
    for cache in names.caches:
        shape = list(feed[cache.past].shape)
        shape[cache.axis] = 0
        shapes[cache.past] = shape
    return shapes


def is_in_place(model: ModelProto, names: DecodingNames) -> bool:
    """Return whether each cache is read and written by GroupQueryAttention alone.

    Its kernels add to a buffer that is the past and the present, if it is long enough.
    """
    readers: dict[str, list[NodeProto]] = {}
    for node in model.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    return bool(names.caches) and all(
        len(nodes := readers.get(cache.past, [])) == 1
        and nodes[0].op_type == "GroupQueryAttention"
        and cache.present in nodes[0].output
        for cache in names.caches
    )


def weight_bytes(model: ModelProto) -> int:
    """Return the bytes of weights that a step reads: all but the tables of which it gathers a few rows."""
    tables, others = set(), set()
    for graph in graphs(model):
        for node in graph.node:
            is_table = node.op_type in ("Gather", "GatherBlockQuantized") and bool(node.input)
            tables |= set(node.input[:1]) if is_table else set()
            others |= set(node.input[1:] if is_table else node.input)
    return sum(
        size_bytes(tensor.data_type, tensor.dims) or 0
        for tensor in tensors(model)
        if tensor.name not in tables - others
    )


def _tokens(inputs: Sequence[Declared]) -> Declared:
    rows = [
        value
        for value in inputs
        if isinstance(value.type, TensorType)
        and value.type.element in _INTEGERS
        and len(value.dims) == 2
        and not _NO_TOKENS.search(folded(value.name).replace("decoder_", ""))
    ]
    named = [value for value in rows if _TOKENS.search(folded(value.name))]
    if not (named or rows):
        raise InputError(
            "No input takes tokens: none holds integers by batch and sequence",
            f"give a language model; this one takes {listed([value.name for value in inputs])}",
        )
    return (named or rows)[0]


def _caches(inputs: Sequence[Declared], outputs: Sequence[Declared], batch: Dim) -> list[Cache]:
    """Pair inputs and outputs whose names differ in "past" and "present" alone."""
    presents = {
        _bare(output.name): output.name for output in outputs if _CACHE_WORD.search(folded(output.name))
    }
    caches = []
    for value in inputs:
        present = presents.get(_bare(value.name)) if _CACHE_WORD.search(folded(value.name)) else None
        if present is not None and len(value.dims) > 2:
            caches.append(Cache(value.name, present, _growing(value, batch)))
    return caches


def _bare(name: str) -> str:
    """Return the name without its word for the cache: "past_key_values.0.key" → "0.key"."""
    return _CACHE_WORD.sub("", folded(name), count=1).strip("._/")


def _growing(value: Declared, batch: Dim) -> int:
    """Return the axis of a cache along which tokens are added."""
    dims = value.dims
    free = [
        axis for axis, dim in enumerate(dims) if not isinstance(dim, int) and (dim is None or dim != batch)
    ]
    named = [axis for axis in free if isinstance(dims[axis], str) and _LENGTH.search(folded(str(dims[axis])))]
    usual = [axis for axis in free if axis == len(dims) - 2]
    if not free:
        raise InputError(f"The cache {shorten(value.name)!r} has a fixed length: {value.type}", _FIX)
    return (named or usual or free)[-1]


def _logits(outputs: Sequence[Declared]) -> str:
    rows = [value for value in outputs if isinstance(value.type, TensorType) and len(value.dims) in (0, 3)]
    named = [value for value in rows if "logits" in folded(value.name)]
    if not rows:
        raise InputError(
            "No output gives logits by batch, sequence and vocabulary",
            "give a model with its language head; this one gives "
            f"{listed([value.name for value in outputs])}",
        )
    return (named or rows)[0].name


def _named(inputs: Sequence[Declared], pattern: str, tokens: Declared, rank: int | None = None) -> str | None:
    for value in inputs:
        if value is tokens or not isinstance(value.type, TensorType):
            continue
        fits = rank is None or len(value.dims) == rank
        if fits and re.search(pattern, folded(value.name)) and "encoder_att" not in folded(value.name):
            return value.name
    return None
