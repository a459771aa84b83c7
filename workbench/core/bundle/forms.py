"""How each type of field is read, made and written; one form does all three, so they cannot differ.

msgspec reads: each dataclass has a struct with the same fields, which refuses what it does not know. A suffix
of a name is a rule: `_s` is a finite duration, `_bytes` and `_count` are not negative, `_utc` is a time. The
mark of a field that may be negative is `field(metadata={"signed": True})`. `field(metadata=TABLE)` marks long
rows, whose values stand in the JSON without the names of their fields. Where a record has floats in a row, an
array or bytes, the JSON says how many, and they come next in a column.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
from collections.abc import Callable, Mapping
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union

from workbench.core.bundle import limits
from workbench.core.bundle.columns import BYTES, REAL, WHOLE, Columns
from workbench.core.config import Config
from workbench.core.config.foreign import quarantined
from workbench.core.errors import WorkbenchError
from workbench.core.text import quoted

Schema = dict[str, Any]
COUNT: Schema = {"type": "integer", "minimum": 0}
NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_ABSENT = object()


class _Special(type):
    """The type of a value that msgspec leaves to `read`, which may return anything."""

    read: Callable[[Any, Columns], object]
    schema: Schema

    def __instancecheck__(cls, value: object) -> bool:
        return True


def _special(read: Callable[[Any, Columns], object], schema: Schema) -> Any:
    return _Special("Special", (), {"read": staticmethod(read), "schema": schema})


class Form(NamedTuple):
    """How one type is read and written. None: msgspec and JSON have the value as it is."""

    type: Any  # what msgspec reads
    make: Callable[[Any], Any] | None = None  # from what it read to the value
    write: Callable[[Any, Columns], object] | None = None  # from the value to JSON data


@functools.cache
def form_of_class(cls: Any, *, table: bool = False) -> Form:
    """Return the form of a dataclass, or of a class with its own `to_dict` and `from_dict`."""
    import msgspec

    if hasattr(cls, "to_dict") and hasattr(cls, "from_dict"):
        return _own(cls)
    if not hasattr(cls, "__dataclass_fields__"):
        raise TypeError(f"A record cannot hold {cls.__name__}: use a frozen dataclass.")
    hints = typing.get_type_hints(cls)
    fields = {field: _form(hints[field.name], field) for field in dataclasses.fields(cls)}
    absent = msgspec.field(default_factory=lambda: _ABSENT)
    types = [
        (field.name, form.type, *(() if field.default is dataclasses.MISSING else (absent,)))
        for field, form in fields.items()
    ]
    struct = msgspec.defstruct(
        f"{cls.__name__}Row" if table else cls.__name__,
        types,
        namespace={"__doc__": cls.__doc__},
        forbid_unknown_fields=True,
        array_like=table,
        kw_only=not table,
        gc=False,
    )
    makers = [(at, maker) for at, pair in enumerate(fields.items()) if (maker := _maker(*pair)) is not None]
    writers = [(field.name, form.write) for field, form in fields.items()]
    values_of = msgspec.structs.astuple

    def make(read: Any) -> Any:
        if not makers:
            return cls(*values_of(read))
        values = list(values_of(read))
        for at, maker in makers:
            values[at] = maker(values[at])
        return cls(*values)

    def write(value: Any, columns: Columns) -> object:
        if type(value) is not cls:
            raise TypeError(f"expected a {cls.__name__}, got {quoted(value)}")
        parts = ((name, getattr(value, name), part) for name, part in writers)
        data = {name: part(item, columns) if part is not None else item for name, item, part in parts}
        return list(data.values()) if table else data

    return Form(struct, make, write)


def _maker(field: dataclasses.Field[Any], form: Form) -> Callable[[Any], Any] | None:
    """Return what makes the value of a field, which a file from before it lacks if it has a default."""
    make, default = form.make, field.default
    if default is dataclasses.MISSING:
        return make
    return lambda read: default if read is _ABSENT else read if make is None else make(read)


def _form(hint: Any, field: dataclasses.Field[Any]) -> Form:
    hint = _without_alias(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, UnionType):
        return _union([_form(argument, field) for argument in arguments])
    if origin is tuple and arguments == (float, ...):
        return _row(field)
    if origin is tuple and arguments[-1] is Ellipsis:
        return _sequence(_form(arguments[0], field))
    if origin is tuple:
        return _fixed([_form(argument, field) for argument in arguments])
    if origin is Mapping and arguments[0] is str:
        return _mapping(_form(arguments[1], field))
    if (dtype := _array_of(hint)) is not None:
        return _array(dtype)
    if hint in (str, int, float, bytes, bool, NoneType) or origin is Literal:
        return _scalar(hint, field)
    if isinstance(hint, type):
        return form_of_class(hint, table=bool(field.metadata.get("table")))
    raise TypeError(f"{field.name}: a record cannot hold {hint}.")


def _scalar(hint: Any, field: dataclasses.Field[Any]) -> Form:
    from msgspec import Meta

    signed = bool(field.metadata.get("signed"))
    if hint is int:
        counts = field.name.endswith(("_s", "_bytes", "_count")) and not signed
        return Form(Annotated[int, Meta(ge=0 if counts else -limits.INTEGER, le=limits.INTEGER)])
    if hint is float and field.name.endswith("_s") and not signed:
        return Form(Annotated[float, Meta(ge=0)])
    if hint is float:
        return _number()
    if hint is bytes:
        return Form(_column_type(BYTES, lambda raw: raw), write=lambda raw, columns: columns.add(BYTES, raw))
    return _time() if hint is str and field.name.endswith("_utc") else Form(hint)


def _union(forms: list[Form]) -> Form:
    """Return the form of a value that is one of several scalars, or of one that may be absent."""
    both = Form(Union[tuple(form.type for form in forms)])  # noqa: UP007 (made of what is known at run time)
    inner = [form for form in forms if form.make is not None or form.write is not None]
    if not inner:
        return both
    make, write = inner[0].make, inner[0].write
    return Form(
        both.type,
        None if make is None else lambda read: None if read is None else make(read),
        None if write is None else lambda value, columns: None if value is None else write(value, columns),
    )


def _sequence(inner: Form) -> Form:
    make, write = inner.make, inner.write
    return Form(
        tuple[inner.type, ...],  # type: ignore[name-defined]
        None if make is None else lambda read: tuple(map(make, read)),
        None if write is None else lambda value, columns: [write(item, columns) for item in value],
    )


def _fixed(forms: list[Form]) -> Form:
    def make(read: Any) -> Any:
        pairs = zip(forms, read, strict=True)
        return tuple(item if form.make is None else form.make(item) for form, item in pairs)

    def write(value: Any, columns: Columns) -> object:
        pairs = zip(forms, value, strict=True)
        return [item if form.write is None else form.write(item, columns) for form, item in pairs]

    plain = all(form.make is None for form in forms)
    return Form(tuple[tuple(form.type for form in forms)], None if plain else make, write)  # type: ignore[misc]


def _mapping(inner: Form) -> Form:
    make, write = inner.make, inner.write
    return Form(
        dict[str, inner.type],  # type: ignore[name-defined]
        None if make is None else lambda read: {key: make(item) for key, item in read.items()},
        None if write is None else lambda value, columns: {k: write(v, columns) for k, v in value.items()},
    )


def _row(field: dataclasses.Field[Any]) -> Form:
    duration = field.name.endswith("_s") and not field.metadata.get("signed")

    def row(values: Any) -> tuple[float, ...]:
        if duration and values and not (all(map(math.isfinite, values)) and min(values) >= 0):
            at = next(at for at, value in enumerate(values) if not 0 <= value < math.inf)
            raise ValueError(f"expected durations of zero or more seconds, got {values[at]} at {at}")
        return tuple(values)

    return Form(_column_type(REAL, row), write=lambda value, columns: columns.add(REAL, value))


def _array(dtype: str) -> Form:
    code = WHOLE if dtype.startswith("int") else REAL

    def array(values: Any) -> Any:
        import numpy as np

        stored = np.array(values)
        numbers = stored.astype(dtype)
        if code == WHOLE and not np.array_equal(numbers, stored):
            raise ValueError(f"integers beyond {dtype}")
        numbers.flags.writeable = False
        return numbers

    def write(value: Any, columns: Columns) -> object:
        if value.ndim != 1 or value.dtype != dtype:
            raise TypeError(f"expected a row of {dtype}, got {value.ndim} dimensions of {value.dtype}")
        return columns.add(code, value.astype("int64" if code == WHOLE else "float64").tobytes())

    return Form(_column_type(code, array), write=write)


def _column_type(code: str, made: Callable[[Any], object]) -> Any:
    return _special(lambda count, columns: made(columns.take(code, count)), COUNT)


@functools.cache
def _number() -> Form:
    """Return the form of a float that need not be finite: one that is not is a text."""

    def read(data: object, _columns: Columns) -> float:
        number = NON_FINITE.get(data) if isinstance(data, str) else data
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ValueError(f"expected a number, got {quoted(data)}")
        if isinstance(number, int) and abs(number) > limits.INTEGER:
            raise ValueError("expected a number, got an integer too large for one")
        return float(number)

    def write(value: Any, _columns: Columns) -> object:
        return value if not isinstance(value, float) or math.isfinite(value) else str(value)

    schema: Schema = {"anyOf": [{"type": "number"}, {"enum": list(NON_FINITE)}]}
    return Form(_special(read, schema), write=write)


@functools.cache
def _time() -> Form:
    def read(data: Any, _columns: Columns) -> str:
        try:
            if not 1970 <= datetime.fromisoformat(data).year < 9999:  # else no local time
                raise ValueError("a year that no clock displays")
        except (TypeError, ValueError) as error:
            raise ValueError(f"expected a time like 2026-01-31T12:00:00+00:00, got {quoted(data)}") from error
        return str(data)

    return Form(_special(read, {"type": "string", "description": "ISO 8601"}))


def _own(cls: Any) -> Form:
    """Return the form of a class with its own strict `to_dict` and `from_dict`, such as Config."""

    def read(data: Any, columns: Columns) -> object:
        if columns.written:
            return data
        if not isinstance(data, dict):
            raise ValueError(f"expected an object, got {quoted(data)}")
        if cls is Config and columns.foreign is not None:
            data, paths = quarantined(data)
            columns.foreign += paths
        try:
            return cls.from_dict(data)
        except WorkbenchError as error:
            raise ValueError(error.problem) from error

    schema: Schema = {"type": "object", "description": f"What workbench.{cls.__name__}.from_dict takes"}
    return Form(_special(read, schema), write=lambda value, columns: columns.hide(value.to_dict()))


def _array_of(hint: Any) -> str | None:
    """Return the element type of a numpy array from its hint `npt.NDArray[…]`."""
    origin = typing.get_origin(hint)
    if getattr(origin, "__module__", "") != "numpy" or getattr(origin, "__name__", "") != "ndarray":
        return None
    (number,) = typing.get_args(typing.get_args(hint)[1])
    return str(number.__name__)


def _without_alias(hint: Any) -> Any:
    """Return the type that a type alias stands for, as `NDArray` of numpy 2.5; any other hint as it is."""
    alias = typing.get_origin(hint) or hint
    if not hasattr(alias, "__type_params__") or not hasattr(alias, "__value__"):
        return hint
    given = dict(zip(alias.__type_params__, typing.get_args(hint), strict=True))
    wanted = getattr(alias.__value__, "__parameters__", ())
    value = alias.__value__[tuple(given[name] for name in wanted)] if wanted else alias.__value__
    return _without_alias(value)
