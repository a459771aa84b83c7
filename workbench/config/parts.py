"""Values of a config that have fields of their own: a precision, a fusion. Checked like a config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from workbench.config.canonical import canonical
from workbench.config.knobs import Knob
from workbench.errors import ConfigError
from workbench.text import did_you_mean, listed, quoted


class Part:
    """Base of the frozen dataclasses that a field of Config can hold; KNOBS says what each field does."""

    __slots__ = ()
    FIELD: ClassVar[str]  # of Config
    KIND: ClassVar[str]  # how texts and JSON call it
    LABEL: ClassVar[str]
    KNOBS: ClassVar[tuple[Knob, ...]]

    def __post_init__(self) -> None:
        for knob in self.KNOBS:
            object.__setattr__(self, knob.field, canonical(knob, getattr(self, knob.field)))
        self.check()

    def check(self) -> None:
        """Refuse values that exclude each other."""

    def changed(self) -> dict[str, Any]:
        """The fields that are not at their defaults, in order."""
        fields = self.__dataclass_fields__  # type: ignore[attr-defined]
        values = {name: getattr(self, name) for name in fields}
        return {name: value for name, value in values.items() if value != fields[name].default}

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; only what was set, and which kind it is."""
        return {"kind": self.KIND, **{name: _plain(value) for name, value in self.changed().items()}}

    def __str__(self) -> str:
        told = [f"{_knob(self, name).label} {_words(value)}" for name, value in self.changed().items()]
        return f"{self.LABEL} ({', '.join(told)})" if told else self.LABEL

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.changed().items())})"


def part_types(field: str) -> dict[str, type[Part]]:
    """The kinds of value that a field of Config can hold, by name."""
    from workbench.config.fusion import TransformerFusion  # both are made of Part
    from workbench.config.precision import (
        BFloat16,
        DynamicInt8,
        Float16,
        PreparedModel,
        StaticInt8,
        WeightOnly,
    )

    known: tuple[type[Part], ...] = (
        DynamicInt8,
        StaticInt8,
        WeightOnly,
        Float16,
        BFloat16,
        PreparedModel,
        TransformerFusion,
    )
    return {cls.KIND: cls for cls in known if field == cls.FIELD}


def as_part(knob: Knob, value: object) -> Part | None:
    """The value itself, or the default of the kind that a text names."""
    if value is None:
        return None
    types = part_types(knob.field)
    if isinstance(value, tuple(types.values())):
        return value  # type: ignore[return-value]
    if isinstance(value, str) and value in types:
        return types[value]()
    names = ", ".join(f"wb.{cls.__name__}()" for cls in types.values())
    if isinstance(value, type) and issubclass(value, Part):
        raise ConfigError(
            f"{knob.field} cannot be the class {value.__name__}.", f"Call it: {value.__name__}()."
        )
    guess = did_you_mean(value, types) if isinstance(value, str) else ""
    raise ConfigError(f"{knob.field} cannot be {quoted(value)}.", f"{guess}Use one of {names}, or None.")


def read_part(field: str, data: object) -> Part:
    """The part that `to_dict` wrote."""
    types = part_types(field)
    if not isinstance(data, Mapping) or data.get("kind") not in types:
        raise ConfigError(
            f"{field} cannot be {quoted(data)}.", f"It is an object with a kind: {listed(types)}."
        )
    return made(types[data["kind"]], {name: value for name, value in data.items() if name != "kind"})


def made(cls: type[Part], values: Mapping[str, Any]) -> Part:
    """A part from the names and values of its fields; an unknown name is refused with the nearest one."""
    known = [knob.field for knob in cls.KNOBS]
    for name in values:
        if name not in known:
            guess = did_you_mean(name, known) if isinstance(name, str) else ""
            raise ConfigError(
                f"{cls.__name__} has no field {quoted(name)}.",
                f"{guess}Fields: {', '.join(known) or 'none'}.",
            )
    return cls(**values)


def _knob(part: Part, field: str) -> Knob:
    return next(knob for knob in part.KNOBS if knob.field == field)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        pairs = bool(value) and all(isinstance(item, tuple) for item in value)
        return dict(value) if pairs else list(value)
    return value


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(item if isinstance(item, str) else "=".join(map(_words, item)) for item in value)
    return str(value)
