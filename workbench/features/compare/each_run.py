"""A method for each feature that shows all runs side by side: `result.memory()`, `result.roofline()`…

The stub beside this file lists them; `python -m workbench.features.base.written` writes it.
"""

from __future__ import annotations

from functools import partialmethod
from typing import Any

from workbench.features import FEATURES
from workbench.features.base.offers import written_offers


class EachRun:
    """A result about several runs, of which each may have a record of such a feature."""

    def each(self, kind: str) -> Any:
        """Return the results of a kind of all runs as one."""
        raise NotImplementedError


def _each(self: EachRun, kind: str) -> Any:
    return self.each(kind)


for offer in written_offers().values():
    if offer.side_by_side and offer.name in FEATURES:
        setattr(EachRun, offer.method, partialmethod(_each, offer.name))
