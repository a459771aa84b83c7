"""Values of a config that have fields of their own: a precision, a fusion. Checked like a config."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from workbench.core.config.knob import Knob, Settings, Words, check_known, knobs_of
from workbench.core.config.literals import call
from workbench.core.errors import ConfigError
from workbench.core.text import did_you_mean, listed

PART_TYPES: dict[str, dict[str, type[ConfigPart]]] = {}  # field of Config → kind → class


_REFUSED = {  # kind → the reason and the fix
    "bfloat16": (
        "ONNX Runtime has no converter to bfloat16",
        "Use wb.Float16(), or export the model in bfloat16 and give that file.",
    )
}


class ConfigPart(Settings):
    """Base of the frozen dataclasses that a field of Config can hold; KNOBS says what each field does.

    A subclass registers itself under its FIELD and KIND.
    """

    __slots__ = ()
    FIELD: ClassVar[str]  # of Config
    KIND: ClassVar[str]  # its name in texts and JSON
    LABEL: ClassVar[str]
    KNOBS: ClassVar[tuple[Knob, ...]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__dataclass_fields__" in vars(cls):  # dataclass(slots=True) makes the class twice
            PART_TYPES.setdefault(cls.FIELD, {})[cls.KIND] = cls
            cls.KNOBS = knobs_of(cls)

    def __post_init__(self) -> None:
        for knob in self.KNOBS:
            object.__setattr__(self, knob.field, knob.canonical(getattr(self, knob.field)))
        self.check()

    def check(self) -> None:
        """Refuse values that exclude each other."""

    def items(self) -> Iterator[tuple[Knob, Any]]:
        """Yield each knob that was set, and its value."""
        changed = self.changed()
        yield from ((knob, changed[knob.field]) for knob in self.KNOBS if knob.field in changed)

    def to_dict(self) -> dict[str, Any]:
        """Return what was set and which kind it is, as JSON holds it."""
        return {"kind": self.KIND, **{knob.field: knob.to_json(value) for knob, value in self.items()}}

    def __str__(self) -> str:
        texts = [f"{knob.label} {knob.words(value)}" for knob, value in self.items()]
        return f"{self.LABEL} ({', '.join(texts)})" if texts else self.LABEL


class PartKnob(Knob):
    """The kind of knob that holds a part of one of the kinds registered for its field."""

    __slots__ = ()

    def canonical(self, value: object) -> ConfigPart | None:
        if value is None:
            return None
        types = part_types(self.field)
        if isinstance(value, tuple(types.values())):
            return value  # type: ignore[return-value]
        if isinstance(value, str) and value in types:
            return types[value]()
        if isinstance(value, str) and value in _REFUSED:
            reason, fix = _REFUSED[value]
            raise self.refused(value, fix, reason)
        if isinstance(value, type) and issubclass(value, ConfigPart):
            raise ConfigError(
                f"{self.field} cannot be the class {value.__name__}.", f"Call it: {value.__name__}()."
            )
        names = ", ".join(f"wb.{cls.__name__}()" for cls in types.values())
        raise self.refused(value, f"{did_you_mean(value, types)}Use one of {names}, or None.")

    def parse_inside(self, value: object, texts: Mapping[str, str]) -> ConfigPart:
        """Read `precision.static_int8.per_channel=true`, or without the kind where the value has it."""
        types = part_types(self.field)
        value = None if value == () else value  # a part inside a part that was not set
        named_alone = types.get(value) if isinstance(value, str) else None  # it may need its fields
        part = None if named_alone else self.canonical(value)
        cls = named_alone or (type(part) if part else next(iter(types.values())) if len(types) == 1 else None)
        fields = part.changed() if part else {}
        for path, text in texts.items():
            steps = path.split(".")
            named = types[steps.pop(0)] if steps[0] in types and len(steps) > 1 else cls
            if named is None or (cls is not None and named is not cls):
                raise ConfigError(
                    f"{self.field}.{path[:100]} fits no {self.label} that was named.",
                    f"Write {self.field}.KIND.NAME=VALUE with one of {', '.join(types)}.",
                )
            cls, name = named, steps[0]
            check_fields(cls, (name,))
            knob = next(knob for knob in cls.KNOBS if knob.field == name)
            inner = ".".join(steps[1:])
            fields[name] = (
                knob.parse_inside(fields.get(name, ()), {inner: text}) if inner else knob.parse(text)
            )
        assert cls is not None  # there is at least one text
        return cls(**fields)

    def to_json(self, value: ConfigPart) -> dict[str, Any]:
        return value.to_dict()

    def from_json(self, data: object) -> ConfigPart:
        types = part_types(self.field)
        if not isinstance(data, Mapping) or data.get("kind") not in list(types):
            raise self.refused(data, f"It is an object with a kind: {listed(types)}.")
        cls = types[data["kind"]]
        values = {name: value for name, value in data.items() if name != "kind"}
        check_fields(cls, values)
        return cls(
            **{knob.field: knob.from_json(values[knob.field]) for knob in cls.KNOBS if knob.field in values}
        )

    def code(self, value: ConfigPart) -> str:
        arguments = {knob.field: knob.code(item) for knob, item in value.items()}
        return call(f"wb.{type(value).__name__}", arguments)

    def changes(self, before: ConfigPart | None, after: ConfigPart | None) -> Iterator[Words]:
        if before is None or after is None or type(before) is not type(after):
            yield from Knob.changes(self, before, after)
            return
        for knob in after.KNOBS:
            old, new = getattr(before, knob.field), getattr(after, knob.field)
            if old != new:
                yield f"{after.LABEL} {knob.label}", knob.words(old), knob.words(new)


def part_types(field: str) -> Mapping[str, type[ConfigPart]]:
    """Return the kinds of value that a field of Config can hold, by name."""
    return PART_TYPES[field]


def check_fields(cls: type[ConfigPart], names: Iterable[str]) -> None:
    """Refuse a name that is no field of a part."""
    check_known(cls.__name__, names, [knob.field for knob in cls.KNOBS])
