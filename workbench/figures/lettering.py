"""How wide a text is, and a text made to fit: measured in the font that comes with Pillow.

That font has few letters beyond ASCII: those that our own words use are drawn or spelled another way, any
other is written as its number (\\u6a21), since a box would make all names of a script look the same.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Literal

from PIL import ImageFont

from workbench.figures.words import one_line

_MEASURED = 100.0  # a small font's letters stand on whole pixels, a large one's are in proportion
BOLDER = 0.025  # of the size: how far a bold letter is drawn around its outline
MOST_LETTERS = 600
_SPELLED = {"−": "-", "–": "-", "—": "-", "→": "->", "≥": ">=", "≤": "<=", "≈": "~", "²": "2", "●": "·"}  # noqa: RUF001
_KNOWN = frozenset("°±´·…«»‹›‘’“”™")  # noqa: RUF001  # beyond ASCII, what the font has
_DRAWN = re.compile("([×µμ])")
_STANDING_FOR = {"×": "+", "µ": "u", "μ": "u"}  # as wide


@lru_cache(64)
def font(size: float) -> ImageFont.FreeTypeFont:
    """Pillow's own font, so that a picture is the same on every machine."""
    found = ImageFont.load_default(size)
    if not isinstance(found, ImageFont.FreeTypeFont):
        raise RuntimeError("this Pillow was built without FreeType")
    return found


@lru_cache(4096)
def pieces(text: str) -> tuple[tuple[str, str], ...]:
    """(what to write, the letter to draw instead or ""), in order."""
    shown = "".join(_SPELLED.get(letter, letter) for letter in text)
    found = []
    for part in _DRAWN.split(shown):
        if part in _STANDING_FOR:
            found.append((_STANDING_FOR[part], part))
        elif part:
            found.append(("".join(map(_bare, part)), ""))
    return tuple(found)


@lru_cache(8192)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Pixels from the first letter to behind the last."""
    plain = sum(font(_MEASURED).getlength(part) for part, _ in pieces(text)) * size / _MEASURED
    return plain + (2 * BOLDER * size if bold else 0.0)


def is_spelled(text: str) -> bool:
    """Whether a letter is not drawn as itself, so that a browser's own font would be narrower."""
    return any(_bare(letter) != letter for letter in text if letter not in _STANDING_FOR)


def fitted(
    text: str, size: float, room: float, *, bold: bool = False, keep: Literal["start", "end"] = "start"
) -> str:
    """`text` in one line, cut so that it is no wider than `room`; "" where not even a dot fits.

    Of a path the end tells more than the start: `keep` it.
    """
    line = one_line(text, MOST_LETTERS)
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


def _cut(line: str, letters: int, keep: str) -> str:
    return f"{line[:letters].rstrip()}…" if keep == "start" else f"…{line[-letters:].lstrip()}"


def broken(text: str, size: float, room: float, *, bold: bool = False, most: int = 40) -> list[str]:
    """`text` as at most that many lines, none wider than `room`."""
    found: list[str] = []
    line = ""
    for word in one_line(text, MOST_LETTERS).split(" "):
        longer = f"{line} {word}" if line else word
        if not line or text_width(longer, size, bold=bold) <= room:
            line = longer
        else:
            found.append(line)
            line = word
    found.append(line)
    kept, rest = found[: most - 1], found[most - 1 :]
    return [fitted(one, size, room, bold=bold) for one in (*kept, *([" ".join(rest)] if rest else []))]


@cache
def _bare(letter: str) -> str:
    """Without its accent, where the font has the letter only so; else its number."""
    if letter.isascii() or letter in _KNOWN:
        return letter
    first = unicodedata.normalize("NFKD", letter)[0]
    return first if first.isascii() else ascii(letter)[1:-1]
