"""Texts and styles as the views' data holds them: each text once, named by its number."""

from __future__ import annotations

from workbench.figures.palette import FillStyle


class Texts:
    """Each text once; the columns hold its number. One of a megabyte is cut."""

    def __init__(self, most_letters: int) -> None:
        self.all: list[str] = []
        self._most = most_letters
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Of this text, from now on."""
        short = text if len(text) <= self._most else f"{text[: self._most - 1]}…"
        if short not in self._numbers:
            self._numbers[short] = len(self.all)
            self.all.append(short)
        return self._numbers[short]


def style_data(style: FillStyle) -> dict[str, str]:
    """What the canvas needs of a style."""
    return {"color": style.color, "pattern": style.pattern, "ink": style.ink}
