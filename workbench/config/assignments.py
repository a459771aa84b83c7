"""Configs from the texts of a command line: `level=all`, `providers.cuda.device_id=1`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench.config.knobs import BY_FIELD, Knob
from workbench.config.parts import Part, as_part, made, part_types
from workbench.config.provider import Provider, full_name
from workbench.config.rules import check_fields
from workbench.errors import ConfigError
from workbench.text import quoted

if TYPE_CHECKING:
    from workbench.config.config import Config

NOTHING = ("none", "default", "auto")  # how a text says "left to ORT"
_WHOLE = re.compile("-?[0-9]{1,20}")
_SWITCH = {
    "true": True,
    "on": True,
    "yes": True,
    "1": True,
    "false": False,
    "off": False,
    "no": False,
    "0": False,
}


def applied(base: Config, texts: Iterable[str]) -> Config:
    """The base with every assignment made; their order does not matter, a field is given once."""
    whole: dict[str, Any] = {}
    parts: dict[tuple[str, str], str] = {}  # (field, rest of the path) → text
    for text in texts:
        path, equals, value = text.partition("=")
        field, _, rest = path.strip().partition(".")
        if not equals:
            raise ConfigError(f"{quoted(text)} assigns nothing.", "Write name=value, such as level=all.")
        check_fields([field])
        if (field, rest) in parts or (not rest and field in whole):
            raise ConfigError(f"{quoted(path.strip())} is given twice.", "Give it once.")
        if rest:
            parts[field, rest] = value.strip()
        else:
            whole[field] = _value(BY_FIELD[field], value.strip())
    inner: dict[str, dict[str, str]] = {}
    for (field, rest), value in parts.items():
        if BY_FIELD[field].kind == "part":
            inner.setdefault(field, {})[rest] = value
            continue
        start = whole.get(field, getattr(base, field))
        whole[field] = _with_part(BY_FIELD[field], start, rest, value)
    for field, texts_of in inner.items():
        whole[field] = _with_fields(BY_FIELD[field], whole.get(field, getattr(base, field)), texts_of)
    return base.replace(**whole)


def _value(knob: Knob, text: str) -> Any:
    unset = text.casefold() in NOTHING
    if knob.kind in ("names", "texts", "providers"):
        return () if unset or not text else tuple(name.strip() for name in text.split(","))
    if knob.kind in ("entries", "sizes"):
        if unset:
            return ()
        raise ConfigError(
            f"{knob.field} is given as {quoted(text)}.", f"Write {knob.field}.NAME=VALUE, one for each name."
        )
    if knob.kind == "switch":
        return _switch(knob, text)
    if unset:
        return None
    if knob.kind == "flag":
        return _switch(knob, text)
    if knob.kind == "number":
        return _real(knob, text)
    return _whole(knob, text) if knob.kind == "count" else text


def _with_fields(knob: Knob, value: Any, texts: dict[str, str]) -> Part:
    """`precision.static_int8.per_channel=true`, or without the kind where `precision=…` names it."""
    types = part_types(knob.field)
    part = as_part(knob, value)
    fields = dict(part.changed()) if part else {}
    cls = type(part) if part else next(iter(types.values())) if len(types) == 1 else None
    for path, text in texts.items():
        steps = path.split(".")
        named = types[steps.pop(0)] if steps[0] in types and len(steps) > 1 else cls
        if named is None or (cls is not None and named is not cls):
            raise ConfigError(
                f"{knob.field}.{path[:100]} fits no {knob.label} that was named.",
                f"Write {knob.field}.KIND.NAME=VALUE with one of {', '.join(types)}.",
            )
        cls, name = named, steps[0]
        known = {one.field: one for one in cls.KNOBS}
        if name not in known:
            made(cls, {name: None})  # refuses it with the nearest name
        if known[name].kind == "switches":
            switches = dict(fields.get(name, ()))
            fields[name] = {**switches, ".".join(steps[1:]): _switch(knob, text)}
        else:
            fields[name] = _value(known[name], text)
    assert cls is not None  # there is at least one text
    return made(cls, fields)


def _real(knob: Knob, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{knob.field} cannot be {quoted(text)}.", "Write a number such as 99.9.") from None


def _with_part(knob: Knob, value: Any, rest: str, text: str) -> Any:
    if knob.kind == "providers":
        return _with_option(value, rest, text)
    if knob.kind == "sizes":
        return {**dict(value), rest: _whole(knob, text)}
    if knob.kind == "entries":
        return {**dict(value), rest: text}
    raise ConfigError(f"{knob.field} has no part {quoted(rest)}.", f"Write {knob.field}=VALUE.")


def _with_option(value: Iterable[Provider | str], rest: str, text: str) -> tuple[Provider, ...]:
    """The providers with one option of one of them set; names may have dots, options do not end in one."""
    providers = [Provider(item) if isinstance(item, str) else item for item in value]
    name, _, option = rest.partition(".")
    if not option:
        raise ConfigError(
            f"providers.{rest} names no option.",
            "Write providers.NAME.OPTION=VALUE: providers.cuda.device_id=0.",
        )
    wanted = full_name(name)
    for place, provider in enumerate(providers):
        if provider.name == wanted:
            providers[place] = Provider(wanted, {**dict(provider.options), option: text})
            return tuple(providers)
    raise ConfigError(
        f"{option!r} is set for {name!r}, which is not among the providers.", f"Add providers={name},cpu."
    )


def _switch(knob: Knob, text: str) -> bool:
    if text.casefold() not in _SWITCH:
        raise ConfigError(f"{knob.field} cannot be {quoted(text)}.", "Write on or off.")
    return _SWITCH[text.casefold()]


def _whole(knob: Knob, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ConfigError(f"{knob.field} cannot be {quoted(text)}.", "Write a whole number such as 2.")
    return int(text)
