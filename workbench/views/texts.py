"""Texts and styles of the views' data: each text once, under a number."""

from __future__ import annotations

from workbench.figures.palette import FillStyle


class Texts:
    """Numbered texts; the columns hold the numbers. A very long text is cut."""

    def __init__(self, most_letters: int) -> None:
        self.all: list[str] = []
        self._most = most_letters
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text; add the text if it is new."""
        short = text if len(text) <= self._most else f"{text[: self._most - 1]}…"
        if short not in self._numbers:
            self._numbers[short] = len(self.all)
            self.all.append(short)
        return self._numbers[short]


def style_data(style: FillStyle) -> dict[str, str]:
    """Return what the canvas needs of a style."""
    return {"color": style.color, "pattern": style.pattern, "ink": style.ink}
