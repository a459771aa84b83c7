"""File paths in the configs of an opened bundle: the note about them, and their use after consent."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar, cast

from workbench.core.config import Config
from workbench.core.config.foreign import ForeignPath, restored

T = TypeVar("T")
_MOST = 8  # paths in the note; `foreign_paths` lists all


def with_trust(value: T, trusted: Sequence[ForeignPath]) -> T:
    """Return a record, part or tuple of them with the trusted paths restored in its configs."""
    return cast(T, _changed(value, trusted))


def untrusted_note(paths: Sequence[ForeignPath]) -> str:
    """Return the note below an opened result whose configs name files; empty if none does."""
    if not paths:
        return ""
    lines = [f"  {path}: opened.trust({path.option!r})" for path in paths[:_MOST]]
    more = f"\n  and {len(paths) - _MOST} more: opened.foreign_paths" if len(paths) > _MOST else ""
    return (
        "\nThis file names paths that no run uses until you trust them, each by its option:\n"
        + "\n".join(lines)
        + more
    )


def _changed(value: Any, trusted: Sequence[ForeignPath]) -> Any:
    """Return the changed value, or the same object if nothing changes."""
    if isinstance(value, Config):
        config = Config.from_dict(restored(value.to_dict(), trusted))
        return value if config == value else config
    if isinstance(value, tuple):
        items = tuple(_changed(item, trusted) for item in value)
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        changed = ((name, _changed(item, trusted)) for name, item in fields.items())
        different = {name: item for name, item in changed if item is not fields[name]}
        return dataclasses.replace(value, **different) if different else value
    return value
