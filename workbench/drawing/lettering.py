"""Measure a text in the font of the still pictures, and shorten or break it to fit a width.

The font is part of the package, so a picture is the same on every machine. A letter that the font lacks is
written without its accent or as its number (\\u6a21): a box would make all names of a script look the same.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Literal

from PIL import ImageFont

from workbench.core.text import one_line

FAMILY = "Workbench Sans, Arial, Helvetica, sans-serif"  # in SVG; Arial has the same widths
_MOST_LETTERS = 600
_MEASURED = 100.0  # a small font's letters stand on whole pixels, a large one's are in proportion
_NO_LETTER = "\U0010ffff"


@lru_cache(64)
def font(size: float, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Return the regular or the bold face at a size in pixels."""
    return ImageFont.truetype(BytesIO(_face(bold)), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(8192)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the pixels from the first letter to behind the last."""
    return font(_MEASURED, bold=bold).getlength(drawable(text)) * size / _MEASURED


@lru_cache(4096)
def drawable(text: str) -> str:
    """Return `text` in letters that the font has."""
    return "".join(map(_in_font, text))


def fitted(
    text: str, size: float, room: float, *, bold: bool = False, keep: Literal["start", "end"] = "start"
) -> str:
    """Return `text` in one line no wider than `room`; "" where not even a dot fits.

    The end of a path tells more than its start: `keep` it.
    """
    line = one_line(text, _MOST_LETTERS)
    if text_width(line, size, bold=bold) <= room:
        return line
    fits, beyond = 0, len(line)
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        if text_width(_cut(line, middle, keep), size, bold=bold) <= room:
            fits = middle
        else:
            beyond = middle
    return _cut(line, fits, keep) if fits else ""


def broken(text: str, size: float, room: float, *, bold: bool = False, most: int = 40) -> list[str]:
    """Return `text` as at most `most` lines, none wider than `room`."""
    full: list[str] = []
    line = ""
    for word in one_line(text, _MOST_LETTERS).split(" "):
        longer = f"{line} {word}" if line else word
        if not line or text_width(longer, size, bold=bold) <= room:
            line = longer
        else:
            full.append(line)
            line = word
    full.append(line)
    kept, rest = full[: most - 1], full[most - 1 :]
    return [fitted(line, size, room, bold=bold) for line in (*kept, *([" ".join(rest)] if rest else []))]


@cache
def _face(bold: bool) -> bytes:
    name = f"WorkbenchSans-{'Bold' if bold else 'Regular'}.ttf"
    return files("workbench.drawing").joinpath("font", name).read_bytes()


def _cut(line: str, letters: int, keep: str) -> str:
    return f"{line[:letters].rstrip()}…" if keep == "start" else f"…{line[-letters:].lstrip()}"


@cache
def _in_font(letter: str) -> str:
    """Return the letter, else the letter without its accent, else its number."""
    base = unicodedata.normalize("NFKD", letter)[0]
    return next((known for known in (letter, base) if _has(known)), ascii(letter)[1:-1])


def _has(letter: str) -> bool:
    if letter.isspace():
        return True
    letters = font(_MEASURED)
    return bytes(letters.getmask(letter)) != bytes(letters.getmask(_NO_LETTER))
