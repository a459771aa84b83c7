"""What providers that are not here are known to take: tables kept as data, each with its source."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class SupportTable:
    """Operators that a provider takes, some under a condition; `complete`: it takes no others."""

    provider: str
    source: str
    version: str  # of ONNX Runtime, as far as the source tells
    complete: bool  # whether an operator that is not listed is known not to be taken
    operators: tuple[tuple[str, str], ...]  # (operator with its domain, condition or "")

    def says(self, kind: str) -> tuple[bool | None, str]:
        """Whether it takes an operator, and under which condition; None: the table does not tell."""
        for name, condition in self.operators:
            if name == kind:
                return True, condition
        return (False if self.complete else None), ""


@cache
def support_tables() -> tuple[SupportTable, ...]:
    """All tables that ship with this package."""
    folder = files("workbench.explain").joinpath("data")
    tables = []
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.startswith("support-") and file.name.endswith(".json"):
            data = json.loads(file.read_text(encoding="utf-8"))
            rows = tuple((name, condition) for name, condition in data["operators"].items())
            tables.append(
                SupportTable(data["provider"], data["source"], data["version"], data["complete"], rows)
            )
    return tuple(tables)
