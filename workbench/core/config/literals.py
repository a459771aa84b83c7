"""Values as Python source. Every text is written as a literal, so none can become code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_COLUMNS = 96  # of a line, before a call is broken into one argument a line


def text_literal(text: str) -> str:
    """Return a text in double quotes, where that is the same text."""
    literal = repr(text)
    return f'"{text}"' if literal == f"'{text}'" and '"' not in text else literal


def literal(value: Any) -> str:
    """Return a plain value as an expression; a tuple becomes a list."""
    if isinstance(value, str):
        return text_literal(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)


def call(name: str, arguments: Mapping[str, str]) -> str:
    """Return a call with keywords, in one line where that is short enough."""
    flat = f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})"
    if len(flat) <= MOST_COLUMNS and "\n" not in flat:
        return flat
    rows = "".join(
        f"    {key}={value.replace(chr(10), chr(10) + '    ')},\n" for key, value in arguments.items()
    )
    return f"{name}(\n{rows})"
