"""The bounds of numbers that users write by hand."""

from __future__ import annotations

import sys

from workbench.core.errors import ConfigError
from workbench.core.text import quoted

_LARGEST = sys.float_info.max


def check_number(
    name: str,
    value: object,
    fix: str,
    *,
    what: str = "usable value",
    least: float | None = None,
    most: float = _LARGEST,
    whole: bool = False,
) -> None:
    """Refuse what is no number from `least` (None: above 0) to `most`; NaN and truth values too."""
    usable = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not usable or not (value > 0 if least is None else least <= value) or not value <= most:  # type: ignore[operator]
        raise ConfigError(f"{name}={quoted(value)} is no {what}", fix)
