"""Sizes and values that models of other people usually run with, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from workbench.core.models.declared import Declared, TensorType
from workbench.core.models.sizes import RATE, free_dims, is_batch, tensor_of
from workbench.core.models.usual import Usual
from workbench.core.models.values import is_integer
from workbench.core.text import folded

PICTURES = (  # height and width: a multiple of 64, lines of text, which cost little, then larger pictures
    (256, 256), (48, 320), (32, 320), (320, 320), (640, 640), (48, 192), (32, 100), (32, 128), (64, 256),
    (384, 384), (416, 416), (512, 512), (299, 299), (112, 112), (128, 128), (64, 64), (32, 32), (28, 28),
)  # fmt: skip
LENGTHS = (512, 16_000, 256, 576, 1, 1024, 128, 64, 32, 16, 80, 160, 320, 640, 3000, 8000, 48_000, 2, 4)
_RATES = (16_000, 8000)
FILLS = (0, 1)  # of integers: an id of every table, a mask


def tries(inputs: Sequence[Declared], given: Mapping[str, int]) -> Iterator[Usual]:
    """Yield what may run, nothing changed first; `given` sizes stay."""
    groups = _groups(inputs, given)
    sizes = [{}, *_sizes(groups)]
    for values in _values(inputs):
        for chosen in sizes:
            yield Usual(chosen, "", values)


def _groups(inputs: Sequence[Declared], given: Mapping[str, int]) -> dict[str, list[str]]:
    """Return the free dims, named as they are given, by what they count."""
    kinds = {declared.name: tensor_of(declared.type) for declared in inputs}
    groups: dict[str, list[str]] = {"height": [], "width": [], "length": [], "state": []}
    for name, axis, symbol in free_dims(inputs):
        kind, place = kinds[name], f"{name}.{axis}"
        dim = symbol or place
        if kind is None or kind.dims is None or {dim, place} & given.keys():
            continue
        group = _group(kind, axis, symbol or "")
        if group is not None and not any(dim in known for known in groups.values()):
            groups[group].append(dim)
    return groups


def _group(kind: TensorType, axis: int, symbol: str) -> str | None:
    dims = kind.dims or ()
    if is_batch(symbol) or axis == 0:
        return None
    if len(dims) == 4:  # channels are the fixed axis: the first or the last
        side = axis - 1 if isinstance(dims[3], int) and dims[3] <= 4 else axis - 2
        return ("height", "width")[side] if side in (0, 1) else None
    others = [dim for other, dim in enumerate(dims) if other != axis]
    if len(dims) == 3 and axis == 1 and all(isinstance(dim, int) for dim in others):
        return "state"  # layers, batch and width of a recurrent network
    return "length"


def _sizes(groups: Mapping[str, list[str]]) -> Iterator[dict[str, int]]:
    """Yield sizes of one kind at a time, with each batch of the states that fits."""
    states = [{}, dict.fromkeys(groups["state"], 1)] if groups["state"] else [{}]
    pictures = PICTURES if groups["height"] or groups["width"] else ()
    lengths = LENGTHS if groups["length"] else ()
    yield from states[1:]
    for state, (height, width) in product(states, pictures):
        yield {**state, **dict.fromkeys(groups["height"], height), **dict.fromkeys(groups["width"], width)}
    for state, length in product(states, lengths):
        yield {**state, **dict.fromkeys(groups["length"], length)}
    for dim, length in product(groups["length"] if len(groups["length"]) > 1 else (), lengths):
        yield {dim: length}


def _values(inputs: Sequence[Declared]) -> Iterator[dict[str, int]]:
    """Yield constants for inputs of whole numbers: none, sample rates, then zeros and ones."""
    yield {}
    whole = {
        declared.name: kind
        for declared in inputs
        if (kind := tensor_of(declared.type)) is not None and is_integer(kind.element)
    }
    scalars = [name for name, kind in whole.items() if kind.dims in ((), (1,)) or RATE.search(folded(name))]
    if scalars:
        yield from (dict.fromkeys(scalars, rate) for rate in _RATES)
    if whole:
        yield from (dict.fromkeys(whole, fill) for fill in FILLS)
