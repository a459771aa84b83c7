"""A table as a file for spreadsheets, which compute a text that begins like a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")  # OWASP, "CSV Injection"


def csv_of(frame: pd.DataFrame) -> str:
    """Return the table as CSV; an apostrophe stands before a text that would be computed."""
    safe = frame.map(as_text).rename(columns=as_text)
    return str(safe.to_csv(index=False, lineterminator="\r\n"))  # RFC 4180; then a lone CR is quoted


def as_text(value: Any) -> Any:
    """Return numbers as they are: only a text can be mistaken for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value
