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
from workbench.apps.panels.tabs import results
from workbench.apps.panels.tabs.views import EXPLORE

T = TypeVar("T")

VIEWS = ("Timing", "Where time goes", "What ORT did", "Outputs", "Memory and start")
MODES = ("Improve", "Explore", "Results")  # beside Compare, in which the views stand
TABS = (*VIEWS, *MODES)
CHIEF = ("level", "precision", "providers", "intra-op threads")  # in the line of each config
STOP = "Stop here"
VERDICTS = re.compile("faster|slower|tie|Not settled yet|failed|did not run|Outputs differ")
MOST_CONTROLS, VIEW_TOP = 45, 250  # in view of Compare; pixels of a view without scrolling, at 1440 × 900
# The names of the controls of the panels that the screen shows.
IN_VIEW = """() => [...document.querySelectorAll(
    '.wbp :is(button, input, select, textarea, a[href], summary, [role=tab], [tabindex="0"])')]
  .filter((place) => {
    const box = place.getBoundingClientRect();
    const seen = place.checkVisibility({visibilityProperty: true}) && box.width > 1 && box.top < innerHeight;
    return seen && !place.disabled;
  }).map((place) => (place.ariaLabel || place.textContent || place.title).trim().slice(0, 40))"""
MOST_TABS = 300  # keys until a place is reached; far more than there are places
# What an attempt in a name would leave in the page if it were taken for markup, in HTML or in SVG.
TAKEN = "img[src='x'], [onerror], a[href^='javascript'], [*|href^='javascript'], svg a"
CARDS, PILLS = ".wbp-page:visible .wbp-card", ".wbp-page:visible .wbp-pills button:visible"
LISTED = ".wbp-page:visible .wbp-more option:not(:first-child)"  # figures beyond the pills
FORMS = ".wbp-page:visible .wbp-forms"  # of a pill whose result is not made yet
DRAWN = "canvas, .main-svg, .plot-img, table, .wbp-fusion, .wbp-note, .wbp-error"  # one of these is in a card
FILLED = ".wbp-card, .wbp-empty, .wbt, .wbp-forms, .wbp-findings"
DRAWING = "drawing…"
# Marks the pages of the mode that is left; the kernel puts others in their place, which have no mark.
LEAVE = "() => document.querySelectorAll('.wbp-page').forEach((it) => it.toggleAttribute('data-left', true))"
# Chooses a figure by its name, a pill or an entry of the list, if it is there and another one is chosen; what
# comes after it has no mark.
PRESS = """(name) => {
  const pills = [...document.querySelectorAll('.wbp-page .wbp-pills button')];
  const pill = pills.find((place) => place.textContent === name && place.checkVisibility());
  const lists = [...document.querySelectorAll('.wbp-page .wbp-more select')];
  const list = lists.find((place) => place.checkVisibility());
  const entry = list && [...list.options].find((option) => option.text === name);
  if (pill ? pill.classList.contains('mod-active') : !entry || entry.selected) return false;
  document.querySelectorAll('.wbp-card, .wbp-forms').forEach((it) => it.toggleAttribute('data-before', true));
  if (pill) pill.click();
  else { list.value = entry.value; list.dispatchEvent(new Event('change', {bubbles: true})); }
  return true;
}"""


def button(page: Page, name: str) -> Locator:
    """Return the button with this name; a mode is no button here."""
    found = page.locator(".wbp").get_by_role("button", name=name, exact=True)
    return found.and_(page.locator(":not(.wbp-modes *)"))


def knob(page: Page, name: str, label: str = "B") -> Locator:
    """Return the control of a knob of the config with this label; open all settings where it is there."""
    if name not in CHIEF:
        all_settings(page)
    place = ".wbk-lines" if name in CHIEF else ".wbk-drawer"
    return page.locator(place).get_by_label(f"{name}, {label}" if label else name, exact=True)


def all_settings(page: Page) -> None:
    """Open the drawer of all settings, if it is closed."""
    if not page.locator(".wbk-drawer").is_visible():
        button(page, "all settings").click()


def change(page: Page, name: str, value: str) -> None:
    """Change a knob, an option or the whole of B by the palette."""
    button(page, "+ change… in B").click()
    page.keyboard.type(name)
    found = page.locator(".wbk-list [role=option]").filter(has_text=name).first
    expect(found).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    if value:
        expect(page.get_by_role("combobox", name=re.compile(" of B$"))).to_be_focused()
        page.keyboard.type(value)
        page.keyboard.press("Enter")
    expect(page.locator(".wbk-palette")).to_be_hidden()


def share(page: Page, name: str) -> None:
    """Choose an item of the menu Share."""
    button(page, "share").click()
    page.locator(".wbm-list button", has_text=re.compile(f"^{re.escape(name)}$")).click()


def place_of(name: str) -> tuple[str, str, str]:
    """Return where a result is made: the titles of its view and of its figure, the name of its button."""
    offered = [(tab, offer) for tab in (*results.VIEWS, EXPLORE) for offer in tab.offers]
    tab, offer = next((tab, offer) for tab, offer in offered if offer.button == name)
    return tab.title, offer.title, offer.button


def maker(page: Page, name: str) -> Locator:
    """Return the button that makes a result, where its view offers it."""
    view, figure, pressed = place_of(name)
    tab(page, view)
    page.evaluate(PRESS, figure)
    named = re.compile(f"^{re.escape(pressed)}|^Again$")
    return page.locator(".wbp-page:visible").get_by_role("button", name=named).first


def make(page: Page, name: str) -> None:
    """Make a result where its view offers it."""
    maker(page, name).click()


def tab(page: Page, name: str) -> None:
    """Turn to a view, or to a mode."""
    wanted = name if name in MODES else "Compare"
    switch = page.locator(".wbp-modes button", has_text=wanted)
    if "mod-active" not in (switch.get_attribute("class") or ""):
        page.evaluate(LEAVE)
        switch.click()
    if name in VIEWS:
        page.locator(".wbp-tabs").get_by_role("tab", name=titled(name)).click()
    turned(page, name)


def titled(name: str) -> re.Pattern[str]:
    """Return what fits the title of a view, also with the mark of something new."""
    return re.compile(f"^{name}( •)?$")


def turned(page: Page, name: str) -> None:
    """Wait until the kernel has filled this view, or this mode."""
    chosen = ".wbp-modes .mod-active" if name in MODES else ".wbp-tabs [role=tab][aria-selected=true]"
    expect(page.locator(chosen)).to_have_text(name)
    filled = page.locator(".wbp-page:visible:not([data-left])").locator(FILLED)
    expect(filled.first).to_be_visible()


def drawn(page: Page, cards: str = CARDS) -> None:
    """Wait until one of these cards shows what it holds."""
    filled = page.locator(cards).filter(has=page.locator(DRAWN)).filter(has_not_text=DRAWING)
    expect(filled.first).to_be_visible()


def each_card(page: Page) -> Iterator[str]:
    """Press the pills of the tab that is shown; yield each when its card is drawn, first the chosen one.

    A pill whose result is not made yet shows the button that makes it.
    """
    if page.locator(CARDS).count():
        drawn(page)
    yield "as it opens"
    for name in page.locator(f"{PILLS}, {LISTED}").all_text_contents():
        if page.evaluate(PRESS, name):
            new = page.locator(f"{CARDS}:not([data-before]), {FORMS}:not([data-before])")
            expect(new.first).to_be_visible()
            if page.locator(CARDS).count():
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

    def share(self, name: str) -> None:
        """Choose an item of the menu Share."""
        self.press("share", "Shift+Tab")
        self.reach(self.page.locator(".wbm-list").get_by_role("menuitem", name=name, exact=True), "ArrowDown")
        self.page.keyboard.press("Enter")

    def make(self, name: str, key: str = "Tab") -> None:
        """Make a result where its view offers it."""
        view, figure, pressed = place_of(name)
        self.turn(view, key)
        pill = self.page.locator(PILLS).get_by_text(figure, exact=True)
        if pill.count() and "mod-active" not in (pill.get_attribute("class") or ""):
            self.reach(pill)
            self.page.keyboard.press("Enter")
        elif self.page.locator(LISTED, has_text=figure).count():
            self.reach(self.page.locator(".wbp-page:visible .wbp-more select"))
            self.page.keyboard.type(figure)
        named = re.compile(f"^{re.escape(pressed)}|^Again$")  # what is quick is made by itself
        place = self.page.locator(".wbp-page:visible").get_by_role("button", name=named).first
        expect(self.page.locator(".wbp-progress")).to_have_count(0)
        expect(place).to_be_enabled()
        self.reach(place)
        self.page.keyboard.press("Enter")

    def turn(self, name: str, key: str = "Shift+Tab") -> None:
        """Turn to a view or a mode; a key that leads to the switches from where the focus is."""
        mode = self.page.locator(".wbp-modes button", has_text=name if name in MODES else "Compare")
        if "mod-active" not in (mode.get_attribute("class") or ""):
            self.reach(mode, key)
            self.page.keyboard.press("Enter")
            key = "Tab"
        if name in VIEWS:
            tabs = self.page.locator(".wbp-tabs").get_by_role("tab")
            if not tabs.evaluate_all("all => all.includes(document.activeElement)"):
                self.reach(self.page.locator(".wbp-tabs [role=tab][tabindex='0']"), key)
            wanted = tabs.get_by_text(titled(name))
            for _ in VIEWS:
                if wanted.evaluate("e => e.closest('[role=tab]') === document.activeElement"):
                    break
                self.page.keyboard.press("ArrowRight")
            self.page.keyboard.press("Enter")
        turned(self.page, name)
