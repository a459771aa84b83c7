"""The history of this machine, whose entries open as results with their methods."""

from __future__ import annotations

from typing import Any

from workbench.records.history import History as RecordHistory
from workbench.results.registry import KINDS


class History(RecordHistory):
    """The history file; `open` returns a result instead of its record."""

    kinds = KINDS

    def open(self, id_or_prefix: str) -> Any:
        """Return the result with this id, or with the only id that begins so."""
        return KINDS.result(self.bundle(id_or_prefix))
