"""Pictures with few colours, which keep those that have a meaning."""

from __future__ import annotations

from PIL import Image, ImageColor

from workbench.drawing.palette import STRONG

WORDS = ("#0067a3", "#b34a00", "#00734f", "#a3316f")  # the same in text: panels.css
KEPT = ("#ffffff", *STRONG, *WORDS)  # the page; A, B, gain and loss


def with_few_colors(picture: Image.Image, count: int) -> Image.Image:
    """Return the picture in `count` colours: KEPT, however small their marks are, and the most frequent."""
    frequent = picture.quantize(count - len(KEPT), dither=Image.Dither.NONE).getpalette() or []
    kept = [value for color in KEPT for value in ImageColor.getrgb(color)]
    palette = Image.new("P", (1, 1))
    palette.putpalette([*kept, *frequent[: 3 * (count - len(KEPT))]])
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)
