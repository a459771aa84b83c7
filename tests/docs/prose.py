"""Sentences and paragraphs of Markdown, without its code, tables and pictures."""

from __future__ import annotations

import re

FENCED = re.compile(r"^(```+|~~~+).*?^\1`*\s*$", re.DOTALL | re.MULTILINE)
TABLE_OR_HEADING = re.compile(r"^\s*(\||#).*$", re.MULTILINE)
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+", re.MULTILINE)
PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`")
END = re.compile(r"(?<=[.!?])[\"')*”]*\s+(?=[\"'(*“`A-Z0-9\[])")


def paragraphs(markdown: str) -> list[str]:
    """Return each paragraph and each item of a list in one line; a piece of code counts as one word."""
    text = TABLE_OR_HEADING.sub("\n", FENCED.sub("\n", markdown))
    text = LINK.sub(r"\1", CODE.sub("Code", PICTURE.sub("", text)))
    parts = re.split(r"\n\s*\n", ITEM.sub("\n\n", text))
    return [" ".join(part.split()) for part in parts if re.search(r"[A-Za-z]", part)]


def sentences(markdown: str) -> list[str]:
    return [sentence for part in paragraphs(markdown) for sentence in END.split(part)]


def words(text: str) -> int:
    return len([word for word in text.split() if re.search(r"\w", word)])
