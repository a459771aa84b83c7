"""Names of files that are made from a model's name."""

from __future__ import annotations

MOST_LETTERS = 60  # of a model's name that a file's name keeps


def file_name(model: str) -> str:
    """A file's name from a model's, which may be anything."""
    kept = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-" for letter in model
    )
    return kept.strip("-")[:MOST_LETTERS] or "result"
