"""The kinds of knobs that hold several names, alone or with a value each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.core.config.knob import Knob, Words, is_unset, of_type, on_or_off, whole_number
from workbench.core.config.literals import literal
from workbench.core.config.option import check_text, rendered, shown
from workbench.core.errors import ConfigError
from workbench.core.text import QUOTED, one_line, quoted

MOST_SIZE = 2**63 - 1  # ORT holds a dimension in an int64


class Texts(Knob):
    """A set of texts: sorted, each once, so that two configs that do the same are equal."""

    __slots__ = ()
    DEFAULT = ()
    TYPED = "names, with commas"
    EXAMPLE = "Give a tuple of texts: ('MatMul', 'Gemm')."

    def canonical(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise self.refused(value, self.EXAMPLE)
        texts = tuple(value)
        for text in texts:
            self.check(text)
        return tuple(sorted(set(texts)))

    def check(self, text: object) -> None:
        """Refuse what is no member of the set."""
        if not isinstance(text, str) or not text:
            raise self.refused(text, f"Each is a text, and not empty. {self.EXAMPLE}")
        check_text(f"A name in {self.field}", text)

    def parse(self, text: str) -> tuple[str, ...]:
        return split_names(text)

    def to_json(self, value: tuple[str, ...]) -> list[str]:
        return list(value)

    def from_json(self, data: object) -> Any:
        return of_type(self.field, data, list)

    def text(self, value: tuple[str, ...]) -> str:
        return ", ".join(value)


class Names(Texts):
    """A set of ORT's names."""

    __slots__ = ()
    EXAMPLE = "Give a tuple of ORT's names: ('GeluFusionL2', 'BiasGeluFusion')."

    def check(self, text: object) -> None:
        if not isinstance(text, str) or not text.replace("_", "").isalnum() or not text.isascii():
            fix = "A pass is named by letters, digits and underscores: 'GeluFusionL2'."
            raise self.refused(text, fix)


class Libraries(Texts):
    """Paths of libraries. Their existence is checked when they are used."""

    __slots__ = ()
    EXAMPLE = "Give a tuple of paths: ('/path/libcustom.so',)."


class Choices(Texts):
    """Some of a fixed set of names, each once, in the order of the set."""

    __slots__ = ()
    EXAMPLE = "Give a tuple of names."

    def canonical(self, value: object) -> tuple[str, ...]:
        chosen = Texts.canonical(self, value)
        return tuple(name for name in self.choices if name in chosen)

    def check(self, text: object) -> None:
        if text not in self.choices:
            raise self.not_allowed(text)


class _Pairs(Knob):
    """Names with a value each: a dict in Python and in JSON, sorted pairs in a config."""

    __slots__ = ()
    DEFAULT = ()
    EXAMPLE = ""

    def parse(self, text: str) -> tuple[()] | dict[str, Any]:
        if is_unset(text):
            return ()
        pairs = [pair.partition("=") for pair in text.split(",")]
        if not all(equals for _, equals, _ in pairs):
            fix = f"Write NAME=VALUE, with commas between several, or {self.field}.NAME=VALUE for each."
            raise ConfigError(f"{self.field} is given as {quoted(text)}.", fix)
        return {name.strip(): self.parse_item(value.strip()) for name, _, value in pairs}

    def parse_inside(self, value: Any, texts: Mapping[str, str]) -> dict[str, Any]:
        return {**dict(value), **{name: self.parse_item(text) for name, text in texts.items()}}

    def parse_item(self, text: str) -> Any:
        """Return the value of one name that a text of a command line means."""
        return text

    def to_json(self, value: Any) -> dict[str, Any]:
        return dict(value)

    def from_json(self, data: object) -> Any:
        return of_type(self.field, data, dict)

    def text(self, value: Any) -> str:
        return ", ".join(f"{name}={shown(name, str(item))}" for name, item in value)

    def code(self, value: Any) -> str:
        return literal(dict(value))

    def changes(self, before: Any, after: Any) -> Iterator[Words]:
        for name, first, second in changed_items(before, after, self.unset):
            yield one_line(self.name_words(name), QUOTED), first, second

    def name_words(self, name: str) -> str:
        """Return a name as a difference says it."""
        return name

    def pairs(self, value: object) -> dict[str, Any]:
        """Return what is given as a dict; refuse what is no names with values."""
        if isinstance(value, str):
            raise self.refused(value, self.EXAMPLE)
        try:
            items = list(value.items() if isinstance(value, Mapping) else value)  # type: ignore[call-overload]
            pairs = dict(items)
        except (TypeError, ValueError):
            raise self.refused(value, self.EXAMPLE) from None
        for name in pairs:
            if not isinstance(name, str) or not name:
                raise self.refused(name, f"Names are texts, and not empty. {self.EXAMPLE}")
            check_text(f"A name in {self.field}", name)
        if len(pairs) != len(items):
            raise self.refused(value, "A name is given twice; give it once.")
        return pairs


class Entries(_Pairs):
    """Configuration entries of ORT: keys with a text each."""

    __slots__ = ()
    TYPED = "name=value, name=value"
    EXAMPLE = "Give a dict: {'session.set_denormal_as_zero': True}."

    def canonical(self, value: object) -> tuple[tuple[str, str], ...]:
        pairs = self.pairs(value).items()
        return tuple(sorted((key, rendered(f"{self.label} {quoted(key)}", item)) for key, item in pairs))

    def from_json(self, data: object) -> dict[str, str]:
        return texts_of(self.field, of_type(self.field, data, dict))


class FreeSizes(_Pairs):
    """Sizes of dimensions by name."""

    __slots__ = ()
    TYPED = "name=size, name=size"
    EXAMPLE = "Give a dict: {'batch': 1}."

    def canonical(self, value: object) -> tuple[tuple[str, int], ...]:
        pairs = self.pairs(value)
        for name, size in pairs.items():
            if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MOST_SIZE:
                fix = "A dimension is a whole number of 1 or more: {'batch': 1}."
                raise self.refused(f"{name}={quoted(size)}", fix)
        return tuple(sorted(pairs.items()))

    def parse_item(self, text: str) -> int:
        return whole_number(self.field, text)

    def name_words(self, name: str) -> str:
        return f"dimension {name}"


class Switches(_Pairs):
    """Some of a fixed set of names, each on or off."""

    __slots__ = ()

    def canonical(self, value: object) -> tuple[tuple[str, bool], ...]:
        pairs = self.pairs(value)
        for name, on in pairs.items():
            if name not in self.choices:
                raise self.not_allowed(name)
            if not isinstance(on, bool):
                raise self.refused(f"{name}={quoted(on)}", "Use True or False.")
        return tuple(sorted(pairs.items()))

    def parse_item(self, text: str) -> bool:
        return on_or_off(self.field, text)

    def text(self, value: tuple[tuple[str, bool], ...]) -> str:
        return ", ".join(f"{name}={'on' if on else 'off'}" for name, on in value)

    def changes(self, before: Any, after: Any) -> Iterator[Words]:
        yield from Knob.changes(self, before, after)


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of a text such as "cuda, cpu"."""
    return () if is_unset(text) or not text else tuple(name.strip() for name in text.split(","))


def changed_items(
    before: Iterable[tuple[str, Any]], after: Iterable[tuple[str, Any]], absent: str
) -> Iterator[Words]:
    """Yield each name whose value differs, and both values as people see them."""
    old, new = dict(before), dict(after)
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            texts = (shown(name, str(held[name])) if name in held else absent for held in (old, new))
            first, second = (one_line(text, QUOTED) for text in texts)
            yield name, first, second


def texts_of(label: str, pairs: dict[Any, Any]) -> dict[str, str]:
    """Return an object of JSON whose values are texts; refuse any other."""
    for key, value in pairs.items():
        if not isinstance(value, str):
            raise ConfigError(
                f"{quoted(key)} in {label} is {quoted(value)}.", "Options and entries are texts."
            )
    return pairs
