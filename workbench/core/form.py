"""The form of a result kind: what the panels ask for beside model and configs, each field an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from workbench.core.bundle.goal import Goal
from workbench.core.config.literals import literal
from workbench.core.errors import ConfigError
from workbench.core.text import quoted

Fitting: TypeAlias = (
    "str | Callable[[Any], str]"  # a text, or what makes it for the open model, None for none
)


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a public function as a line of text. An empty one leaves the argument out."""

    argument: str
    label: str
    hint: str
    read: Callable[[str], Any]
    text: str | Callable[[Any, str], str] = ""  # at first; what makes it gets the model and its file of data
    example: Fitting = ""
    required: bool = False
    choices: tuple[tuple[str, str], ...] = ()  # words, each with the text that it stands for; empty: any text
    has_axes: bool = False  # the text is `name=values`, and names are dimensions of the model and knobs
    before: str = ""  # the words before the field in the sentence of the form; empty: its label

    def text_for(self, model: Any = None, data: str = "") -> str:
        """Return what stands in the field at first while a model is open, with a file of data or without."""
        return self.text if isinstance(self.text, str) else self.text(model, data)

    def example_for(self, model: Any = None) -> str:
        """Return an example that fits the open model."""
        return self.example if isinstance(self.example, str) else self.example(model)

    def value(self, text: str, model: Any = None) -> Any:
        """Return what the text means; the error names the field."""
        try:
            return self.read(text.strip())
        except ValueError:
            raise ConfigError(
                f"{self.label}: {quoted(text)} cannot be read",
                f"write it like this: {self.text_for(model) or self.example_for(model)}",
            ) from None


def values_of(
    form: tuple[Field, ...], texts: Mapping[str, str], model: Any = None, data: str = ""
) -> dict[str, Any]:
    """Return the arguments of the fields that hold a text; `texts` are those that a person changed.

    What nobody changed is as it fits the open model and its file of data.
    """
    values = {}
    for field in form:
        text = texts.get(field.argument, field.text_for(model, data))
        if text.strip():
            values[field.argument] = field.value(text, model)
        elif field.required:
            raise ConfigError(f"the field {field.label} is empty", f"fill it: {field.example_for(model)}")
    return values


class Source(str):
    """Python source among values that are written as literals."""

    __slots__ = ()


def source_of(value: Any) -> str:
    """Return a value as Python source."""
    if isinstance(value, Source):
        return value
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(source_of, value))}]"
    return value.code if isinstance(value, Goal) else literal(value)


def call_source(function: str, arguments: Iterable[Any], keywords: Mapping[str, Any]) -> str:
    """Return a call as Python source; keywords that are None are left out."""
    given = (f"{name}={source_of(value)}" for name, value in keywords.items() if value is not None)
    return f"{function}({', '.join([*map(source_of, arguments), *given])})"


def names(text: str) -> list[str]:
    """Return the texts of a list with commas or one a line."""
    return [part for line in text.splitlines() for part in map(str.strip, line.split(",")) if part]


def whole_numbers(text: str) -> list[int]:
    """Return the numbers of a text such as 1, 2, 4."""
    return [int(part) for part in names(text)]


def numbers(text: str) -> list[float]:
    """Return the numbers of a text such as 50, 99.5."""
    return [float(part) for part in names(text)]


def percent(text: str) -> float:
    """Return a share of a text such as 1 or 0.5 %."""
    share = float(text.removesuffix("%")) / 100
    if not 0 <= share < 1:
        raise ValueError("no share")
    return share


def yes_or_no(text: str) -> bool:
    """Return whether a text is yes; refuse what is neither yes nor no."""
    answer = text.casefold()
    if answer not in ("yes", "no"):
        raise ValueError(answer)
    return answer == "yes"


def count_or_list(text: str) -> int | list[int]:
    """Return a number, or several as a list."""
    values = whole_numbers(text)
    return values[0] if len(values) == 1 else values


def counts_or_names(text: str) -> list[int | str]:
    """Return numbers where they are some, and other texts as they are: 1, 4, 4+threads."""
    return [int(part) if part.isdecimal() else part for part in names(text)]


def axis_values(text: str) -> list[Any]:
    """Return whole numbers where all are, else values of a knob: true, false and none are Python's."""
    values = names(text)
    if all(value.isascii() and value.isdecimal() for value in values):
        return [int(value) for value in values]
    return [{"true": True, "false": False, "none": None}.get(value.casefold(), value) for value in values]


def axes(text: str) -> dict[str, list[Any]]:
    """Return the values of each axis of a text such as `batch=1, 8; threads=1, 2`."""
    read: dict[str, list[Any]] = {}
    for part in axis_parts(text):
        name, equals, listed = part.rpartition("=")
        values = axis_values(listed)
        if not (equals and name.strip() and values):
            raise ConfigError(f"{quoted(part)} is no axis", "give a name and its values: batch, and 1, 8, 32")
        if name.strip() in read:
            raise ConfigError(f"{quoted(name.strip())} is there twice", "give all its values in one line")
        read[name.strip()] = values
    return read


def axis_parts(text: str) -> list[str]:
    """Return the part of each axis; a dimension of a model may have a semicolon in its name."""
    parts, begun = list[str](), ""
    for piece in text.split(";"):
        begun = f"{begun};{piece}" if begun.strip() else piece
        if "=" in piece:
            parts.append(begun.strip())
            begun = ""
    return [*parts, *filter(None, [begun.strip()])]
