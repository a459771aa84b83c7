"""The panels in a page: buttons, tabs, the workers behind them, keys."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import psutil
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.harness.chromium import PATIENCE_MS
from tests.conftest import is_worker

T = TypeVar("T")

TABS = ("Timing", "Where time goes", "What ORT did", "Outputs", "Memory and start")
MODES = ("Improve", "Explore", "Results")  # pages of their own
SECTIONS = (
    "graph", "passes", "providers", "threads", "precision", "memory", "inputs", "advanced", "measuring",
)  # fmt: skip
MENU = "more results"  # of everything that has no button of its own
VERDICTS = re.compile("faster|slower|tie|Not settled yet|failed|did not run|Outputs differ")
MOST_TABS = 300  # keys until a place is reached; far more than there are places
# What an attempt in a name would leave in the page if it were taken for markup, in HTML or in SVG.
TAKEN = "img[src='x'], [onerror], a[href^='javascript'], [*|href^='javascript'], svg a"
CARDS, PILLS = ".wbp-page:visible .wbp-card", ".wbp-page:visible .wbp-pills button:visible"
DRAWN = "canvas, .main-svg, .plot-img, table, .wbp-fusion, .wbp-note, .wbp-error"  # one of these is in a card
DRAWING = "drawing…"
# Presses a pill by its name, if it is there and another one is chosen; cards that come after it have no mark.
PRESS = """(name) => {
  const pills = [...document.querySelectorAll('.wbp-page .wbp-pills button')];
  const pill = pills.find((place) => place.textContent === name && place.checkVisibility());
  if (!pill || pill.classList.contains('mod-active')) return false;
  document.querySelectorAll('.wbp-card').forEach((card) => card.toggleAttribute('data-before', true));
  pill.click();
  return true;
}"""


def button(page: Page, name: str) -> Locator:
    found = page.locator(".wbp").get_by_role("button", name=name, exact=True)
    return found.first if name == "Cancel" else found  # the banner of what runs has one, too


def knob(page: Page, name: str, label: str = "B") -> Locator:
    """Return the control of a knob of the config with this label."""
    return page.locator(".wbk").get_by_label(f"{name}, {label}", exact=True)


def menu_item(page: Page, name: str) -> Locator:
    """Return an item of the menu of further results, which may be closed."""
    return page.locator(".wbm-list button", has_text=re.compile(f"^{re.escape(name)}$"))


def make(page: Page, name: str) -> None:
    """Choose a result in the menu below Compare."""
    button(page, MENU).click()
    menu_item(page, name).click()


def tab(page: Page, name: str) -> None:
    page.locator(".wbp-tabs").get_by_role("tab", name=name, exact=True).click()
    turned(page, name)


def turned(page: Page, name: str) -> None:
    """Wait until the kernel has filled this tab."""
    expect(page.locator(".wbp-tabs [role=tab][aria-selected=true]")).to_have_text(name)
    filled = page.locator(".wbp-page:visible").locator(".wbp-card, .wbp-empty, .wbp-forms, .wbt")
    expect(filled.first).to_be_visible()


def drawn(page: Page, cards: str = CARDS) -> None:
    """Wait until one of these cards shows what it holds."""
    filled = page.locator(cards).filter(has=page.locator(DRAWN)).filter(has_not_text=DRAWING)
    expect(filled.first).to_be_visible()


def each_card(page: Page) -> Iterator[str]:
    """Press the pills of the tab that is shown; yield each when its card is drawn, first the chosen one."""
    if not page.locator(CARDS).count():
        return
    drawn(page)
    yield "as it opens"
    for name in page.locator(PILLS).all_text_contents():
        if page.evaluate(PRESS, name):
            drawn(page, f"{CARDS}:not([data-before])")
            yield name


def compared(page: Page) -> None:
    """Wait until the verdict is shown and nothing runs."""
    expect(page.locator(".wbp-verdict[data-kind]")).to_contain_text(VERDICTS)
    expect(page.locator(".wbp-progress")).to_have_count(0)


def stopped(page: Page) -> None:
    """Wait until nothing runs after Cancel; a comparison of three rounds and more keeps its answer."""
    expect(page.locator(".wbp-progress")).to_have_count(0)
    expect(page.locator(".wbp-stopped, .wbp-verdict[data-kind]").first).to_be_visible()


def workers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if is_worker(child)]


def until(page: Page, condition: Callable[[], T], what: str = "") -> T:
    """Wait for what Playwright cannot wait for, such as a condition outside of the page; return its value."""
    latest = time.monotonic() + PATIENCE_MS / 1e3
    while not (value := condition()):
        assert time.monotonic() < latest, f"it never came true {what}"
        page.wait_for_timeout(20)
    return value


class Keys:
    """A person without a mouse."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def reach(self, place: Locator, key: str = "Tab") -> None:
        """Move the focus to a place with Tab alone; backwards with "Shift+Tab"."""
        for _ in range(MOST_TABS):
            if place.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press(key)
        pytest.fail(f"{key} never reaches {place}")

    def press(self, name: str, key: str = "Tab") -> None:
        """Press the button with this name."""
        place = button(self.page, name)
        expect(place).to_be_enabled()
        self.reach(place, key)
        self.page.keyboard.press("Enter")

    def make(self, name: str, key: str = "Tab") -> None:
        """Choose a result in the menu below Compare."""
        self.press(MENU, key)
        self.reach(menu_item(self.page, name), "ArrowDown")
        self.page.keyboard.press("Enter")

    def turn(self, name: str) -> None:
        """Turn to a tab of the results; the focus must be on one of the tabs, or before them."""
        tabs = self.page.locator(".wbp-tabs").get_by_role("tab")
        if not tabs.evaluate_all("all => all.includes(document.activeElement)"):
            self.reach(self.page.locator(".wbp-tabs [role=tab][tabindex='0']"))
        wanted = tabs.get_by_text(name, exact=True)
        for _ in TABS:
            if wanted.evaluate("e => e.closest('[role=tab]') === document.activeElement"):
                break
            self.page.keyboard.press("ArrowRight")
        self.page.keyboard.press("Enter")
        turned(self.page, name)
