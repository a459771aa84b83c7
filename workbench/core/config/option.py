"""An option of a provider, of a session or of a run: its key, and the texts that it takes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from workbench.core.errors import ConfigError
from workbench.core.text import did_you_mean, listed, quoted

OptionType = Literal["bool", "int", "float", "enum", "string", "json", "path", "address"]
OptionValue = str | int | float | PurePath  # bool is an int

ELSEWHERE = "…/"  # before a path of another machine, or of a file from elsewhere: no run uses it
HIDDEN = f"{ELSEWHERE}hidden"  # in the place of a secret that is shown, saved or shared
_SECRET = re.compile(
    r"passw|secret|credential|(^|[^a-z])((api|access|auth|private|account)[^a-z]?key|(auth[^a-z]?)?token|sas|connection[^a-z]?string)$",
    re.IGNORECASE,
)
ALLOW = "or set allow_unknown=True to pass it on as it is"
_MOST_CHARACTERS = 1 << 20  # of one value; ORT copies it, and a stranger's bundle may bring it
MOST_BITS = 128  # of an integer; the ranges say the rest
_INTEGER = re.compile(r"-?[0-9]{1,20}")
_OFF_ON = (("0", "false", "off", "no"), ("1", "true", "on", "yes"))


@dataclass(frozen=True, slots=True)
class Option:
    """The catalogue's facts about an option. Values are texts, because ORT takes texts."""

    owner: str  # a provider's name, "session" or "run"
    name: str
    type: OptionType
    default: str | None  # None: nothing, or ORT decides on the machine
    choices: tuple[str, ...]  # of a bool: how off and on are written; empty: free
    minimum: int | None
    maximum: int | None
    help: str
    source: str
    in_this_ort: bool | None  # is the name in the binaries of the catalogue's ORT? None: not known
    instead: str | None  # why it is refused here, and what to use
    needs: tuple[tuple[str, str], ...]  # one of these entries must be set too
    opens: Literal["path", "library"] | None = None  # what the value names: a file, code that is loaded

    def render(self, value: OptionValue) -> str:
        """Return the text for ORT; refuse a value that ORT would refuse, misread or ignore."""
        if self.instead is not None:
            raise ConfigError(
                f"{self.label} cannot be set here, but {quoted(value)} was given.", self.instead
            )
        if self.type == "address":
            raise ConfigError(
                f"{self.label} is a memory address, which means nothing in the process that measures.",
                "Leave it out; the workbench owns the session and its streams.",
            )
        text = rendered(self.label, value)
        if self.type == "bool":
            return self._render_bool(text)
        if self.type in ("int", "float"):
            return self._render_number(text)
        if self.type == "enum" and text not in self.choices:
            raise self._refusal(text, did_you_mean(text, self.choices))
        if self.type == "json" and not text.startswith(ELSEWHERE) and not _is_object(text):
            raise self._refusal(text, "")
        return text

    def _render_bool(self, text: str) -> str:
        for words, spelling in zip(_OFF_ON, self.choices, strict=True):
            if text.casefold() in words:
                return spelling
        raise self._refusal(text, "")

    def _render_number(self, text: str) -> str:
        if self.type == "float":
            try:
                number = float(text)
            except ValueError:
                raise self._refusal(text, "") from None
            if not abs(number) < float("inf"):
                raise self._refusal(text, "")
            return text
        if not _INTEGER.fullmatch(text):
            raise self._refusal(text, "")
        whole = int(text)
        low, high = self.minimum, self.maximum
        if (low is not None and whole < low) or (high is not None and whole > high):
            raise self._refusal(text, "")
        if self.choices and str(whole) not in self.choices:
            raise self._refusal(text, "")
        return str(whole)

    @property
    def allowed(self) -> str:
        """The values taken, in words."""
        if self.type == "bool":
            return "True or False"
        if self.choices:
            return listed(self.choices, None)
        if self.type == "int":
            low = "" if self.minimum is None else f" from {self.minimum}"
            high = "" if self.maximum is None else f" up to {self.maximum}"
            return f"a whole number{low}{high}"
        words = {"float": "a finite number", "path": "a path", "json": "the text of a JSON object"}
        return words.get(self.type, "a text")

    @property
    def label(self) -> str:
        """The option as an error names it."""
        return f"{self.owner} option {self.name!r}"

    def _refusal(self, text: str, guess: str) -> ConfigError:
        return ConfigError(f"{self.label} cannot be {quoted(text)}.", f"{guess}Allowed: {self.allowed}.")


def check_text(label: str, text: str) -> None:
    """Refuse a text that ORT would cut at a NUL, or that holds half a character."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ConfigError(
            f"{label} has {quoted(text)}, with a NUL or half a character in it.", "Give text without these."
        )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def is_secret(name: str) -> bool:
    """Return whether an option holds a secret, by its name. None that the catalogue knows does."""
    return _SECRET.search(name) is not None


def shown(name: str, text: str) -> str:
    """Return the text of an option as people see it: a secret is hidden."""
    return HIDDEN if is_secret(name) else text


def rendered(label: str, value: OptionValue) -> str:
    """Return a Python value as the text of an entry that the catalogue does not know."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if not isinstance(value, str | int | float | PurePath):
        raise ConfigError(
            f"{label} is {quoted(value)}, a {type(value).__name__}.",
            "Give a text, a number, True or False, or a path.",
        )
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ConfigError(f"{label} is {quoted(value)}.", "ORT's numbers have at most 64 bits.")
    text = str(value)
    check_text(label, text)
    if len(text) > _MOST_CHARACTERS:
        raise ConfigError(
            f"{label} has {len(text):,} characters.", f"Give at most {_MOST_CHARACTERS:,} characters."
        )
    return text
