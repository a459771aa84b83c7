"""The kinds of knobs that hold one value."""

from __future__ import annotations

import sys

from workbench.core.config.knob import Knob, is_unset, on_or_off, whole_number
from workbench.core.errors import ConfigError
from workbench.core.text import did_you_mean, listed, quoted

_MOST_THREADS = 2**31 - 1  # ORT holds the count in an int


class Choice(Knob):
    """One of a few names."""

    __slots__ = ()

    def canonical(self, value: object) -> str | None:
        if value is None or (isinstance(value, str) and value in self.choices):
            return value
        allowed = f"Allowed: {listed(self.choices, None)}, or None for {self.unset}."
        raise self.refused(value, did_you_mean(value, self.choices) + allowed)


class Count(Knob):
    """A whole number of 1 or more."""

    __slots__ = ()
    TYPED = "a number"

    def canonical(self, value: object) -> int | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            fix = f"Use a whole number such as 2, or None for {self.unset}."
            raise self.refused(value, fix, type(value).__name__)
        if not 1 <= value <= _MOST_THREADS:
            fix = f"Use 1 or more, or None for {self.unset}; ORT's own sign for that, 0, is None here."
            raise self.refused(value, fix)
        return value

    def parse(self, text: str) -> int | None:
        return None if is_unset(text) else whole_number(self.field, text)


class Number(Knob):
    """A number above 0."""

    __slots__ = ()
    TYPED = "a number"

    def canonical(self, value: object) -> float | None:
        if value is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0 < value <= sys.float_info.max
        ):
            raise self.refused(value, f"Use a number above 0, or None for {self.unset}.")
        return float(value)

    def parse(self, text: str) -> float | None:
        try:
            return None if is_unset(text) else float(text)
        except ValueError:
            raise ConfigError(
                f"{self.field} cannot be {quoted(text)}.", "Write a number such as 99.9."
            ) from None


class Flag(Knob):
    """On, off, or left to ORT."""

    __slots__ = ()

    def canonical(self, value: object) -> bool | None:
        if value is None or isinstance(value, bool):
            return value
        raise self.refused(value, f"Use True, False, or None for {self.unset}.")

    def parse(self, text: str) -> bool | None:
        return None if is_unset(text) else on_or_off(self.field, text)


class Switch(Knob):
    """On or off."""

    __slots__ = ()
    DEFAULT = False

    def canonical(self, value: object) -> bool:
        if isinstance(value, bool):
            return value
        raise self.refused(value, "Use True or False.")

    def parse(self, text: str) -> bool:
        return on_or_off(self.field, text)


class Text(Knob):
    """Any text."""

    __slots__ = ()
    TYPED = "a value"

    def canonical(self, value: object) -> str | None:
        if value is None or isinstance(value, str):
            return value
        raise self.refused(value, f"Give a text, or None for {self.unset}.")
