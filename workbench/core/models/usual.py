"""Sizes and values that a model is usually run with: from a sample's card, or found by running it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.core.models.declared import declared_inputs

if TYPE_CHECKING:
    from onnx import ModelProto

MOST_DIGITS = 19  # of a size; a text may come from a stranger


@dataclass(frozen=True, slots=True)
class Usual:
    """What free dims and inputs are taken for where nothing is given, and why."""

    sizes: Mapping[str, int] = field(default_factory=dict)  # by the dim's name, or as in "x.2"
    why: str = ""
    values: Mapping[str, int] = field(default_factory=dict)  # by the input's name: all its elements


def sizes_in(structure: ModelProto, shapes: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return the sizes of free dims in values of these types, `("x", "float32[1,128]")`."""
    sizes: dict[str, int] = {}
    dims = {declared.name: declared.dims for declared in declared_inputs(structure)}
    for name, shape in shapes:
        inside = shape.partition("[")[2].rstrip("]")
        for axis, (dim, size) in enumerate(zip(dims.get(name, ()), inside.split(","), strict=False)):
            if not isinstance(dim, int) and size.isdecimal() and len(size) < MOST_DIGITS:
                sizes.setdefault(dim or f"{name}.{axis}", int(size))
    return sizes


NOTHING_USUAL = Usual()
FOUND: dict[str, Usual] = {}  # by the hash of a model: what was found in this kernel
# By the hash of a model and the given sizes: why the guessed inputs do not run; "" where they do.
TRIED: dict[tuple[str, frozenset[tuple[str, int]]], str] = {}
