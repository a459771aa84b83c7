"""JSON as bundles use it: UTF-8, no NaN literals, no repeated keys, bounded depth and number of values."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from workbench.core.bundle import limits
from workbench.core.errors import BundleError

type_names = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    type(None): "null",
}

# Possessive, so that a long text of escapes costs no backtracking memory.
_TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_SIGNS = b"[]{},"
_OTHERS = bytes(set(range(256)) - set(_SIGNS))
DAMAGED = "Ask for the file again, or save the comparison anew: this one was changed after it was written."
OURS = "This is a fault of the workbench, not yours: please report it with this message."


def dump_json(data: object) -> bytes:
    """Return indented JSON: readable in any editor, and the zip compresses the spaces away."""
    return json.dumps(data, allow_nan=False, indent=1).encode("ascii")


def dump_compact(data: object) -> bytes:
    """Return JSON in one line, for long lists that nobody reads."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode("ascii")


def load_json(blob: bytes, name: str) -> object:
    """Return the value in `blob`; `name` is the member's name in errors."""
    check_extent(blob, name)
    try:
        return json.loads(blob.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{name} is not valid JSON: {error}", DAMAGED) from error


def name_type(value: object) -> str:
    """Return the name of the type of `value` for an error message."""
    return type_names.get(type(value), f"a {type(value).__name__}")


def check_extent(blob: bytes, name: str) -> int:
    """Return the number of values in `blob` without parsing it; raise BundleError if too many or too deep."""
    signs = _TEXTS.sub(b"", blob).translate(None, _OTHERS)
    items = len(signs) - signs.count(b"]") - signs.count(b"}")
    if items > limits.JSON_ITEMS:
        raise BundleError(f"{name} holds more than {limits.JSON_ITEMS:,} values.", DAMAGED)
    depth = 0
    for sign in signs.translate(None, b","):
        depth += 1 if sign in b"[{" else -1
        if depth > limits.JSON_DEPTH:
            raise BundleError(f"{name} nests deeper than {limits.JSON_DEPTH} levels.", DAMAGED)
    return items


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
