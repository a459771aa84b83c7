"""Colours that are seen on both themes, and that never stand alone."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.apps.panels.widgets import static
from workbench.drawing import palette
from workbench.drawing.chart import run_look
from workbench.drawing.page.banner import VERDICT_STYLE as VERDICT
from workbench.drawing.palette import (
    BLUE,
    MUTED,
    PALE,
    SERIES,
    STRONG,
    VERMILLION,
    style_of_op_type,
    style_of_provider,
)
from workbench.features.explain.graph_view.payload import FATES
from workbench.features.profile.flame.frames import GAIN, LOSS

WHITE, DARK = "#ffffff", "#111111"
JUPYTERLAB_DARK = "#212121"
PAGE = files("workbench.drawing.page").joinpath("static", "page.css").read_text("utf-8")


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("color", STRONG)
def test_a_strong_colour_is_seen_on_both_themes(color: str) -> None:
    assert contrast(color, WHITE) >= 3
    assert contrast(color, DARK) >= 3


@pytest.mark.parametrize("sheet", [static("panels.css"), PAGE], ids=["panels", "page"])
def test_the_letter_of_a_run_takes_a_colour_that_is_readable_on_its_theme(sheet: str) -> None:
    rules = re.findall(r"tspan\[style\*=\"(#\w{6})\" i\] \{ fill: var\((--[\w-]+)\) !important; \}", VERDICT)
    assert [color for color, _ in rules] == list(STRONG)
    for _, name in rules:
        light, dark = re.findall(rf"{name}: (#\w{{6}});", sheet)
        assert contrast(light, WHITE) >= 4.5
        assert contrast(dark, JUPYTERLAB_DARK) >= 4.5


@pytest.mark.parametrize("sheet", [static("panels.css"), PAGE], ids=["panels", "page"])
def test_a_failure_has_a_readable_colour_of_its_own(sheet: str) -> None:
    assert ".v-head.v-error { color: var(--error); }" in VERDICT
    light, dark = re.findall(r"--error: (#\w{6});", sheet)
    assert contrast(light, WHITE) >= 4.5
    assert contrast(dark, JUPYTERLAB_DARK) >= 4.5


def test_text_is_as_readable_on_white_as_on_black() -> None:
    assert contrast(palette.TEXT, WHITE) > 4.2
    assert contrast(palette.TEXT, DARK) > 4.2


@pytest.mark.parametrize("color", [*STRONG, *PALE, *MUTED])
def test_what_is_written_upon_a_fill_can_be_read(color: str) -> None:
    fill = palette.FillStyle(color, "")
    assert contrast(fill.ink, color) >= 4.5


def test_twenty_runs_look_different_even_without_colour_for_five() -> None:
    styles = [run_look(index) for index in range(20)]
    assert len(set(styles)) == 20
    assert len({(style.symbol, style.dash, style.pattern) for style in styles[:5]}) == 5
    assert {style.color for style in styles} == set(STRONG)


@given(st.integers(0, 10_000))
def test_any_run_has_a_strong_colour(index: int) -> None:
    assert run_look(index).color in STRONG


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("cpu", "CPUExecutionProvider"),
        ("cuda", "CUDAExecutionProvider"),
        ("tensorrt", "TensorrtExecutionProvider"),
        ("trt", "TensorrtExecutionProvider"),
        ("tensorrt-rtx", "NvTensorRTRTXExecutionProvider"),
        ("directml", "DmlExecutionProvider"),
        ("a new one", "A New OneExecutionProvider"),
    ],
)
def test_a_provider_has_one_style_by_whichever_name(short: str, full: str) -> None:
    assert style_of_provider(short) == style_of_provider(full)


def test_known_providers_and_op_types_are_all_told_apart() -> None:
    for table in (palette.PROVIDER_STYLES, palette.OP_TYPE_STYLES):
        assert len({(style.color, style.pattern) for style in table.values()}) == len(table)


def test_every_listed_op_type_has_a_style_of_its_own() -> None:
    listed = [op_type for kin in palette.OP_TYPES_BY_COLOR.values() for op_type in kin.split()]
    assert sorted(palette.OP_TYPE_STYLES) == sorted(listed)


@given(st.text())
def test_an_unknown_op_type_is_hatched_and_does_not_depend_on_when_it_is_asked(op_type: str) -> None:
    style = style_of_op_type(op_type)
    assert style == style_of_op_type(op_type)
    assert style.color in MUTED
    assert style.pattern or op_type in palette.OP_TYPE_STYLES


def test_an_unknown_op_type_looks_the_same_in_another_process() -> None:
    code = "from workbench.drawing.palette import style_of_op_type as s; print(s('MyOwnOp'))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(style_of_op_type("MyOwnOp"))


def test_blue_and_vermillion_are_of_a_and_b_alone() -> None:
    assert [run_look(index).color for index in (0, 1)] == [BLUE, VERMILLION]
    fills = [*palette.PROVIDER_STYLES.values(), *palette.OP_TYPE_STYLES.values(), GAIN, LOSS]
    fills += [style for style, _ in FATES.values()]
    assert not {BLUE, VERMILLION} & {*(style.color for style in fills), *(color for color, *_ in SERIES)}
