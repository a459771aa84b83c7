"""A config as JSON and back. What is read may come from a stranger's bundle: names and types are checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.config import runtime
from workbench.config.knobs import BY_FIELD, Knob
from workbench.config.parts import read_part
from workbench.config.provider import Provider
from workbench.config.rules import check_fields
from workbench.errors import ConfigError
from workbench.text import quoted

if TYPE_CHECKING:
    from workbench.config.config import Config


def to_dict(config: Config) -> dict[str, Any]:
    """Only what was set: {} is ORT told nothing."""
    return {name: _written(BY_FIELD[name], value) for name, value in config.changed().items()}


def from_dict(data: object) -> dict[str, Any]:
    """The arguments of the Config that was written."""
    if not isinstance(data, Mapping):
        raise ConfigError(
            f"A config cannot be {quoted(data)}.", "It is an object of fields and their values."
        )
    check_fields(data)
    return {name: _read(BY_FIELD[name], value) for name, value in data.items()}


def _written(knob: Knob, value: Any) -> Any:
    if knob.kind == "providers":
        return [{"name": provider.name, "options": dict(provider.options)} for provider in value]
    if knob.kind == "part":
        return value.to_dict()
    if knob.kind in ("entries", "sizes"):
        return dict(value)
    return list(value) if knob.kind == "names" else value


def _read(knob: Knob, value: object) -> Any:
    """Stricter than Config itself: one form a field, and every entry a text."""
    if knob.kind == "providers":
        return tuple(_read_provider(item) for item in _typed(knob.field, value, list))
    if knob.kind == "part":
        return read_part(knob.field, value)
    if knob.kind in ("entries", "sizes"):
        pairs = _typed(knob.field, value, dict)
        return _texts(knob.field, pairs) if knob.kind == "entries" else pairs
    if knob.field == "runtime" and isinstance(value, str):
        return runtime.remembered(value)
    return _typed(knob.field, value, list) if knob.kind == "names" else value


def _read_provider(item: object) -> Provider:
    data = _typed("a provider", item, dict)
    if set(data) != {"name", "options"}:
        raise ConfigError(
            f"A provider has the keys {quoted(sorted(map(str, data)))}.", "It has 'name' and 'options'."
        )
    return Provider(data["name"], _texts("options", _typed("options", data["options"], dict)))


def _texts(label: str, pairs: dict[Any, Any]) -> dict[str, str]:
    for key, value in pairs.items():
        if not isinstance(value, str):
            raise ConfigError(
                f"{quoted(key)} in {label} is {quoted(value)}.", "Options and entries are texts."
            )
    return pairs


def _typed(label: str, value: object, kind: type[Any]) -> Any:
    if not isinstance(value, kind):
        words: dict[type[Any], str] = {list: "a list", dict: "an object"}
        raise ConfigError(f"{label} cannot be {quoted(value)}.", f"It is {words[kind]}.")
    return value
