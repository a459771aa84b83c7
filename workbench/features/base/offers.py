"""What the panels offer to make, read from a file: the modules that make it load slowly.

`python -m workbench.features.base.registry` writes the file from the kinds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("offers.json")


@dataclass(frozen=True, slots=True)
class Offer:
    """A kind of result as its button and its tabs show it; the fields are those of `ResultKind`."""

    name: str
    button: str
    hint: str
    tabs: tuple[str, ...]
    scope: str
    key: str | None
    has_form: bool


@cache
def written_offers() -> dict[str, Offer]:
    """Return the offers in the file by their names."""
    rows = json.loads(FILE.read_text("utf-8"))
    return {row["name"]: Offer(**{**row, "tabs": tuple(row["tabs"])}) for row in rows}
