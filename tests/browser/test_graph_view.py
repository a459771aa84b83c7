"""The graph view in a real browser: in an exported page without a network, and in the real JupyterLab."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import tests
from benchmarks import views
from benchmarks.graphs import explained
from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.chromium import Pages
from tests.factories.graphs import empty, fused, hostile
from workbench.drawing.canvas.base import View, javascript
from workbench.drawing.canvas.standalone import fragment, scripts
from workbench.features.explain.graph_view import graph_view

pytestmark = [pytest.mark.browser, pytest.mark.slow]

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
REPOSITORY = Path(tests.__file__).parent.parent
MADE = f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
import ipywidgets as W
from benchmarks import views
from benchmarks.graphs import explained
from workbench.features.explain.graph_view import graph_view
view = graph_view(explained(60, on_cpu=("Softmax",)), times_s={{"/model/pooler/Tanh": 1e-3}})
view
"""
TOLD = """
told, sent, ask, choose = W.Label(), W.Label(), W.Button(description="ask"), W.Button(description="choose")
view.observe(lambda change: setattr(told, "value", f"{view.side} {view.selected}"), names="selected")
view.observe(lambda change: setattr(sent, "value", repr(view.picture[1:4])), names="picture")
ask.on_click(lambda _: view.ask_picture())
choose.on_click(lambda _: setattr(view, "selected", ("/model/pooler/Tanh",)))
W.VBox([told, sent, ask, choose])
"""


def exported(folder: Path, *views: View) -> str:
    body = "".join(fragment(view, linked="one") for view in views) + scripts(views)
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    path = folder / "page.html"
    page = f"<!doctype html><html lang=en><head>{head}<title>views</title></head><body><main>{body}</main>"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


# The events that a view of the page hears while it is shown, and those that it hears after its end.
HEARD = """() => {
  const [state, columns] = [...document.querySelectorAll('.wbv-place script')].map((one) => one.textContent);
  const told = JSON.parse(state), heard = [];
  told.columns = new DataView(Uint8Array.from(atob(columns), (c) => c.charCodeAt(0)).buffer);
  const model = {
    get: (name) => told[name], set() {}, save_changes() {}, send() {},
    on: (...pair) => heard.push(pair),
    off: (event, call) => heard.splice(heard.findIndex((pair) => pair[0] === event && pair[1] === call), 1),
  };
  const end = draw({ model, el: document.body.appendChild(document.createElement('div')) });
  const during = heard.map(([event]) => event);
  end();
  return [during, heard.map(([event]) => event)];
}"""


def heard(page: Page, name: str) -> list[list[str]]:
    draw = f"window.draw = (() => {{ {javascript(name)}\nreturn render; }})();"
    page.add_script_tag(content=f"(() => {{ {javascript('common')}\n{draw} }})();")
    events: list[list[str]] = page.evaluate(HEARD)
    return events


def painted(page: Page, number: int = 0) -> Locator:
    """The canvas, once something is drawn on it."""
    canvas = page.locator(".wbv-stage canvas").nth(number)
    expect(canvas).to_have_attribute("data-painted", "yes")
    return canvas


def details(page: Page) -> Locator:
    return page.locator(".wbv-details").first


def test_a_graph_that_is_closed_hears_nothing(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(exported(tmp_path, graph_view(explained(60))), offline=True)
    painted(page)
    during, after = heard(page, "graph")
    assert {"change:asked", "change:search"} <= set(during)
    assert after == []


def test_everything_by_keyboard_in_a_page_without_network(pages: Pages, tmp_path: Path) -> None:
    url = exported(tmp_path, graph_view(explained(60, on_cpu=("Softmax",))))
    page = pages.open(url, offline=True)
    canvas = painted(page)
    assert "49 nodes" in str(canvas.get_attribute("aria-label"))
    canvas.focus()
    page.keyboard.press("Enter")
    expect(details(page)).to_contain_text("input")
    page.keyboard.press("/")
    page.keyboard.type("layer.1/attention/softmax")
    expect(page.locator(".wbv-count")).to_have_text("1 of 2")
    expect(details(page)).to_contain_text("/model/encoder/layer.1/attention/Softmax")
    expect(details(page)).to_contain_text("optimized, linked")
    page.keyboard.press("Enter")
    expect(page.locator(".wbv-count")).to_have_text("2 of 2")
    expect(details(page)).to_contain_text("source, linked")
    pages.picture(page, "graph-view-search")
    canvas.focus()
    for key in ("ArrowDown", "ArrowRight", "Shift+ArrowDown", "+", "-", "0"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    expect(details(page)).to_contain_text("Click a box")
    assert pages.thrown == []


def test_boxes_open_and_close_on_both_sides(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(exported(tmp_path, graph_view(explained(600))), offline=True)
    canvas, live = painted(page), page.locator(".wbv-live")
    page.get_by_label("Search names").fill("layer.3/output/MatMul")
    expect(details(page)).to_contain_text("layer.3/output/MatMul")
    canvas.focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    for _ in range(40):  # down to a box
        if "(" in live.inner_text():
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(live).to_contain_text("closed" if "opened" not in live.inner_text() else "opened")
    page.get_by_role("button", name="Open every closed box").click()
    page.get_by_role("button", name="Close the innermost").click()
    page.get_by_label("Boxes are coloured").or_(page.locator("select").first).select_option("op")
    expect(page.locator(".wbv-legend")).to_contain_text("LayerNormalization")
    pages.picture(page, "graph-view-ops")
    assert pages.thrown == []


def test_the_search_finds_op_types_first_and_counts_them(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(exported(tmp_path, graph_view(explained(60))), offline=True)
    painted(page)
    search, types = page.get_by_label("Search names"), page.locator(".wbv-hits")
    search.fill("add")
    expect(details(page)).to_contain_text("op typeAdd")
    search.fill("attention")
    expect(page.locator(".wbv-count")).to_have_text("1 of 64")
    expect(types).to_contain_text("MatMul 24")
    types.get_by_role("button", name="Softmax").click()
    expect(search).to_have_value("op:Softmax")
    expect(page.locator(".wbv-count")).to_have_text("1 of 4")
    search.fill("op:nothing")
    expect(page.locator(".wbv-count")).to_have_text("not found")
    assert pages.thrown == []


def test_the_view_expands_to_the_window_and_back(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(exported(tmp_path, graph_view(explained(300))), offline=True)
    painted(page)
    root = page.locator(".wbv")
    before = root.bounding_box()
    page.get_by_role("button", name="Fill the window").click()
    assert root.bounding_box() == {"x": 0, "y": 0, "width": 1400, "height": 1000}
    expect(page.get_by_role("button", name="Fill the screen")).to_be_visible()
    pages.picture(page, "graph-view-expanded")
    page.keyboard.press("Escape")
    assert root.bounding_box() == before
    assert pages.thrown == []


def test_a_finding_marks_its_nodes(pages: Pages, tmp_path: Path) -> None:
    view = graph_view(fused())
    view.badges = {"/a/Gemm": "<b>slow</b> here"}
    page = pages.open(exported(tmp_path, view), offline=True)
    painted(page)
    expect(page.locator(".wbv-legend")).to_contain_text("a finding is about it")
    page.get_by_label("Search names").fill("Gemm")
    expect(details(page)).to_contain_text("<b>slow</b> here")
    assert pages.thrown == []


STAGES = """
const stages = [];
const listen = Stage.prototype.listen;
Stage.prototype.listen = function () { stages.push(this); listen.call(this); };
"""


def with_stages(folder: Path, view: View) -> str:
    """Export a page whose `stages` are those of its graphs."""
    url = exported(folder, view)
    path = folder / "page.html"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("const views = ", f"{STAGES} window.stages = stages;\nconst views = ", 1), "utf-8"
    )
    return url


IN_SIGHT = """() => stages.map((stage) => {
  const all = stage.asked.bounds(), seen = stage.window();
  const wide = all.x >= seen.x && all.x + all.w <= seen.x + seen.w;
  return wide && all.y >= seen.y && all.y + all.h <= seen.y + seen.h;
})"""


def test_fit_shows_the_whole_graph_also_with_levels_open(pages: Pages, tmp_path: Path) -> None:
    url = with_stages(tmp_path, graph_view(explained(600)))
    page = pages.open(url, offline=True)
    canvas = painted(page)
    for _ in range(2):
        page.get_by_role("button", name="Open every closed box").click()
    assert page.evaluate(IN_SIGHT) == [False, False]  # letters stay readable until everything is asked for
    page.get_by_role("button", name="Show the whole graph").click()
    assert page.evaluate(IN_SIGHT) == [True, True]
    pages.picture(page, "graph-view-fit")
    page.get_by_role("button", name="Open every closed box").click()
    canvas.focus()
    page.keyboard.press("0")
    assert page.evaluate(IN_SIGHT)[0]
    assert pages.thrown == []


def test_a_click_selects_and_a_double_click_opens(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(exported(tmp_path, graph_view(fused())), offline=True)
    canvas = painted(page, 1)
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    found = page.locator(".wbv-tip:visible")
    for step in range(0, int(box["height"] / 2), 12):
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + step)
        if found.count() and "Gemm" in found.inner_text():
            page.mouse.down()
            page.mouse.up()
            break
    expect(details(page)).to_contain_text("/a/Gemm")
    expect(details(page)).to_contain_text("2 nodes: /a/MatMul, /a/Add")
    expect(details(page)).to_contain_text("BiasReluFusion")
    pages.picture(page, "graph-view-linked")
    assert pages.thrown == []


def test_names_of_strangers_are_texts(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(exported(tmp_path, graph_view(hostile())), offline=True)
    canvas = painted(page)
    canvas.focus()
    page.get_by_label("Search names").fill("onerror")
    expect(details(page)).to_contain_text("<img src=x onerror=window.hacked=1>")
    expect(details(page)).to_contain_text("\\u{202e}")
    page.locator("select").first.select_option("op")
    expect(page.locator(".wbv-legend")).to_contain_text("<img src=x")
    pages.picture(page, "graph-view-hostile")
    assert page.evaluate("window.hacked === undefined && document.images.length === 0")
    assert pages.thrown == []


def test_the_picture_can_be_downloaded(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(exported(tmp_path, graph_view(fused())), offline=True)
    painted(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download this picture").click()
    assert download.value.suggested_filename == "made.png"
    data = Path(download.value.path()).read_bytes()
    assert data.startswith(b"\x89PNG")
    (pages.screenshots / "graph-view-download.png").write_bytes(data)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_reads_well(pages: Pages, tmp_path: Path, theme: str) -> None:
    view = graph_view(
        explained(300, on_cpu=("Softmax",)),
        times_s={f"/model/encoder/layer.{n}/output/MatMul": n * 1e-4 for n in range(12)},
    )
    page = pages.open(exported(tmp_path, view), theme="dark" if theme == "dark" else "light", offline=True)
    painted(page)
    page.locator("select").nth(0).select_option("provider")
    page.locator("select").nth(1).select_option("partitions")
    pages.picture(page, f"graph-view-partitions-{theme}")
    page.locator("select").nth(1).select_option("modules")
    page.locator("select").nth(0).select_option("time")
    expect(page.locator(".wbv-legend")).to_contain_text("ms")
    pages.picture(page, f"graph-view-time-{theme}")
    assert faults(page, "main") == []
    assert pages.thrown == []


def test_a_narrow_output_is_enough(pages: Pages, tmp_path: Path) -> None:
    url = exported(tmp_path, graph_view(explained(300)))
    page = pages.open(url, width=360, height=1400, offline=True)
    painted(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    pages.picture(page, "graph-view-narrow")
    assert pages.thrown == []


def test_nothing_is_shown_as_nothing(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(exported(tmp_path, graph_view(empty())), offline=True)
    painted(page)
    expect(details(page)).to_contain_text("There is nothing to show")
    pages.picture(page, "graph-view-empty")
    assert pages.thrown == []


def test_views_of_a_page_share_their_selection(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(exported(tmp_path, graph_view(fused()), graph_view(fused())), offline=True)
    painted(page, 3)
    page.get_by_label("Search names").first.fill("softmax")
    expect(page.locator(".wbv-details").nth(1)).to_contain_text("/a/Softmax")
    assert pages.thrown == []


@pytest.mark.parametrize("theme", [pytest.param("light", marks=pytest.mark.release), "dark"])
def test_python_and_the_browser_share_the_selection(show: Show, pages: Pages, theme: str) -> None:
    book = show(MADE, TOLD, theme=theme, height=1500)
    page = book.page
    canvas, told, sent = (
        painted(page),
        book.output(1).locator(".widget-label").nth(0),
        book.output(1).locator(".widget-label").nth(1),
    )
    canvas.focus()
    page.keyboard.press("/")
    page.keyboard.type("layer.1/attention/Softmax")
    expect(told).to_have_text("0 ('/model/encoder/layer.1/attention/Softmax',)")
    canvas.focus()
    page.keyboard.press("0")
    page.keyboard.press("0")  # which would restart the kernel
    book.output(1).get_by_role("button", name="choose").click()
    expect(details(page)).to_contain_text("/model/pooler/Tanh")
    book.output(1).get_by_role("button", name="ask").click()
    expect(sent).to_have_text("b'PNG'")
    canvas.scroll_into_view_if_needed()
    pages.picture(page, f"graph-view-lab-{theme}")
    assert faults(page, ".wbv") == []


def test_the_benchmark_measures_a_small_view(browser: Browser, tmp_path: Path) -> None:
    name, make = views.PARTS["graph"](200)
    row = views.measure(name, make, tmp_path, browser)
    assert row["view"].startswith("graph, ")
    assert row["first_paint_s"] > 0
    assert row["pan_frames_per_s"] > 0


SAME_TOP = """() => {
  const tops = stages.map((stage) => stage.ty + stage.asked.bounds().y * stage.ky);
  return tops.length === 2 && stages.every((stage) => !stage.fresh) && Math.abs(tops[0] - tops[1]) < 1;
}"""


def test_two_graphs_side_by_side_begin_at_one_height(pages: Pages, tmp_path: Path) -> None:
    url = with_stages(tmp_path, graph_view(explained(60)))
    page = pages.open(url, offline=True)
    painted(page)
    page.wait_for_function(SAME_TOP)
    page.get_by_role("button", name="Show the whole graph").click()
    page.wait_for_function(SAME_TOP)
    assert pages.thrown == []


ONE_SCALE = """() => {
  const [first, second] = stages.map((stage) => ({scale: stage.kx, ...stage.asked.bounds()}));
  const whole = stages.every((stage) => !stage.fresh && stage.width > 1);
  return whole && first.scale === second.scale && first.w === second.w;
}"""


@pytest.mark.parametrize("width", [590, pytest.param(1440, marks=pytest.mark.release)])
def test_boxes_of_both_graphs_have_one_size(pages: Pages, tmp_path: Path, width: int) -> None:
    url = with_stages(tmp_path, graph_view(explained(12_000)))
    page = pages.open(url, width=width, offline=True)
    painted(page, 1)
    page.wait_for_function(ONE_SCALE)
    page.get_by_role("button", name="Fill the window").click()
    page.wait_for_function(ONE_SCALE)
    page.wait_for_function("() => stages[0].height > 600")
    page.wait_for_function(ONE_SCALE)
    pages.picture(page, f"graph-view-one-scale-{width}")
    assert pages.thrown == []


# How many pixels of each canvas are of a dark shade of what numbers are coloured with.
DARK = """() => [...document.querySelectorAll('.wbv-stage canvas')].map((canvas) => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let dark = 0;
  for (let i = 0; i < data.length; i += 4) dark += data[i] - data[i + 1] > 40;
  return dark;
})"""


def test_times_of_both_graphs_are_coloured_by_one_scale(pages: Pages, tmp_path: Path) -> None:
    record = explained(60)
    slow, fast = ({node.key: time_s for node in record.optimized.nodes} for time_s in (1e-3, 1e-6))
    view = graph_view(record, record, times_s=slow, after_times_s=fast, color="time")
    page = pages.open(exported(tmp_path, view), offline=True)
    painted(page, 1)
    page.wait_for_function(f"() => ({DARK})()[0] > 1000")
    assert page.evaluate(DARK)[1] == 0, "a thousandth of the time is not as dark"
    assert pages.thrown == []
