"""Checks of the user's own values against the model's declared types, before a worker runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.core.errors import InputError
from workbench.core.models.declared import (
    Declared,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
    declared_inputs,
    element_name,
    overridable_inputs,
)
from workbench.core.models.element_type import ElementType
from workbench.core.models.values import Array, dtype_of
from workbench.core.text import listed, nearest, shorten

if TYPE_CHECKING:
    from onnx import ModelProto

_OPAQUE = ("bfloat16", "float8")


def check_feed(feed: Mapping[str, Any], model: ModelProto, guesses: list[str]) -> dict[str, Any]:
    """Return the feed with every value in the form that ORT takes; add conversions to `guesses`."""
    if not isinstance(feed, Mapping):
        raise InputError(
            f"A feed is a dict, not a {type(feed).__name__}", "Give a dict from input name to value"
        )
    needed = declared_inputs(model)
    known = {declared.name: declared for declared in (*needed, *overridable_inputs(model))}
    for name in feed:
        if name not in known:
            like = nearest(str(name), list(known))
            raise InputError(
                f"The model has no input {shorten(str(name))!r}"
                + (f"; did you mean {like[0]!r}?" if like else ""),
                f"Its inputs are: {listed(list(known), 20)}",
            )
    missing = [declared for declared in needed if declared.name not in feed]
    absent = [declared for declared in missing if not isinstance(declared.type, OptionalType)]
    if absent:
        raise InputError(
            f"No value is given for {listed([declared.name for declared in absent])}",
            "Give " + "; ".join(str(declared) for declared in absent[:8]),
        )
    return check_values(feed, known, guesses) | {declared.name: None for declared in missing}


def check_values(
    values: Mapping[str, Any], declared: Mapping[str, Declared], guesses: list[str]
) -> dict[str, Any]:
    """Return the values of some inputs in the form that ORT takes."""
    checker = _Checker(guesses)
    return {name: checker.value(value, declared[name], declared[name].type) for name, value in values.items()}


class _Checker:
    """The checks of one feed: a symbolic dim has the same size in every input."""

    def __init__(self, guesses: list[str]) -> None:
        self._guesses = guesses
        self._symbols: dict[str, tuple[int, str]] = {}

    def value(self, value: Any, declared: Declared, kind: ValueType, *, inner: bool = False) -> Any:
        match kind:
            case TensorType():
                return self._tensor(value, declared, kind, inner)
            case SequenceType():
                if not isinstance(value, (list, tuple)):
                    raise _wrong(
                        declared, f"is a {type(value).__name__}", "Give a list with an array for each item"
                    )
                return [self.value(item, declared, kind.item, inner=True) for item in value]
            case OptionalType():
                return None if value is None else self.value(value, declared, kind.item, inner=inner)
            case MapType():
                return _map(value, declared, kind)
        raise _wrong(
            declared, "has no type that a value could be checked against", "Declare its type in the model"
        )

    def _tensor(self, value: Any, declared: Declared, kind: TensorType, inner: bool) -> Array:
        array = self._array(value, declared, kind)
        if kind.dims is None:
            return array
        if array.ndim != len(kind.dims):
            raise _wrong(
                declared,
                f"has {array.ndim} dims, {list(array.shape)}, where {len(kind.dims)} are declared",
                f"Give an array of the shape {kind}",
            )
        for axis, (size, dim) in enumerate(zip(array.shape, kind.dims, strict=True)):
            if isinstance(dim, int) and dim != size:
                raise _wrong(
                    declared, f"has {size} in axis {axis}, where {dim} is fixed", f"Give the shape {kind}"
                )
            if isinstance(dim, str) and not inner:  # the items of a sequence may differ
                first, where = self._symbols.setdefault(dim, (size, declared.name))
                if first != size:
                    raise _wrong(
                        declared,
                        f"has {size} for the dim {shorten(dim)!r}, but {shorten(where)!r} has {first}",
                        "Give the same size wherever the model uses the same name",
                    )
        return array

    def _array(self, value: Any, declared: Declared, kind: TensorType) -> Array:
        what = f"The input {shorten(declared.name)!r}"
        wanted = dtype_of(kind.element, what)
        if kind.element == ElementType.STRING:
            return _strings(value, declared)
        if not isinstance(value, (np.ndarray, np.generic)):
            return self._converted(value, declared, wanted)
        array = np.asarray(value)
        if array.dtype == wanted:
            return array
        name = element_name(kind.element)
        if array.dtype.kind == "V" and array.dtype.itemsize == wanted.itemsize and name.startswith(_OPAQUE):
            self._guesses.append(f"{shorten(declared.name)}: raw bytes read as {name}")
            return array.view(wanted)
        raise _wrong(
            declared,
            f"is of type {array.dtype}, where {name} is declared",
            f"Convert it: value.astype({wanted.name!r})",
        )

    def _converted(self, value: Any, declared: Declared, wanted: np.dtype[Any]) -> Array:
        """Convert Python numbers and lists, which have no type, to the declared type if it holds them."""
        try:
            loose = np.asarray(value)
            kinds = {"b": "b", "i": "iufc", "u": "iufc", "f": "fc", "c": "c"}.get(loose.dtype.kind, "")
            fits = (
                loose.size == 0 or wanted.kind in kinds or (wanted.kind == "V" and loose.dtype.kind in "iuf")
            )
            array = loose.astype(wanted) if fits else loose
        except (ValueError, TypeError, OverflowError) as error:
            raise _wrong(
                declared, f"is a {type(value).__name__} that makes no array: {shorten(str(error))}", _ARRAY
            ) from error
        exact = loose.dtype.kind not in "iu" or wanted.kind not in "iu" or bool((array == loose).all())
        if not fits or not exact:
            raise _wrong(
                declared, f"is a {type(value).__name__} whose values {wanted.name} cannot hold", _ARRAY
            )
        return array


_ARRAY = "Give a NumPy array of the declared type"
_TEXTS = "Give an array of str"


def _strings(value: Any, declared: Declared) -> Array:
    try:
        array = np.asarray(value)
        if array.dtype.kind in "SU" or array.size == 0:
            array = array.astype(str).astype(object)
    except ValueError as error:  # lists of several lengths, bytes that are no text
        raise _wrong(
            declared, f"is a {type(value).__name__} that makes no strings: {shorten(str(error))}", _TEXTS
        ) from error
    if array.dtype != object or not all(isinstance(item, str) for item in array.flat):
        raise _wrong(declared, f"is of type {array.dtype}, where strings are declared", _TEXTS)
    return array


def _map(value: Any, declared: Declared, kind: MapType) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(declared, f"is a {type(value).__name__}", "Give a dict")
    wanted = str if kind.key == ElementType.STRING else int
    for key in value:
        if not isinstance(key, wanted):
            raise _wrong(
                declared, f"has the key {shorten(repr(key))}", f"Give keys of type {wanted.__name__}"
            )
    return dict(value)


def _wrong(declared: Declared, what: str, fix: str) -> InputError:
    return InputError(f"The input {shorten(declared.name)!r} ({declared.type}) {what}", fix)
