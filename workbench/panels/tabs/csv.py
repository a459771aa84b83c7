"""A table as a file for spreadsheets, which compute a text that begins like a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")  # OWASP, "CSV Injection"


def csv_of(frame: pd.DataFrame) -> str:
    """The table as CSV; a name from a model that would be computed stands behind an apostrophe."""
    safe = frame.map(as_text).rename(columns=as_text)
    return str(safe.to_csv(index=False, lineterminator="\r\n"))  # RFC 4180; then a lone CR is quoted


def as_text(value: Any) -> Any:
    """Numbers as they are: only a text can be mistaken."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value
