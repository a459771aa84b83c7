"""The sizes of a stream of requests: read from a list, a text or a file, and rounded up to buckets."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from workbench.core.errors import InputError
from workbench.core.models.declared import declared_inputs
from workbench.core.models.inputs import read_npz
from workbench.core.models.model import Model
from workbench.core.models.sizes import free_dims, is_batch
from workbench.core.stored_files import check_regular, expanded
from workbench.core.text import bytes_text, listed, path_text, quoted, shorten

Shape: TypeAlias = tuple[tuple[str, int], ...]  # dim and size


@dataclass(frozen=True, slots=True)
class SizedRequest:
    """The size of a request, and inputs of the user's own where the stream has them."""

    shape: Shape
    own: _Own | None = None

    def of_size(self, shape: Shape) -> SizedRequest:
        """Return the same request with another size."""
        return replace(self, shape=shape)


@dataclass(frozen=True, eq=False)
class _Own:
    """Inputs of the user's own: one object is one request."""

    values: Mapping[str, Any]


MOST_FEED_BYTES = 1 << 30
_MOST_REQUESTS = 100_000
_MOST_FILE_BYTES = 16 << 20
_FORM = (
    "Give sizes such as 16, 37, 128, inputs such as {name: array}, a CSV file with a column for each dim "
    "and a row for each request, or an .npz file or a folder of such with inputs of your own"
)


def requests_of(model: Model, shapes: Any) -> tuple[SizedRequest, ...]:
    """Return the requests in order."""
    given = _written(shapes) if isinstance(shapes, (str, os.PathLike)) else list(shapes)
    if not 0 < len(given) <= _MOST_REQUESTS:
        raise InputError(f"the stream has {len(given):,} requests", f"Give 1 to {_MOST_REQUESTS:,}")
    return tuple(_request(model, asked) for asked in given)


def _request(model: Model, asked: Any) -> SizedRequest:
    if isinstance(asked, Mapping) and any(map(_is_value, asked.values())):
        own = model.inputs(asked).feeds[0]
        return SizedRequest(_shape_of(model, own), _Own(own))
    shape = asked if isinstance(asked, Mapping) else {one_dim(model): asked}
    if not shape or not _are_whole(shape.values()):
        raise InputError(f"{quoted(asked)} is no size of a request", _FORM)
    return SizedRequest(tuple((str(dim), int(size)) for dim, size in shape.items()))


def _is_value(thing: Any) -> bool:
    """Return whether this is a value of an input: an array, a sequence or a map, and no size."""
    return isinstance(thing, (list, tuple, Mapping)) or np.ndim(thing) > 0


def fed(model: Model, request: SizedRequest, seed: int) -> Any:
    """Return the inputs of a request: random ones, or its own with zeros (empty texts) up to its size."""
    if request.own is None:
        return model.inputs(seed=seed, dims=dict(request.shape)).feeds[0]
    sizes = dict(request.shape)
    padding: dict[str, dict[int, int]] = {}
    own = request.own.values
    for dim, name, axis in _free_in(model, own):
        padding.setdefault(name, {})[axis] = sizes[dim]

    def pad(name: str, value: Any) -> Any:
        wanted = [padding[name].get(axis, size) for axis, size in enumerate(value.shape)]
        nothing: Any = "" if value.dtype == object else 0
        added = [(0, new - old) for new, old in zip(wanted, value.shape, strict=True)]
        return np.pad(value, added, constant_values=nothing)

    return {name: pad(name, value) if name in padding else value for name, value in own.items()}


def feeds_of(model: Model, stream: Iterable[SizedRequest], seed: int) -> list[Any]:
    """Return the inputs of each request of the stream, once for those that are the same."""
    feeds, size = [], 0
    for request in dict.fromkeys(stream):
        feeds.append(fed(model, request, seed))
        size += sum(getattr(value, "nbytes", 0) for value in feeds[-1].values())
        _check_feeds(size, "the stream")
    return feeds


def _check_feeds(size: int, where: str) -> None:
    if size > MOST_FEED_BYTES:
        problem = f"{where} holds more than {bytes_text(MOST_FEED_BYTES)} of inputs"
        raise InputError(problem, "Give fewer or smaller ones")


def _shape_of(model: Model, own: Mapping[str, Any]) -> Shape:
    """Return the size of a request by its arrays; two inputs that share a dim were checked to agree."""
    return tuple({dim: int(own[name].shape[axis]) for dim, name, axis in _free_in(model, own)}.items())


def _free_in(model: Model, own: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return the free dims of inputs that are given as arrays: the items of a sequence may differ."""
    return [(dim, name, axis) for dim, name, axis in _free(model) if isinstance(own.get(name), np.ndarray)]


def _free(model: Model) -> list[tuple[str, str, int]]:
    """Return each free dim, the input and the axis that has it."""
    free = free_dims(declared_inputs(model.structure))
    return [(dim or f"{name}.{axis}", name, axis) for name, axis, dim in free]


def in_words(shape: Shape) -> str:
    """Return a size as text: batch=1, sequence=37."""
    return ", ".join(f"{shorten(dim)}={size}" for dim, size in shape)


def padded(shape: Shape, buckets: Sequence[int] | Mapping[str, Sequence[int]] | None) -> Shape:
    """Return the size rounded up to powers of two, or to the next of the buckets; above the last it stays."""

    def up(dim: str, size: int) -> int:
        steps = buckets.get(dim, ()) if isinstance(buckets, Mapping) else buckets
        if steps is None:
            return 1 << (size - 1).bit_length() if size else 0
        return min((step for step in steps if step >= size), default=size)

    return tuple((dim, up(dim, size)) for dim, size in shape)


def extent(stream: Iterable[SizedRequest]) -> int:
    """Return the products of the dims, added up."""
    return sum(prod(size for _, size in request.shape) for request in stream)


def covers(larger: Shape, shape: Shape) -> bool:
    """Return whether one size is at least as large as another in every dim."""
    sizes = dict(larger)
    return all(sizes.get(dim, -1) >= size for dim, size in shape)


def _written(text: str | os.PathLike[str]) -> list[Any]:
    """Return the sizes of a text with commas or of a CSV file, or inputs of .npz files."""
    if isinstance(text, str) and _are_whole(parts := text.split(",")):
        return parts
    path = expanded(text)
    if path.is_dir() or path.suffix == ".npz":
        return _own_inputs(path)
    try:
        check_regular(path)
        if path.stat().st_size > _MOST_FILE_BYTES:
            raise ValueError("it is too large")
        with path.open(encoding="utf-8-sig", newline="") as file:
            head, *rows = [row for row in csv.reader(file) if row] or [[]]
        wrong = next((row for row in rows if len(row) != len(head) or not _are_whole(row)), None)
        if wrong is not None:
            raise ValueError(f"{','.join(wrong)} is no size for {','.join(head)}")
        if len(head) == 1 and _are_whole(head):
            return [size for row in (head, *rows) for size in row]
        if not rows:
            raise ValueError("it has no row of sizes")
        return [dict(zip(map(str.strip, head), row, strict=True)) for row in rows]
    except OSError as error:
        raise InputError(f"{path_text(path)} cannot be read: {error.strerror or error}", _FORM) from error
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path_text(path)} is no list of sizes: {shorten(str(error))}", _FORM) from error


def _own_inputs(path: Path) -> list[Any]:
    """Return the inputs of an .npz file, or of each in a folder, in the order of their names and numbers."""
    files = sorted(path.glob("*.npz"), key=_in_order) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{path_text(path)} holds no .npz file", _FORM)
    feeds, size = [], 0
    for file in files[: _MOST_REQUESTS + 1]:
        feeds.append(read_npz(file))
        size += sum(array.nbytes for array in feeds[-1].values())
        _check_feeds(size, path_text(path))
    return feeds


def _in_order(file: Path) -> list[str | int]:
    parts = re.split(r"([0-9]+)", file.name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def _are_whole(values: Iterable[Any]) -> bool:
    """Return whether all are whole numbers, or texts of some."""
    texts = [str(value).strip() for value in values]
    return all(text.isascii() and text.isdigit() and len(text) < 10 for text in texts)


def one_dim(model: Model) -> str:
    """Return the dim that a bare number sizes: the only free one, or the only one beside the batch."""
    names = list(dict.fromkeys(dim for dim, _, _ in _free(model)))
    names = [dim for dim in names if not is_batch(dim) and not set("+-*/ ") & set(dim)] or names
    if len(names) != 1:
        problem = f"{shorten(model.name)} has {len(names)} free dims to size: {listed(names)}"
        raise InputError(problem, "Give each request by name, such as {'sequence': 37}")
    return names[0]
