"""What is written from the declarations of the features, so that they need not be imported to be known.

`python -m workbench.features.base.written` writes it anew: what the panels and the command line offer, the
public names, and the methods of a comparison.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from workbench.features.base.registry import KINDS
from workbench.features.base.registry import OFFERS_FILE as OFFERS

PUBLIC = Path(__file__).parents[2] / "__init__.pyi"
_METHODS = Path(__file__).parents[1] / "compare" / "each_run.pyi"
_MARK = (
    "# Of each feature, its call and its result: written by `python -m workbench.features.base.written`.\n"
)
EACH = '''"""The methods of each_run.py: written by `python -m workbench.features.base.written`."""

{imports}
class EachRun:
    def each(self, kind: str) -> Any: ...
{methods}'''


def written() -> dict[Path, str]:
    """Return the text of each file that follows from the declarations."""
    offers = json.dumps([asdict(kind.offer) for kind in KINDS], indent=1) + "\n"
    by_hand, mark, _ = PUBLIC.read_text("utf-8").partition(_MARK)
    return {OFFERS: offers, PUBLIC: by_hand + mark + "".join(_public_names()), _METHODS: _methods()}


def _public_names() -> Iterator[str]:
    for kind in KINDS:
        if kind.call:
            yield f"from {kind.function.__module__} import {kind.public_name} as {kind.public_name}\n"
        name = kind.result.__name__
        yield f"from {kind.result.__module__} import {name} as {name}\n"


def _methods() -> str:
    shown = [kind for kind in KINDS if kind.side_by_side]
    places = sorted(f"from {kind.result.__module__} import {kind.result.__name__}\n" for kind in shown)
    methods = (f"    def {kind.offer.method}(self) -> {kind.result.__name__}: ...\n" for kind in shown)
    return EACH.format(imports="from typing import Any\n\n" + "".join(places), methods="".join(methods))


def main() -> None:
    """Write the files."""
    for path, text in written().items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
