"""Read the texts of a command line: `level=all`, `providers.cuda.device_id=1`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.config.fields import ConfigFields
from workbench.config.knobs import BY_FIELD, check_fields
from workbench.errors import ConfigError
from workbench.text import quoted


def assigned(base: ConfigFields, texts: Iterable[str]) -> dict[str, Any]:
    """Return the fields that the texts assign; their order does not matter, each name is given once."""
    values: dict[str, Any] = {}
    inside: dict[str, dict[str, str]] = {}  # field → name in it → text
    for text in texts:
        path, equals, value = text.partition("=")
        field, _, name = path.strip().partition(".")
        if not equals:
            raise ConfigError(f"{quoted(text)} assigns nothing.", "Write name=value, such as level=all.")
        check_fields([field])
        if name in inside.get(field, ()) or (not name and field in values):
            raise ConfigError(f"{quoted(path.strip())} is given twice.", "Give it once.")
        if name:
            inside.setdefault(field, {})[name] = value.strip()
        else:
            values[field] = BY_FIELD[field].parse(value.strip())
    for field, named in inside.items():
        values[field] = BY_FIELD[field].parse_inside(values.get(field, getattr(base, field)), named)
    return values
