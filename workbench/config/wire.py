"""A config as JSON and back. What is read may come from a stranger's bundle: names and types are checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.config.fields import ConfigFields
from workbench.config.knobs import BY_FIELD, check_fields
from workbench.errors import ConfigError
from workbench.text import quoted


def to_dict(config: ConfigFields) -> dict[str, Any]:
    """Return what was set; {} leaves everything to ORT."""
    return {name: BY_FIELD[name].to_json(value) for name, value in config.changed().items()}


def from_dict(data: object) -> dict[str, Any]:
    """Return the arguments of the Config that was written; each field has one form in JSON."""
    if not isinstance(data, Mapping):
        raise ConfigError(
            f"A config cannot be {quoted(data)}.", "It is an object of fields and their values."
        )
    check_fields(data)
    return {name: BY_FIELD[name].from_json(value) for name, value in data.items()}
