"""The common tasks of a user, each with the clicks that it may take; tests and a benchmark perform them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.harness.panels import button, compared, knob, tab, turned

START = """import workbench as wb
bench = wb.Workbench({model!r})
bench.state.budget_s = {budget_s}
bench"""
SUGGESTED = re.compile("Does int8 pay on")


@dataclass
class Clicks:
    """Counts what a person does: a click, or a choice from a list."""

    page: Page
    count: int = 0

    def click(self, place: Locator) -> None:
        self.count += 1
        place.click()

    def choose(self, place: Locator, value: str) -> None:
        self.count += 1
        place.select_option(value)

    def spent(self) -> int:
        """Return the count since the last call."""
        count, self.count = self.count, 0
        return count


@dataclass(frozen=True)
class Task:
    """What a user wants, the most clicks for it, and the way to it, which ends when the answer is shown."""

    name: str
    most: int
    perform: Callable[[Clicks], None]


def ended(page: Page, title: str) -> None:
    """Wait until the results show a card in this tab and nothing runs."""
    turned(page, title)
    expect(page.locator(".wbp-progress")).to_have_count(0)
    expect(page.locator(".wbp-page:visible .wbp-card").first).to_be_visible()
    expect(page.locator(".wbp-page:visible .wbp-error")).to_have_count(0)


def against_basic(clicks: Clicks) -> None:
    clicks.choose(knob(clicks.page, "level"), "basic")
    clicks.click(button(clicks.page, "Compare"))
    compared(clicks.page)


def why(clicks: Clicks) -> None:
    slower = clicks.page.locator(".wbp-verdict[data-kind]").get_attribute("data-kind") == "slower"
    clicks.click(button(clicks.page, "why?"))
    ended(clicks.page, "accuracy" if slower else "graph")


def where_the_time_goes(clicks: Clicks) -> None:
    clicks.click(button(clicks.page, "profile"))
    ended(clicks.page, "flame")


def fusions(clicks: Clicks) -> None:
    clicks.click(button(clicks.page, "fusions"))
    ended(clicks.page, "fusions")


def worth_of_a_pass(clicks: Clicks) -> None:
    clicks.click(button(clicks.page, "each pass"))
    ended(clicks.page, "fusions")
    chosen = clicks.page.locator(".wbp-page:visible .wbp-pills button.mod-active").first
    expect(chosen).to_have_text("ablation")


def share(clicks: Clicks) -> None:
    with clicks.page.expect_download():
        clicks.click(button(clicks.page, "share"))
    expect(clicks.page.locator(".wbp-note", has_text="Written as")).to_be_visible()


def best_thread_count(clicks: Clicks) -> None:
    clicks.click(clicks.page.locator(".wbp-tabs").get_by_role("tab", name="threads", exact=True))
    turned(clicks.page, "threads")
    clicks.click(button(clicks.page, "Scale threads").first)
    expect(_enough(clicks.page)).to_be_visible()


def apply_thread_count(clicks: Clicks) -> None:
    clicks.click(_enough(clicks.page))
    expect(clicks.page.locator(".wbp-difference")).to_contain_text("intra-op threads")


def reopen(clicks: Clicks) -> None:
    clicks.click(clicks.page.locator(".wbp-tabs").get_by_role("tab", name="history", exact=True))
    clicks.click(clicks.page.locator(".wbt-act").first)
    expect(clicks.page.locator(".wbp-note", has_text="is shown in the results")).to_be_visible()
    expect(clicks.page.locator(".wbp-verdict[data-kind]")).to_be_visible()


def int8_with_accuracy(clicks: Clicks) -> None:
    """Begin with the experiment that the panels suggest for a fresh model."""
    clicks.click(clicks.page.locator(".wbp-suggestion").get_by_role("button", name=SUGGESTED))
    compared(clicks.page)
    clicks.click(button(clicks.page, "accuracy"))
    ended(clicks.page, "accuracy")


TASKS = (  # in one notebook, in this order
    Task("all against basic", 4, against_basic),
    Task("why slower", 1, why),
    Task("where the time goes", 1, where_the_time_goes),
    Task("fusions of both", 1, fusions),
    Task("worth of a pass", 1, worth_of_a_pass),
    Task("share", 1, share),
    Task("best thread count", 2, best_thread_count),
    Task("… applied", 1, apply_thread_count),
    Task("reopen from history", 2, reopen),
)
FRESH_TASKS = (Task("int8 with accuracy", 2, int8_with_accuracy),)  # in a notebook of a model of 2 MB or more


def spent_on(page: Page, tasks: tuple[Task, ...]) -> dict[str, int]:
    """Perform tasks one after the other; return the clicks of each."""
    clicks, spent = Clicks(page), {}
    for task in tasks:
        task.perform(clicks)
        spent[task.name] = clicks.spent()
    tab(page, "latency")
    return spent


def _enough(page: Page) -> Locator:
    return page.locator(".wbp-page:visible").get_by_role("button", name=re.compile("^Use .* in B$")).first
