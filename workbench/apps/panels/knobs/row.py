"""A row of the knob table: the place of its value, and the values that a cell offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from workbench.core.config import PreparedModel
from workbench.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """Where a value is held: `get` reads it from its holder, `put` returns the holder with another value.

    The holder of a row is a config, or the state of the panels for what is the same for all configs.
    """

    get: Callable[[Any], Any]
    put: Callable[[Any, Any], Any]


WHOLE = ValuePlace(lambda holder: holder, lambda _, value: value)


def field_place(name: str, owner: ValuePlace = WHOLE, kind: type[Any] = object) -> ValuePlace:
    """Return the place of a field of what `owner` holds; what is of another kind has none, and stays."""

    def get(holder: Any) -> Any:
        held = owner.get(holder)
        return getattr(held, name) if isinstance(held, kind) else None

    def put(holder: Any, value: Any) -> Any:
        held = owner.get(holder)
        return owner.put(holder, replace(held, **{name: value})) if isinstance(held, kind) else holder

    return ValuePlace(get, put)


def entry_place(pairs: ValuePlace, name: str) -> ValuePlace:
    """Return the place of one name among pairs that keep their order; no pair has the value None."""

    def put(holder: Any, value: Any) -> Any:
        held = {**dict(pairs.get(holder) or ()), name: value}
        return pairs.put(holder, {key: item for key, item in held.items() if item is not None})

    return ValuePlace(lambda holder: dict(pairs.get(holder) or ()).get(name), put)


def _put_arithmetic(config: Any, value: Any) -> Any:
    inside = isinstance(config.precision, PreparedModel)
    return replace(config, precision=replace(config.precision, precision=value) if inside else value)


# The precision, whichever file it is applied to.
ARITHMETIC = ValuePlace(attrgetter("arithmetic"), _put_arithmetic)


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A row. `settings` are the values that a cell offers, in words; the first one is the default."""

    key: str
    label: str
    help: str
    settings: Mapping[str, Any]
    place: ValuePlace
    group: str = ""  # the heading that it stands under
    typed: str = ""  # what may be typed beside the settings; empty: nothing
    more: bool = False  # whether further rows are opened below it
    words: Callable[[Any], str] = str  # of a value that is none of the settings
    parse: Callable[[str], Any] = str  # the value that a typed text means
    has: Callable[[Any], bool] = lambda _: True  # whether a holder has something here that can be set
    idle: Callable[[Any], str] = lambda _: ""  # what a cell says where the value has no effect
    owner: str = ""  # of an option: a provider, the session or a run
    absent: bool = False  # whether this build of ORT lacks the option
    inner: bool = False  # whether it is a detail of an opened row above it

    def value(self, holder: Any) -> Any:
        """Return what a config holds here."""
        return self.place.get(holder)

    def matches(self, words: Iterable[str]) -> bool:
        """Return whether every word is in its name or its help."""
        own = self.key.rpartition("/")[2]  # without the owner of an option
        text = f"{own} {self.label} {self.help}".casefold()
        return all(word in text for word in words)

    def shown(self, holder: Any) -> str:
        """Return what a cell shows: the words of a setting, else of the value itself."""
        value = self.value(holder)
        setting = next((words for words, held in self.settings.items() if held == value), None)
        return self.idle(holder) or (self.words(value) if setting is None else setting)

    def changed(self, holder: Any, text: str) -> Any:
        """Return the holder with the setting or the typed value of a text; an empty one is the default."""
        text = text or next(iter(self.settings))
        if text in self.settings:
            return self.place.put(holder, self.settings[text])
        if not self.typed:
            raise ConfigError(
                f"{self.label} cannot be {text[:40]!r}.", f"Choose one of {', '.join(self.settings)}."
            )
        return self.place.put(holder, self.parse(text))

    def is_default(self, holder: Any) -> bool:
        """Return whether the value is the default, which leaves the choice to ORT."""
        return bool(self.value(holder) == next(iter(self.settings.values())))
