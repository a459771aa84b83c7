"""What once answered wrongly, in a real JupyterLab: by mouse, and by keyboard alone."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from playwright.sync_api import Locator, Page, expect

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import MODES, TABS, Keys, button, compared, knob, tab, turned, until
from tests.browser.test_panels import START
from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.drawing.verdict_picture import ABSENT

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

HAS_GPU = Path("/dev/nvidia0").exists()
OPENED = """import workbench as wb
opened = wb.open({file!r})
opened.keep()
bench = wb.Workbench()
bench.show(opened)
bench"""
# Writes what an improvement is asked for, and returns one that was made by hand.
ASKED = """import workbench as wb
import workbench.features.improve.result as calling
def improve(model, config, *, limits=None, without=(), **_):
    with open({asked!r}, "w") as file:
        print(limits and limits.max_accuracy_drop, [*without], file=file)
    return wb.open({improvement!r})
calling.improve = improve
bench = wb.Workbench("digits-conv")
bench"""
# All words of a page, also in tooltips and for screen readers; numbers in tables have their interval beside.
WORDS = """() => [...document.querySelectorAll('body *:not(script, style, td)')].flatMap((place) => [
  place.ariaLabel, place.title, ...[...place.childNodes].map((node) => node.nodeType === 3 && node.data),
]).filter(Boolean).join('\\n')"""
FOCUS = "document.activeElement"
IS_BEFORE = "(place, other) => Boolean(place.compareDocumentPosition(other) & 4)"
HEAD, ANSWER = ".wbp-answer .v-head", ".wbp-verdict[data-kind]"


class Mouse:
    """A person with a mouse."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def reach(self, place: Locator) -> None:
        place.focus()  # as the click that opens a list does

    def press(self, place: Locator) -> None:
        place.click()

    def choose(self, place: Locator, words: str) -> None:
        """Choose the entry of a list that begins with these words."""
        self.reach(place)
        place.select_option(place.locator(f"option[value^='{words}']").first.get_attribute("value"))

    def turn(self, name: str) -> None:
        tab(self.page, name)


class Keyboard:
    """A person without a mouse, who begins at the model: Tab, Shift+Tab, arrows, letters and Enter."""

    def __init__(self, page: Page) -> None:
        self.page, self.keys = page, Keys(page)
        page.get_by_label("model", exact=True).focus()
        self.at = page.evaluate_handle(FOCUS)  # or was, if a button that was pressed is greyed meanwhile

    def reach(self, place: Locator) -> None:
        self.keys.reach(place, self._way(place))
        self.at = self.page.evaluate_handle(FOCUS)

    def press(self, place: Locator) -> None:
        expect(place).to_be_enabled()
        self.reach(place)
        self.page.keyboard.press("Enter")

    def choose(self, place: Locator, words: str) -> None:
        self.reach(place)
        self.page.keyboard.type(words)

    def turn(self, name: str) -> None:
        switch = ".wbp-modes button" if name in MODES else ".wbp-tabs [role=tab]"
        self.keys.turn(name, self._way(self.page.locator(switch).first))
        self.at = self.page.evaluate_handle(FOCUS)

    def _way(self, place: Locator) -> str:
        return "Tab" if self.at.evaluate(IS_BEFORE, place.element_handle()) else "Shift+Tab"


Hands: TypeAlias = type[Mouse] | type[Keyboard]
BY = pytest.mark.parametrize("by", [Mouse, Keyboard])


def with_model(page: Page, name: str = "digits-conv") -> Page:
    expect(page.locator(".wbp-headline")).to_contain_text(name)
    return page


def shown(show: Show, lab: Lab, record: ComparisonRecord) -> Page:
    """Show a comparison that was made by hand; it is in the history, too."""
    file = wb.Comparison(record).save(lab.folder / f"{record.id}.ortbench")
    page = show(OPENED.format(file=str(file))).page
    expect(page.locator(ANSWER)).to_be_visible()
    return page


@pytest.mark.parametrize(
    ("by", "provider", "name"),
    [
        pytest.param(Mouse, "cuda", "CUDA", marks=pytest.mark.skipif(HAS_GPU, reason="CUDA runs here")),
        (Keyboard, "qnn", "QNN"),
    ],
)
def test_a_provider_that_never_ran_gets_no_verdict(
    show: Show, pages: Pages, by: Hands, provider: str, name: str
) -> None:
    page = with_model(show(START.format(budget=1.0)).page)
    hands, providers = by(page), knob(page, "providers")
    hands.reach(providers)  # the list says what does not work here, and why
    expect(providers.locator(f"optgroup option[value={provider}]")).to_contain_text(f"{provider}: ")
    hands.choose(providers, provider)
    expect(page.locator(".wbp-difference")).to_contain_text(provider)
    hands.press(button(page, "Compare"))
    expect(page.locator(HEAD)).to_have_text(f"B did not run on {name}")
    expect(page.locator(HEAD)).to_have_class(re.compile("v-error"))
    words = page.locator(ANSWER)
    expect(words).to_contain_text("Nothing was measured, since all")
    expect(words).to_contain_text("Fix: ")
    assert not re.search(r"\btie\b|settled|faster|slower", words.inner_text())
    assert {*page.locator(".wbp-answer .v-value").all_inner_texts()} == {ABSENT}
    pages.picture(page, f"never-ran-{provider}")
    hands.turn("What ORT did")
    expect(page.locator(".wbp-folded .wbp-answer-line")).to_contain_text(f"B did not run on {name}")


@pytest.mark.parametrize(("by", "limit_first"), [(Mouse, False), (Mouse, True), (Keyboard, False)])
def test_the_space_of_improve_follows_the_limits_in_any_order_of_clicks(
    show: Show, lab: Lab, tmp_path: Path, by: Hands, limit_first: bool
) -> None:
    improvement = wb.Improvement(examples.improvement(), examples.about())
    path, asked = improvement.save(lab.folder / "improved.ortbench"), tmp_path / "asked"
    page = with_model(show(ASKED.format(asked=str(asked), improvement=str(path))).page)
    hands, row = by(page), page.locator(".wbp-improve-row")
    hands.turn("Improve")
    if limit_first:
        hands.choose(row.locator("select").first, "2 % accuracy")
    hands.press(button(page, "+ limit: memory, p99, file…"))
    hands.press(button(page, "What may vary"))
    expect(page.locator(".wbp-configs input[type=checkbox]:visible").first).to_be_checked()
    if not limit_first:
        hands.choose(row.locator("select").first, "2 % accuracy")
        expect(page.locator(".wbp-configs input[type=checkbox]:visible")).to_have_count(0)  # of another limit
    hands.press(row.get_by_role("button", name="Improve", exact=True))
    assert until(page, lambda: asked.exists() and asked.read_text()).split() == ["0.02", "[]"]
    hands.press(page.locator(".wbp-tried").get_by_role("button", name="Copy code").first)
    expect(page.locator(".wbp-note", has_text="Copied")).to_be_visible()
    copied: str = page.evaluate("navigator.clipboard.readText()")
    assert "limits=wb.Goal(max_accuracy_drop=0.02)" in copied
    assert "without" not in copied


@pytest.mark.parametrize(
    ("ratio", "low", "high", "words"),
    [(1.74, 1.065, 2.84, "at least 1.07× faster"), (3.04, 2.2, 4.3, "about 3× faster")],
)
def test_digits_follow_the_interval_everywhere(
    show: Show, lab: Lab, pages: Pages, tmp_path: Path, ratio: float, low: float, high: float, words: str
) -> None:
    record = replace(comparison(drawn_run("A", 0.002), drawn_run("B", 0.0011)), id=f"wide-{low:.0f}")
    verdict = replace(record.verdict, ratio=ratio, low=low, high=high)
    record = replace(record, verdicts=(verdict,))
    page = shown(show, lab, record)
    head = words[0].upper() + words[1:]
    expect(page.locator(HEAD)).to_have_text(head)
    for name in TABS:
        tab(page, name)
        assert str(ratio) not in page.evaluate(WORDS), name
    expect(page.locator(".wbp-page:visible")).to_contain_text(words.removesuffix(" faster"))
    exported = pages.open(wb.Comparison(record).export_html(tmp_path / "wide.html").as_uri())
    expect(exported.locator("header .v-head").first).to_have_text(head)
    assert str(ratio) not in exported.evaluate(WORDS)


@BY
def test_open_in_the_history_brings_model_configs_and_answer_together(show: Show, by: Hands) -> None:
    """From an open model to an answer, to another view, to another model, and back to the first answer."""
    page = with_model(show(START.format(budget=1.0)).page)
    hands, level = by(page), knob(page, "level")
    hands.choose(level, "basic")
    expect(page.locator(".wbp-difference")).to_contain_text("level (basic")
    hands.press(button(page, "Compare"))
    compared(page)
    answer = page.locator(HEAD).inner_text()
    hands.turn("Memory and start")
    hands.choose(page.get_by_label("model", exact=True), "char-gpt")
    with_model(page, "char-gpt")
    expect(page.locator(ANSWER)).to_have_count(0)
    expect(page.locator(".wbp-why")).to_contain_text("last: digits-conv")
    hands.choose(level, "default")
    expect(page.locator(".wbp-difference")).not_to_contain_text("level (basic")
    hands.turn("Results")
    hands.press(page.locator(".wbp-page:visible .wbt-act").first)
    with_model(page)
    expect(page.locator(HEAD)).to_have_text(answer)
    expect(level).to_have_value("basic")
    turned(page, "Memory and start")
    expect(page.locator(".wbp-why")).not_to_contain_text("last: ")
