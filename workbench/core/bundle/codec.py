"""Strict conversion of frozen dataclasses to JSON and back, driven by their type hints alone (forms.py)."""

from __future__ import annotations

import json
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from workbench.core.bundle import limits
from workbench.core.bundle.columns import Columns
from workbench.core.bundle.forms import Schema, form_of_class
from workbench.core.bundle.limits import DAMAGED, OURS
from workbench.core.bundle.privacy import without_texts
from workbench.core.errors import BundleError, WorkbenchError
from workbench.core.text import quoted, shorten

T = TypeVar("T")
TABLE: Mapping[str, bool] = {"table": True}


def encode(record: object, columns: Columns, change: Callable[[object], object] | None = None) -> bytes:
    """Return the JSON of `record`, its data changed by `change`; put its rows of numbers into `columns`."""
    cls: Any = type(record)
    try:
        data = form_of_class(cls).write(record, columns)  # type: ignore[misc]
        data = without_texts(data, columns.secrets)
        data = data if change is None else change(data)
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (AttributeError, TypeError, ValueError) as error:
        raise BundleError(f"A {cls.__name__} cannot be written: {error}.", OURS) from error
    blob = text.encode("utf-8", "replace")  # half a letter becomes a question mark
    check_extent(blob, cls.__name__, OURS)
    _read(cls, blob, columns.as_written(), OURS)
    return blob


def decode(cls: type[T], blob: bytes, columns: Columns) -> T:
    """Return the record of class `cls` in JSON; refuse numbers in `columns` that it does not use."""
    read = _read(cls, blob, columns, DAMAGED)
    _check_keys(blob)
    columns.finish()
    return cast(T, form_of_class(cast(Any, cls)).make(read))  # type: ignore[misc]


def json_schema(cls: Any, title: str) -> Schema:
    """Return the JSON Schema (2020-12) of class `cls`."""
    import msgspec

    schema = msgspec.json.schema(form_of_class(cls).type, schema_hook=operator.attrgetter("schema"))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": title}


def check_extent(blob: bytes, name: str, fix: str = DAMAGED) -> int:
    """Return at least the number of values in JSON, without parsing it; raise BundleError if too many."""
    items = blob.count(b",") + blob.count(b"[") + blob.count(b"{")
    if items > limits.JSON_ITEMS:
        raise BundleError(f"{name} holds more than {limits.JSON_ITEMS:,} values.", fix)
    return items


def _read(cls: Any, blob: bytes, columns: Columns, fix: str) -> Any:
    import msgspec

    def hook(special: Any, data: object) -> object:
        return special.read(data, columns)

    try:
        return msgspec.json.decode(blob, type=form_of_class(cls).type, dec_hook=hook)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        what = what if error.__cause__ else what[:1].lower() + what[1:]  # msgspec's own words
        cause = error.__cause__ and error.__cause__.__cause__
        raise BundleError(
            f"{place.strip('.`') or 'the record'}: {shorten(what.rstrip('.'), 300)}.",
            cause.fix if isinstance(cause, WorkbenchError) else fix,
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BundleError(f"It is not valid JSON: {error}.", fix) from error
    except RecursionError as error:
        raise BundleError("It nests too deep.", fix) from error


def _check_keys(blob: bytes) -> None:
    """Refuse valid JSON with a field that stands twice in an object: the last would win in silence."""

    def check(pairs: list[tuple[str, None]]) -> None:
        if len(dict(pairs)) < len(pairs):
            (name, _), *_ = Counter(name for name, _ in pairs).most_common(1)
            raise BundleError(f"It has {quoted(name)} twice in one object.", DAMAGED)

    try:
        json.loads(blob, object_pairs_hook=check, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise BundleError("It nests too deep.", DAMAGED) from error
