"""A knob: one field of a config or of a part, and how its values are read, checked and written.

Values have several forms: what a user gives in Python, a text of a command line, JSON, words of a sentence,
Python source. Each kind of knob is a subclass: those of one value in kinds.py, those of several names in
name_kinds.py, those of providers, parts and interpreters beside their types.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from workbench.core.config.literals import literal
from workbench.core.config.option import shown
from workbench.core.errors import ConfigError
from workbench.core.text import QUOTED, did_you_mean, listed, one_line, public_address, quoted

UNSET_WORDS = ("none", "default", "auto")  # how a text says "left to ORT"
_WHOLE_NUMBER = re.compile("-?[0-9]{1,20}")
_ON = ("true", "on", "yes", "1")
_OFF = ("false", "off", "no", "0")

Group = Literal["graph", "providers", "precision", "threads", "memory", "inputs", "advanced"]
Words = tuple[str, str, str]  # what was turned, its value before and after


@dataclass(frozen=True, slots=True)
class Knob:
    """One field: its name, what it takes and when to turn it."""

    DEFAULT: ClassVar[Any] = None
    TYPED: ClassVar[str] = ""  # what a person may type beside the values that a table offers; empty: nothing
    unset: str  # the default in a sentence
    help: str  # what it does, and its default
    when: str  # when to turn it
    choices: tuple[str, ...] = ()  # unless a Literal names them
    group: Group = "advanced"  # of a field of Config
    label: str = ""  # the field in words, where it is called otherwise
    field: str = ""  # its name in the dataclass that declares it
    default: Any = None  # its value where nobody sets it

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.field.replace("_", " "))

    @classmethod
    def declare(
        cls,
        unset: str,
        help: str,
        when: str,
        choices: tuple[str, ...] = (),
        *,
        group: Group = "advanced",
        label: str = "",
        default: Any = MISSING,
    ) -> Any:
        """Return a dataclass field with this knob, at the kind's default unless another one is given."""
        unchanged = cls.DEFAULT if default is MISSING else default
        knob = cls(unset, help, when, choices, group, label, default=unchanged)
        return field(default=unchanged, metadata={"knob": knob})

    def canonical(self, value: object) -> Any:
        """Return the value as a config holds it, immutable and in one form; refuse what is no value."""
        raise NotImplementedError

    def parse(self, text: str) -> Any:
        """Return the value that a text of a command line means: `field=text`."""
        return None if is_unset(text) else text

    def parse_inside(self, value: Any, texts: Mapping[str, str]) -> Any:
        """Return the value with some of its parts changed: `field.name=text` for each."""
        del value
        raise ConfigError(
            f"{self.field} has no part {quoted(next(iter(texts)))}.", f"Write {self.field}=VALUE."
        )

    def to_json(self, value: Any) -> Any:
        """Return the value as JSON holds it."""
        return value

    def from_json(self, data: object) -> Any:
        """Return the value that JSON holds; `canonical` checks it further."""
        return data

    def words(self, value: Any) -> str:
        """Return the value as a sentence says it."""
        if value is None or value == ():
            return self.unset
        return one_line(self.text(value), QUOTED)

    def text(self, value: Any) -> str:
        """Return a value that was set as a text of any length."""
        return ("on" if value else "off") if isinstance(value, bool) else str(value)

    def cell(self, value: Any) -> str:
        """Return the value as a table says it, which has more room than a sentence."""
        return self.words(value)

    def code(self, value: Any) -> str:
        """Return the value as Python source."""
        return literal(value)

    def changes(self, before: Any, after: Any) -> Iterator[Words]:
        """Yield what differs between two values, in words."""
        yield self.label, self.words(before), self.words(after)

    def not_allowed(self, name: object) -> ConfigError:
        """Return the error for a name that is not among the choices."""
        return self.refused(name, f"{did_you_mean(name, self.choices)}Allowed: {listed(self.choices, None)}.")

    def refused(self, value: object, fix: str, reason: str = "") -> ConfigError:
        """Return the error for a value that is none."""
        return ConfigError(f"{self.field} cannot be {quoted(value)}{f' ({reason})' if reason else ''}.", fix)


def knobs_of(owner: Any) -> tuple[Knob, ...]:
    """Return the knobs of the fields of a dataclass, in their order; a `Literal` names the choices."""
    hints = get_type_hints(owner)
    knobs = []
    for declared in fields(owner):
        knob, hint = declared.metadata["knob"], hints[declared.name]
        named = [get_args(part) for part in (hint, *get_args(hint)) if get_origin(part) is Literal]
        knobs.append(replace(knob, field=declared.name, choices=named[0] if named else knob.choices))
    return tuple(knobs)


class Settings:
    """Base of the frozen dataclasses that declare knobs: a config, and the parts of one."""

    __slots__ = ()

    def changed(self) -> dict[str, Any]:
        """Return the fields that are not at their defaults, in order."""
        values = {field: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {field.name: value for field, value in values.items() if value != field.default}

    def __repr__(self) -> str:
        texts = [f"{name}={_without_secrets(value)!r}" for name, value in self.changed().items()]
        return f"{type(self).__name__}({', '.join(texts)})"


def _without_secrets(value: Any) -> Any:
    """Return the value of a field as people see it: without secrets in named texts and in an address."""
    if isinstance(value, str):
        return public_address(value)
    if not isinstance(value, tuple):
        return value
    return tuple((item[0], shown(*item)) if _is_named_text(item) else item for item in value)


def _is_named_text(item: object) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and all(isinstance(text, str) for text in item)


def check_known(owner: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse a name that is not among the known fields."""
    for name in names:
        if name not in known:
            raise ConfigError(
                f"{owner} has no field {quoted(name)}.",
                f"{did_you_mean(name, known)}Fields: {', '.join(known) or 'none'}.",
            )


def is_unset(text: str) -> bool:
    """Whether a text of a command line says that ORT decides."""
    return text.casefold() in UNSET_WORDS


def on_or_off(field: str, text: str) -> bool:
    """Return what a text of a command line says of a switch."""
    word = text.casefold()
    if word not in (*_ON, *_OFF):
        raise ConfigError(f"{field} cannot be {quoted(text)}.", "Write on or off.")
    return word in _ON


def whole_number(field: str, text: str) -> int:
    """Return the number in a text of a command line."""
    if not _WHOLE_NUMBER.fullmatch(text):
        raise ConfigError(f"{field} cannot be {quoted(text)}.", "Write a whole number such as 2.")
    return int(text)


def of_type(label: str, data: object, kind: type[Any]) -> Any:
    """Return JSON of the wanted type; refuse any other."""
    if not isinstance(data, kind):
        words: dict[type[Any], str] = {list: "a list", dict: "an object"}
        raise ConfigError(f"{label} cannot be {quoted(data)}.", f"It is {words[kind]}.")
    return data
