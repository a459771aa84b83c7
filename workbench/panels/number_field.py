"""A line of text that holds a number or nothing."""

from __future__ import annotations

import math

from workbench.errors import WorkbenchError
from workbench.panels import widgets as W


def number_in(field: W.Text, unit: float = 1.0) -> float | None:
    """Return the number in a field, times its unit; None of an empty field."""
    if not field.value.strip():
        return None
    try:
        value = float(field.value)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise WorkbenchError(
            f"{field.description}: {field.value[:40]!r} is no number.", f"Write one, {field.placeholder}."
        )
    return value * unit
