"""File names that are made from a model's name."""

from __future__ import annotations

MOST_LETTERS = 60  # of a model's name in a file name


def file_name(model: str) -> str:
    """Return a safe file name for a model's name, which may hold anything."""
    safe = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-" for letter in model
    )
    return safe.strip("-")[:MOST_LETTERS] or "result"
