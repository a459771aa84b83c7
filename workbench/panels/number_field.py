"""A line of text that holds a number or nothing."""

from __future__ import annotations

import math
from typing import Any

from workbench.errors import WorkbenchError
from workbench.panels import widgets as W

DIGITS = 12  # 1.1 ms is 0.0011 s, not 0.0011000000000000001
MIB = 2**20


class NumberField(W.TextField):
    """A field of a number in a unit; a unit that is whole, such as MiB in bytes, gives whole numbers."""

    def __init__(self, name: str, example: str, unit: float = 1.0, **traits: Any) -> None:
        super().__init__(description=name, placeholder=example, **traits)
        self._unit = unit

    @property
    def number(self) -> Any:
        """The number times its unit; None of an empty field."""
        if not self.value.strip():
            return None
        try:
            value = float(self.value)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise WorkbenchError(
                f"{self.description}: {self.value[:40]!r} is no number.", f"Write one, {self.placeholder}."
            )
        return round(value * self._unit, None if isinstance(self._unit, int) else DIGITS)
