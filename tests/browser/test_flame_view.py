"""The flame view in a real browser: in an exported page without a network, and in the real JupyterLab."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import tests
import workbench as wb
from benchmarks.traces import made_profile
from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.chromium import Pages
from tests.browser.test_graph_view import details, exported, heard, painted
from tests.factories.graphs import fused
from tests.features.profile.traces import event, node, write
from workbench.features.explain.graph_view.view import graph_view
from workbench.features.profile.calls import read_profile
from workbench.features.profile.flame.view import FlameView, flame_of_two, flame_view
from workbench.features.profile.session_profile import SessionProfile

pytestmark = [pytest.mark.browser, pytest.mark.slow]

REPOSITORY = Path(tests.__file__).parent.parent
SPANS = 6_000
MADE = f"""
import sys, tempfile
sys.path.insert(0, {str(REPOSITORY)!r})
from pathlib import Path
import ipywidgets as W
from benchmarks.traces import made_profile
from workbench.features.profile.flame.view import flame_of_two
folder = Path(tempfile.mkdtemp())
view = flame_of_two(made_profile({SPANS}, folder), made_profile({SPANS}, folder, 0.5))
view
"""
TOLD = """
told, choose = W.Label(), W.Button(description="choose")
view.observe(lambda change: setattr(told, "value", repr(view.selected)), names="selected")
choose.on_click(lambda _: setattr(view, "selected", ("/model/encoder/layer.0/attention/MatMul_0",)))
W.VBox([told, choose])
"""
PIXELS = "canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data"
KEEP_PIXELS = f"(canvas) => {{ window.before = {PIXELS}; }}"
CHANGED_SHARE = f"""(canvas) => {{
  const now = {PIXELS};
  return now.filter((value, at) => value !== before[at]).length / now.length;
}}"""


@pytest.fixture(scope="module")
def both() -> FlameView:
    """A quantized sample as it is and as ORT makes it, with where the milliseconds went."""
    model = wb.load("digits-conv-qat")
    configs = (wb.Config(level="disabled", intra_op_threads=1), wb.Config(intra_op_threads=1))
    profiles = [wb.profile(model, each, budget_s=0.05, keep=False) for each in configs]
    explained = [wb.explain(model, each).record for each in configs]
    return flame_of_two(*profiles, *explained)


def choose(page: Page, way: str) -> None:
    page.get_by_label("Show").select_option(way)


def test_a_flame_that_is_closed_hears_nothing(pages: Pages, tmp_path: Path, both: FlameView) -> None:
    page = pages.open(exported(tmp_path, both), offline=True)
    painted(page)
    during, after = heard(page, "flame")
    assert {"change:asked", "change:height_px"} <= set(during)
    assert after == []


def test_the_difference_says_what_became_what(pages: Pages, tmp_path: Path, both: FlameView) -> None:
    page = pages.open(exported(tmp_path, both), offline=True)
    canvas = painted(page)
    page.get_by_role("searchbox").fill("QLinearConv")
    expect(page.locator(".wbv-count")).to_contain_text("1 of")
    expect(page.locator(".wbv-bar")).to_contain_text("of Difference")
    page.keyboard.press("Enter")
    canvas.focus()
    page.keyboard.press("n")
    expect(details(page)).to_contain_text("QLinearConv")
    page.get_by_role("searchbox").fill("3 DequantizeLinear")
    page.keyboard.press("Enter")
    expect(details(page)).to_contain_text("difference")
    expect(details(page)).to_contain_text("of all that changed")
    pages.picture(page, "flame-difference")
    assert faults(page, ".wbv") == []
    assert pages.thrown == []


def test_all_by_keyboard_in_every_picture(pages: Pages, tmp_path: Path, both: FlameView) -> None:
    page = pages.open(exported(tmp_path, both), offline=True)
    canvas = painted(page)
    for way in ("module", "operator", "time", "difference"):
        choose(page, way)
        canvas.focus()
        page.keyboard.press("ArrowRight")
        expect(details(page).locator("dl")).to_be_visible()
        for key in ("ArrowDown", "ArrowRight", "Enter", "+", "-", "Shift+ArrowLeft", "ArrowUp", "0"):
            page.keyboard.press(key)
        for color in ("provider", "change", "operator"):
            page.get_by_label("Colour").select_option(color)
        page.keyboard.press("Tab")
        canvas.focus()
        page.keyboard.press("Escape")
        pages.picture(page, f"flame-{way}")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    assert pages.thrown == []


def test_dark_and_narrow(pages: Pages, tmp_path: Path, both: FlameView) -> None:
    page = pages.open(exported(tmp_path, both), offline=True, width=400, theme="dark")
    painted(page)
    choose(page, "module")
    pages.picture(page, "flame-narrow-dark")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert pages.thrown == []


def test_names_of_strangers_are_texts(pages: Pages, tmp_path: Path) -> None:
    name = "/<img src=x onerror=window.hacked=1>/a"
    events = [node(name, 1, 5, "<b>op</b>"), event("SequentialExecutor::Execute", 0, 7, "Session")]
    events.append(event("model_run", 0, 8, "Session"))
    page = pages.open(exported(tmp_path, flame_view(read_profile(write(tmp_path, events)))), offline=True)
    canvas = painted(page)
    page.get_by_role("searchbox").fill("onerror")
    page.keyboard.press("Enter")
    expect(details(page)).to_contain_text("<img src=x onerror=window.hacked=1>")
    expect(page.locator(".wbv-legend")).to_contain_text("<b>op</b>")
    canvas.focus()
    assert page.evaluate("window.hacked === undefined && document.images.length === 0")
    assert pages.thrown == []


def test_a_trace_without_a_run_says_so(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(
        exported(tmp_path, flame_view(read_profile(write(tmp_path, [node("a", 0, 1)])))), offline=True
    )
    painted(page)
    expect(page.locator(".wbv-title").first).to_contain_text("no run was completed")
    assert pages.thrown == []


def test_zooming_is_fluent_enough_to_be_used(pages: Pages, tmp_path: Path) -> None:
    """The figures are in `python -m benchmarks.views flame`; here only that a large one works."""
    page = pages.open(
        exported(tmp_path, flame_view(made_profile(30_000, tmp_path), way="time")), offline=True
    )
    canvas = painted(page)
    canvas.focus()
    for _ in range(8):
        page.keyboard.press("+")
    page.keyboard.press("Shift+0")
    page.get_by_role("searchbox").fill("Softmax")
    expect(page.locator(".wbv-count")).to_contain_text("1 of")
    assert pages.thrown == []


def profile_of(folder: Path, *names: str) -> SessionProfile:
    events = [node(name, 1 + 5 * at, 5, name.split("/")[-1]) for at, name in enumerate(names)]
    events.append(event("SequentialExecutor::Execute", 0, 17, "Session"))
    return read_profile(
        write(folder, [*events, event("model_run", 0, 18, "Session")], name="-".join(names).replace("/", ""))
    )


def test_a_fused_node_of_the_graph_marks_its_members(pages: Pages, tmp_path: Path) -> None:
    flame = flame_of_two(
        profile_of(tmp_path, "/a/MatMul", "/a/Add", "/a/Softmax"),
        profile_of(tmp_path, "/a/Gemm", "/a/Softmax"),
    )
    page = pages.open(exported(tmp_path, graph_view(fused()), flame), offline=True)
    canvas = painted(page, 2)
    canvas.evaluate(KEEP_PIXELS)
    page.get_by_label("Search names, op types").fill("Gemm")
    found = page.locator(".wbv-flame .wbv-details")
    expect(found).to_contain_text("/a/MatMul")
    expect(found).to_contain_text("selected with it")
    expect(found).to_contain_text("/a/Add, /a/Gemm")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    pages.picture(page, "flame-with-graph")
    assert 0 < canvas.evaluate(CHANGED_SHARE) < 0.1
    assert pages.thrown == []


@pytest.mark.real
def test_selection_is_linked_in_jupyterlab(show: Show, pages: Pages) -> None:
    book = show(MADE, TOLD)
    canvas = painted(book.page)
    expect(book.output(0)).to_contain_text("with the profiler on")
    book.output(1).get_by_role("button", name="choose").click()
    found = book.output(0).locator(".wbv-details")
    expect(found).to_contain_text("MatMul_0")
    canvas.focus()
    book.page.keyboard.press("ArrowRight")
    expect(book.output(1)).to_contain_text("/model/encoder/layer.")
    pages.picture(book.page, "flame-lab")
