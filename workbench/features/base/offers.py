"""What can be made, read from a file: the modules that make it load slowly.

`python -m workbench.features.base.written` writes the file from the declarations.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from workbench.core.feature import Offer

OFFERS_FILE = Path(__file__).with_name("offers.json")


@cache
def written_offers() -> dict[str, Offer]:
    """Return the offers in the file by their names."""
    rows = json.loads(OFFERS_FILE.read_text("utf-8"))
    return {row["name"]: Offer(**{name: _as_declared(item) for name, item in row.items()}) for row in rows}


def _as_declared(item: Any) -> Any:
    return tuple(item) if isinstance(item, list) else item
