"""Pictures as values: the same scene as SVG and as PNG, and no text leaves its room."""

from __future__ import annotations

import io
from importlib.resources import files
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.amount import amount
from workbench.drawing.cell import as_cell
from workbench.drawing.lettering import broken, drawable, fitted, text_width
from workbench.drawing.raster import FINER, MOST_PIXELS
from workbench.drawing.scene import Scene
from workbench.drawing.shapes import Line, Polyline, Rect, TextLine, hatching

SVG = "{http://www.w3.org/2000/svg}"


def opened(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGBA")


def test_a_rectangle_is_where_it_says() -> None:
    page = Rect(0, 0, 100, 50, "#ffffff")
    scene = Scene(100, 50, "one", (page, Rect(10, 10, 30, 20, "#0072B2")))
    image = opened(scene.to_png(scale=2))
    assert image.size == (200, 100)
    near = image.getpixel((40, 40))
    assert isinstance(near, tuple)
    assert all(abs(a - b) < 8 for a, b in zip(near, (0, 0x72, 0xB2, 255), strict=True))
    assert image.getpixel((90, 90)) == (255, 255, 255, 255)


def test_its_ground_is_transparent() -> None:
    image = opened(Scene(20, 20, "", (TextLine(2, 12, "a"),)).to_png())
    assert image.getpixel((39, 39))[3] == 0  # type: ignore[index]
    assert image.getchannel("A").getextrema()[1] > 200  # type: ignore[operator]


@pytest.mark.parametrize("opacity", [0.3, 1.0])
def test_every_mark_is_drawn_both_ways(opacity: float) -> None:
    marks = (
        Rect(-5, -5, 400, 300, "#56B4E9", opacity, "#000000", radius=4, hatch="x"),
        Rect(1, 1, -3, 5, "#56B4E9"),
        Line(0, 0, 90, 40, dash=(4, 3), opacity=opacity),
        Line(5, 5, 5, 5, dash=(4, 3)),
        Polyline(((1, 1), (50, 30), (80, 4)), fill="#D55E00", opacity=opacity),
        Polyline(((1, 1),)),
        TextLine(50, 20, "1.83× 12 µs", bold=True, anchor="middle"),
        TextLine(50, 20, "漢é\ud800", anchor="end", room=30),
    )
    scene = Scene(100, 50, "all", marks)
    assert opened(scene.to_png()).size == (200, 100)
    assert len(list(ElementTree.fromstring(scene.to_svg()))) > len(marks)


@pytest.mark.parametrize("pattern", ["/", "\\", "x", "-", "|", "+", "."])
def test_hatching_stays_inside(pattern: str) -> None:
    rect = Rect(10, 20, 33, 17, hatch=pattern)  # type: ignore[arg-type]
    found = list(hatching(rect))
    assert found
    for line in found:
        assert 10 - 1 <= min(line.x1, line.x2) <= max(line.x1, line.x2) <= 43 + 1
        assert 20 - 1e-9 <= min(line.y1, line.y2) <= max(line.y1, line.y2) <= 37 + 1e-9


@settings(max_examples=amount(60))
@given(st.text(max_size=300), st.floats(0, 400), st.sampled_from([9.0, 12.0, 14.0]), st.booleans())
def test_no_text_leaves_its_room(text: str, room: float, size: float, bold: bool) -> None:
    shown = fitted(text, size, room, bold=bold)
    assert not shown or text_width(shown, size, bold=bold) <= room
    for line in broken(text, size, room, bold=bold):
        assert not line or text_width(line, size, bold=bold) <= room


def test_what_fits_is_not_cut_and_what_is_cut_says_so() -> None:
    assert fitted("short", 12, 400) == "short"
    assert fitted("quite a long text", 12, 60).endswith("…")
    assert " ".join(broken("one two three four five", 12, 60)) == "one two three four five"
    assert len(broken("one two three four five " * 9, 12, 60, most=3)) == 3


def test_an_enormous_scene_gives_a_bounded_picture() -> None:
    image = opened(Scene(100_000, 100, "long", ()).to_png(scale=4))
    assert image.width * image.height <= MOST_PIXELS / FINER**2 * 1.1


def test_a_cell_holds_words_and_a_picture_at_its_own_size() -> None:
    data, about = as_cell("words", Scene(50, 20, "t", ()))
    assert set(data) == {"text/plain", "image/png"}
    assert about == {"image/png": {"width": 50}}
    assert as_cell("words") == ({"text/plain": "words"}, {})


def test_the_font_is_in_the_package_with_its_licence_and_has_the_letters_of_our_texts() -> None:
    folder = files("workbench.drawing").joinpath("font")
    assert "SIL OPEN FONT LICENSE" in folder.joinpath("OFL.txt").read_text(encoding="utf-8")
    assert drawable("1.83× 12 µs ±5 % → ≥ ≤ ≈ σ² é Ж …") == "1.83× 12 µs ±5 % → ≥ ≤ ≈ σ² é Ж …"
    assert drawable("模ạ") == "\\u6a21a", "a letter without its accent, or its number"


def test_letters_that_the_font_lacks_are_told_apart() -> None:
    first, second = (
        opened(Scene(200, 20, "", (TextLine(2, 14, name),)).to_png()) for name in ("模型", "算子")
    )
    assert first.tobytes() != second.tobytes(), "a box for each letter would make them the same"
    assert "模型" in Scene(200, 20, "", (TextLine(2, 14, "模型", room=190),)).to_svg(), (
        "a browser has the letters"
    )


def test_of_a_path_the_end_is_kept() -> None:
    path = "/model/encoder/layer.11/attention/self/value/MatMul"
    shown = fitted(path, 12, 150, keep="end")
    assert shown.startswith("…")
    assert path.endswith(shown[1:])
    assert text_width(shown, 12) <= 150


def test_widths_are_in_proportion_to_the_size() -> None:
    assert text_width("DynamicQuantizeMatMul", 48) == pytest.approx(
        4 * text_width("DynamicQuantizeMatMul", 12)
    )
