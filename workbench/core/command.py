"""What the command of a feature has beside what the signature of its call says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of a feature; each parameter of its call that a text can give is an option.

    A number, a text, a choice, a switch, a list, a path, a config or a goal has its kind of option by its
    type; `inputs`, `seed`, `budget_s` and others have those that all commands share.
    """

    example: str = ""  # its arguments, as the end of its help shows them
    hints: Mapping[str, str] = field(default_factory=dict)
    """Argument → the help of its option, where the form has no field for it, or says it otherwise."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Argument → the name of its option, where it is not that of the argument; empty: it has none."""
    once: tuple[str, ...] = ()
    """Arguments whose list is one value, so that their option stands once; others add up."""
    call: str | Callable[..., Any] = ""
    """What it calls, where it takes more than the public function; its `**` stands for the other arguments
    of that function, which are options, too."""
    rows: Callable[..., Any] | None = None
    """The result, and further options by their names → the table below its sentences."""
    text: Callable[[Any], str] | None = None
    """The result → what a terminal shows in place of its sentences and the first rows of its table."""
