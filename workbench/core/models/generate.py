"""Random inputs that a model accepts: values follow their use in the graph, and guesses are listed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

import numpy as np

from workbench.core.errors import InputError
from workbench.core.models import values
from workbench.core.models.declared import (
    Declared,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    UnknownType,
    ValueType,
    declared_inputs,
    element_name,
)
from workbench.core.models.element_type import ElementType
from workbench.core.models.inputs import DRAWN, Inputs, given_values, make_inputs
from workbench.core.models.scope import GraphScope
from workbench.core.models.sizes import AUDIO_SAMPLES, RATE, Sizes, is_state, tensor_of
from workbench.core.models.uses import Role, Uses, uses
from workbench.core.models.usual import Usual
from workbench.core.text import folded, listed, shorten

_SEQUENCE_ITEMS = 2
_MOST_ITEMS = 4096  # in the sequences of all inputs: nested sequences double the items at each level
_SMALL = 10  # integers of unknown use are drawn below this
_COUNT = 8
NOTHING_SAYS = "nothing says what they stand for"
_FAR = 2**31 - 1  # the end of a Slice that takes everything
_MASK = re.compile(r"mask")
_POSITION = re.compile(r"position|(^|_)pos(_|$)")
_TYPES = re.compile(r"type_id|segment")
_CACHE = re.compile(r"cache|past")
_IMAGE = re.compile(r"image|pixel|^img")


def random_inputs(scope: GraphScope, name: str, seed: int, given: Mapping[str, Any], usual: Usual) -> Inputs:
    """Draw one feed for every input without a default, except those that are given.

    `given` has sizes by the names of dims, and values by the names of inputs, whose sizes count for all
    inputs. `usual`: what is taken where nothing is given.
    """
    if seed < 0:
        raise InputError(f"The seed is {seed}", "Give a whole number, 0 or more")
    model = scope.model
    inputs = declared_inputs(model)
    fixed, dims = given_values(model, given)
    sizes = Sizes(model, inputs, dims, usual)
    maker = _Maker(scope, sizes, np.random.default_rng(seed), name, usual)
    maker.choose_dims(declared for declared in inputs if declared.name not in fixed)
    feed = {
        declared.name: fixed[declared.name]
        if declared.name in fixed
        else maker.value(declared, declared.type)
        for declared in inputs
    }
    guesses = [*sizes.guesses, *maker.guesses]
    if not fixed:
        return make_inputs([feed], f"{DRAWN}{seed}", seed, guesses)
    drawn = f"{DRAWN}{seed}, except" if len(fixed) < len(feed) else "all given:"
    return make_inputs([feed], f"{drawn} {listed(list(fixed), 8)}", None, guesses)


class _Maker:
    def __init__(
        self, scope: GraphScope, sizes: Sizes, rng: np.random.Generator, model_name: str, usual: Usual
    ) -> None:
        self.guesses: list[str] = []
        self._scope = scope
        self._sizes = sizes
        self._usual = usual
        self._rng = rng
        self._model_name = shorten(model_name)
        self._dims: dict[str, tuple[int, ...]] = {}
        self._total = 0
        self._items = 0

    def choose_dims(self, inputs: Iterable[Declared]) -> None:
        """Choose the dims of all tensor inputs; refuse them together before one of them is filled."""
        for declared in inputs:
            if isinstance(declared.type, TensorType) and not declared.type.sparse:
                self._dims[declared.name] = self._sized(declared, declared.type)

    def value(self, declared: Declared, kind: ValueType) -> Any:
        """Make a value of any type."""
        match kind:
            case TensorType(sparse=False):
                return self._tensor(declared, kind)
            case SequenceType():
                self._items += _SEQUENCE_ITEMS
                if self._items > _MOST_ITEMS:
                    raise InputError(
                        f"The sequences of {self._model_name} would hold more than {_MOST_ITEMS:,} values: "
                        f"{shorten(declared.name)!r} is {shorten(str(declared.type))}",
                        "Give your own inputs, or check whether the model means to nest sequences so deep",
                    )
                self._say(declared, f"a sequence of {_SEQUENCE_ITEMS}")
                return [self.value(declared, kind.item) for _ in range(_SEQUENCE_ITEMS)]
            case OptionalType():
                self._say(declared, "present, though it is optional")
                return self.value(declared, kind.item)
            case MapType():
                return self._map(declared, kind)
        what = "no type" if isinstance(kind, UnknownType) else str(kind)
        raise InputError(
            f"The input {shorten(declared.name)!r} of {self._model_name} has {what}: no value can be made",
            "Give your own inputs, or declare its type in the model",
        )

    def _say(self, declared: Declared, what: str) -> None:
        self.guesses.append(f"{shorten(declared.name)}: {what}")

    def _tensor(self, declared: Declared, kind: TensorType) -> values.Array:
        dims = self._dims.get(declared.name)
        if dims is None:  # of an item of a sequence, an optional value or a map
            dims = self._sized(declared, kind)
        array, why = self._content(declared, kind.element, dims)
        self._say(declared, why)
        return array

    def _sized(self, declared: Declared, kind: TensorType) -> tuple[int, ...]:
        what = f"The input {shorten(declared.name)!r}"
        dims = self._sizes.of(declared, kind)
        self._total += values.nbytes(kind.element, dims, what)
        values.refuse_above(self._total, f"{what} of {self._model_name}")
        return dims

    def _content(self, declared: Declared, element: int, dims: tuple[int, ...]) -> tuple[values.Array, str]:
        name = folded(declared.name)
        if element == ElementType.STRING:
            return values.words(self._rng, dims), "random words"
        reads = uses(self._scope, declared.name)
        if declared.name in self._usual.values:
            value = self._usual.values[declared.name]
            return values.constant(element, dims, value), f"{value}, {self._usual.why}"
        if reads.roles and not (_MASK.search(name) and element == ElementType.BOOL):
            special = self._special(*reads.roles[0], element, dims)
            if special is not None:
                return special
        if reads.branches:
            chosen = ", ".join(shorten(branch) for branch in reads.branches)
            self.guesses.append(
                f"the values of {shorten(declared.name)} choose a branch ({chosen}): other values run other "
                "nodes, which are not measured"
            )
        if element == ElementType.BOOL:
            return self._boolean(name, dims)
        if values.is_integer(element):
            return self._integer(name, reads, element, dims)
        if _MASK.search(name):
            return values.constant(element, dims, 1.0), "a mask of ones"
        if _IMAGE.search(name) or (len(dims) == 4 and dims[1] in (1, 3) and not _CACHE.search(name)):
            if reads.of_bytes:
                drawn = values.uniform(self._rng, element, dims, 0.0, 255.0)
                return drawn, "an image: evenly drawn from 0 to 255, which its first node scales"
            return values.uniform(self._rng, element, dims, 0.0, 1.0), "an image: evenly drawn from 0 to 1"
        if is_state(name) and len(dims) >= 2:
            return values.constant(element, dims, 0.0), "zeros: the state that a stream begins with"
        return values.normal(self._rng, element, dims), "drawn from the normal distribution"

    def _boolean(self, name: str, dims: tuple[int, ...]) -> tuple[values.Array, str]:
        if _CACHE.search(name):
            return np.zeros(dims, bool), "False: the cache is not used"
        if _MASK.search(name):
            return np.ones(dims, bool), "a mask of True"
        return values.booleans(self._rng, dims), "drawn at random"

    def _integer(
        self, name: str, reads: Uses, element: int, dims: tuple[int, ...]
    ) -> tuple[values.Array, str]:
        if _POSITION.search(name):
            start = self._sizes.past()
            last = None if reads.bound is None else max(reads.bound - 1, 0)
            end = "" if last is None or start + (dims or (1,))[-1] - 1 <= last else f", at most {last}"
            return values.along_last_axis(
                element, dims, start, reads.bound
            ), f"positions from {start} up{end}"
        if _TYPES.search(name):
            return values.constant(element, dims, 0), "token types: zeros"
        if _MASK.search(name) and (reads.bound is None or reads.bound > 1):
            return values.constant(element, dims, 1), "a mask of ones"
        if reads.bound is not None and reads.table is None:
            return values.constant(element, dims, 0), "zeros: they index something of unknown extent"
        if reads.bound is not None:
            last = max(reads.bound - 1, 0)
            table = shorten(reads.table or "")
            why = f"drawn from 0 to {last:,}, the rows of {table!r} that they index"
            return values.integers(self._rng, element, dims, 0, last + 1), why
        compared = [int(value) for value in reads.compared if values.fits(element, value)]
        if prod(dims) == 1 and (compared or RATE.search(name)):
            value = compared[0] if compared else AUDIO_SAMPLES
            why = "with which its reader compares it" if compared else "a usual sample rate"
            return values.constant(element, dims, value), f"{value}, {why}"
        if len(compared) > 1 and min(compared) >= 0:
            last = max(compared)
            why = f"drawn from 0 to {last:,}, the values that they are compared with"
            return values.integers(self._rng, element, dims, 0, last + 1), why
        if element == ElementType.UINT8 and len(dims) >= 3:
            return values.integers(self._rng, element, dims, 0, 256), "an image: drawn from 0 to 255"
        return (
            values.integers(self._rng, element, dims, 0, _SMALL),
            f"{element_name(element)} drawn from 0 to {_SMALL - 1}; {NOTHING_SAYS}",
        )

    def _special(
        self, role: Role, known: tuple[int, ...] | None, element: int, dims: tuple[int, ...]
    ) -> tuple[values.Array, str] | None:
        """Make the value for an operator's parameter; return None if the role does not fit."""
        number = values.is_integer(element)
        match role:
            case "true" | "false" if element == ElementType.BOOL:
                return np.full(dims, role == "true"), f"{role.title()}, as its node needs"
            case "shape" | "reshape" | "sizes" | "length" if number and len(dims) <= 1:
                return self._shape(role, known, element, dims)
            case "axes" if number:
                return values.along_last_axis(element, dims, 0, None), "axes from 0 up"
            case "zero" | "one" if element != ElementType.BOOL:
                return values.constant(element, dims, int(role == "one")), f"{role}, as its node needs"
            case "count" if element != ElementType.BOOL:
                return values.constant(element, dims, _COUNT), f"{_COUNT}, a small count"
            case "far" if number:
                return values.integers(self._rng, element, dims, _FAR, _FAR + 1), "the far end of every axis"
            case "positive" if number:
                return values.integers(self._rng, element, dims, 1, _SMALL), f"drawn from 1 to {_SMALL - 1}"
            case "positive" if element not in (
                ElementType.BOOL,
                ElementType.COMPLEX64,
                ElementType.COMPLEX128,
            ):
                return values.uniform(self._rng, element, dims, 0.5, 1.5), "drawn from 0.5 to 1.5: above zero"
            case "interval" if not number and element != ElementType.BOOL:
                return values.uniform(self._rng, element, dims, 0.0, 1.0), "drawn from 0 to 1"
        return None

    def _shape(
        self, role: str, known: tuple[int, ...] | None, element: int, dims: tuple[int, ...]
    ) -> tuple[values.Array, str]:
        count = dims[0] if dims else 1
        if role == "length":
            steps = known[0] if known else 1
            return values.constant(element, dims, steps), f"every sequence {steps} long"
        fitting = [1] * count
        if role == "reshape" and count:
            fitting[0] = -1  # -1: any number of elements
        if known is not None and len(known) == count:
            fitting = list(known)
        line = np.array(fitting, np.int64).reshape(dims)
        return line.astype(values.dtype_of(element, "a shape")), f"the shape {fitting}"

    def _map(self, declared: Declared, kind: MapType) -> dict[Any, Any]:
        inner = tensor_of(kind.value)
        if inner is None:
            raise InputError(
                f"The input {shorten(declared.name)!r} of {self._model_name} is a {kind}",
                "Give your own inputs",
            )
        keys = self._vocabulary(declared.name, kind.key)
        self._say(declared, f"a map of {len(keys)} keys")
        scalar = TensorType(inner.element, ())
        return {key: self.value(declared, scalar).item() for key in keys}

    def _vocabulary(self, name: str, key: int) -> list[Any]:
        """Return the keys that the map's reader knows, else a few small ones."""
        text = key == ElementType.STRING
        for node, _ in self._scope.readers(name):
            for attribute in node.proto.attribute:
                if attribute.name == "string_vocabulary" and text and attribute.strings:
                    return [word.decode("utf-8", "replace") for word in attribute.strings[:_COUNT]]
                if attribute.name == "int64_vocabulary" and not text and attribute.ints:
                    return [int(word) for word in attribute.ints[:_COUNT]]
        return ["a", "b"] if text else [0, 1]
