"""What the screen shows of the panels, in pixels, and what moves there; tests and a benchmark ask it."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.harness.panels import button, compared, tab

GRAPH_WIDTH, GRAPH_HEIGHT = 900, 400  # of the graphs' drawing area, at least, at 1440 × 900
# Places of the parts of the bench, kept from the click on; what ends elsewhere is listed.
WATCH_SHIFTS = """() => {
  const find = (name) => document.querySelector(name);
  const parts = ['.wbp-top', '.wbk-lines', '.wbp-compare', '.wbp-tabs'].map(find);
  const place = (part) => {
    const {left, top, width} = part.getBoundingClientRect();
    return [left, top, width];
  };
  const before = parts.map(place);
  window.shifts = [];
  const look = () => {
    parts.forEach((part, at) => {
      const far = Math.max(...place(part).map((now, side) => Math.abs(now - before[at][side])));
      if (far > 0.5 && window.shifts.length < 20) window.shifts.push(`${part.className}: ${far}`);
    });
    requestAnimationFrame(look);
  };
  look();
}"""
# Puts the cell with the panels at the top of the notebook, as it is after its code was run.
TO_TOP = "document.querySelector('.wbp').closest('.jp-Cell').scrollIntoView()"
# The part of the graphs that the notebook shows without scrolling; null until they are drawn.
GRAPHS = """() => {
  const stages = [...document.querySelectorAll('.wbp-page .wbv-stage')].filter((it) => it.checkVisibility());
  const places = stages.map((it) => it.getBoundingClientRect());
  const end = document.querySelector('.jp-NotebookPanel-notebook').getBoundingClientRect().bottom;
  if (!places.length) return null;
  const [left, top] = ['left', 'top'].map((side) => Math.min(...places.map((it) => it[side])));
  const [right, bottom] = ['right', 'bottom'].map((side) => Math.max(...places.map((it) => it[side])));
  return {width: right - left, height: Math.min(bottom, end) - top, left, top, right, end};
}"""


def view_in_sight(page: Page) -> float:
    """Return how many pixels of the view below its tabs the window shows without scrolling."""
    tabs, window = page.locator(".wbp-tabs .lm-TabBar").bounding_box(), page.viewport_size
    assert tabs is not None
    assert window is not None
    return window["height"] - tabs["y"] - tabs["height"]


def farthest_shift(page: Page) -> float:
    """Compare; return by how many pixels a part of the bench moved from the click to the answer."""
    page.evaluate(WATCH_SHIFTS)
    button(page, "Compare").click()
    compared(page)
    shifts: list[str] = page.evaluate("window.shifts")
    return max((float(shift.rpartition(" ")[2]) for shift in shifts), default=0.0)


def graph_area(page: Page) -> dict[str, float]:
    """Turn to the graphs; return the sides and the size of what the notebook shows of them."""
    page.evaluate(TO_TOP)
    tab(page, "What ORT did")
    area: dict[str, float] = page.wait_for_function(GRAPHS).json_value()
    return area
