"""ORT's graph passes by name, as the shipped list has them.

A worker asks the installed ORT for its own; ORT itself ignores a name that it does not know.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from workbench.core.config.catalogue import read_data


@dataclass(frozen=True, slots=True)
class GraphPass:
    """A transformer, or a rule that a transformer of rules applies."""

    name: str
    level: int  # 1 basic, 2 extended, 3 layout, 4 all
    part_of: str | None  # the transformer whose rule this is
    asked_for_by: str | None  # the session entry without which it is not there


@dataclass(frozen=True, slots=True)
class PassList:
    """All passes of an ORT; a name on two levels is listed twice and disabled on both."""

    ort_version: str
    session: str  # what kind of session was asked
    passes: tuple[GraphPass, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names without repetition, in alphabetical order."""
        return tuple(sorted({graph_pass.name for graph_pass in self.passes}))

    def unknown(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names that this ORT would ignore."""
        return tuple(name for name in names if name not in self.names)


@cache
def shipped_passes() -> PassList:
    """Return the passes of a CPU session of the ORT that this package was made with."""
    data = read_data("passes")
    return PassList(data["ort"], data["session"], tuple(GraphPass(*row) for row in data["passes"]))


def pass_help(name: str) -> str:
    """Return what a pass does, in a sentence; empty for an unknown pass."""
    return str(read_data("pass-help").get(name, ""))
