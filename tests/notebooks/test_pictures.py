"""Pictures of the docs have few colours, and among them those of A and B."""

from __future__ import annotations

from PIL import Image, ImageColor

from docs.pictures import KEPT, with_few_colors


def test_a_small_mark_keeps_its_colour() -> None:
    picture = Image.new("RGB", (256, 256))
    picture.putdata([(x, y, (x * y) % 256) for y in range(256) for x in range(256)])
    for place, color in enumerate(KEPT):
        picture.paste(color, (8 * place, 0, 8 * place + 3, 3))
    few = with_few_colors(picture, 64)
    assert len(few.getcolors() or ()) <= 64
    pixels = few.convert("RGB")
    assert [pixels.getpixel((8 * place + 1, 1)) for place in range(len(KEPT))] == [
        ImageColor.getrgb(color) for color in KEPT
    ]
