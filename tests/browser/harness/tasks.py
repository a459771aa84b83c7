"""The common tasks of a user, each with the clicks that it may take; tests and a benchmark perform them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.harness.panels import CARDS, PILLS, button, compared, knob, place_of, tab, turned

START = """import workbench as wb
bench = wb.Workbench({model!r})
bench.state.budget_s, bench.state.forms = {budget_s}, {{"improvement": {{"budget_s": "20"}}}}
bench"""


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


def figure(clicks: Clicks, view: str, name: str) -> None:
    """Turn to a view, to a figure in it if that is not the first, and press the button that makes it."""
    page = clicks.page
    clicks.click(page.locator(".wbp-tabs").get_by_role("tab", name=view, exact=True))
    turned(page, view)
    _, title, pressed = place_of(name)
    pill = page.locator(PILLS).get_by_text(title, exact=True)
    if pill.count() and "mod-active" not in (pill.get_attribute("class") or ""):
        clicks.click(pill)
    clicks.click(page.locator(".wbp-page:visible").get_by_role("button", name=re.compile(f"^{pressed}")))
    ended(page, view)


def where_the_time_goes(clicks: Clicks) -> None:
    figure(clicks, "Where time goes", "Profile A and B")


def fusions(clicks: Clicks) -> None:
    """The view explains by itself where that takes seconds."""
    page, view = clicks.page, "What ORT did"
    clicks.click(page.locator(".wbp-tabs").get_by_role("tab", name=view, exact=True))
    ended(page, view)
    expect(page.locator(".wbp-page:visible .wbp-heading").first).to_contain_text("nodes became")


def worth_of_a_pass(clicks: Clicks) -> None:
    """From another view: turn to this one, and take the question in its line."""
    tab(clicks.page, "Timing")
    view = "What ORT did"
    clicks.click(clicks.page.locator(".wbp-tabs").get_by_role("tab", name=view, exact=True))
    turned(clicks.page, view)
    clicks.click(clicks.page.locator(".wbp-next").get_by_role("button", name=re.compile("of each pass")))
    ended(clicks.page, view)


def why(clicks: Clicks) -> None:
    tab(clicks.page, "Timing")
    expect(clicks.page.locator(".wbp-why")).to_contain_text("Why:")


def shared(clicks: Clicks) -> None:
    clicks.click(button(clicks.page, "share"))
    with clicks.page.expect_download():
        clicks.click(clicks.page.locator(".wbm-list").get_by_role("menuitem", name="Page", exact=True))
    expect(clicks.page.locator(".wbp-note", has_text="Written as")).to_be_visible()


def reopen(clicks: Clicks) -> None:
    clicks.click(clicks.page.locator(".wbp-modes button", has_text="Results"))
    turned(clicks.page, "Results")
    clicks.click(clicks.page.locator(".wbt-act").first)
    expect(clicks.page.locator(".wbp-answer")).to_be_visible()  # folded where the view needs the room


def against_one_thread(clicks: Clicks) -> None:
    clicks.choose(knob(clicks.page, "intra-op threads"), "1")
    clicks.click(button(clicks.page, "Compare"))
    compared(clicks.page)


def int8_with_accuracy(clicks: Clicks) -> None:
    """The outputs open by themselves, and the accuracy is evaluated where that takes seconds."""
    clicks.choose(knob(clicks.page, "precision"), "dynamic int8")
    clicks.click(button(clicks.page, "Compare"))
    compared(clicks.page)
    ended(clicks.page, "Outputs")
    expect(clicks.page.locator(PILLS).get_by_text("accuracy", exact=True)).to_have_class(
        re.compile("mod-active")
    )
    expect(clicks.page.locator(CARDS).first).to_be_visible()


def own_file(clicks: Clicks) -> None:
    """Open a file by one click, its path and Enter."""
    page = clicks.page
    clicks.click(button(page, "Open…"))
    expect(page.locator(".wbp-opening input[type=text]").first).to_be_focused()
    page.keyboard.type("wide.onnx")
    page.keyboard.press("Enter")
    expect(page.locator(".wbp-headline")).to_contain_text("wide")


def improve_under_a_limit(clicks: Clicks) -> None:
    """Turn to the mode and press its button: the limit stands there where examples have labels."""
    page = clicks.page
    clicks.click(page.locator(".wbp-modes button", has_text="Improve"))
    turned(page, "Improve")
    row = page.locator(".wbp-improve-row")
    expect(row.locator("select").first.locator("option:checked")).to_have_text("1 % accuracy")
    clicks.click(row.get_by_role("button", name="Improve", exact=True))
    expect(page.locator(".wbp-improvement .wbp-findings-head")).to_contain_text("improved")
    expect(page.locator(".wbp-progress")).to_have_count(0)


TASKS = (  # in one notebook, in this order
    Task("all against basic", 2, against_basic),
    Task("where the time goes", 2, where_the_time_goes),
    Task("fusions of both", 1, fusions),
    Task("why", 0, why),
    Task("worth of each pass", 2, worth_of_a_pass),
    Task("share", 2, shared),
    Task("reopen from history", 2, reopen),
    Task("improve under a limit", 2, improve_under_a_limit),
)
FRESH_TASKS = (  # in a notebook of a model of 2 MB or more, which is beside it
    Task("int8 with accuracy", 2, int8_with_accuracy),
    Task("default against one thread", 2, against_one_thread),
    Task("own file", 1, own_file),
)


def spent_on(page: Page, tasks: tuple[Task, ...]) -> dict[str, int]:
    """Perform tasks one after the other; return the clicks of each."""
    clicks, spent = Clicks(page), {}
    for task in tasks:
        task.perform(clicks)
        spent[task.name] = clicks.spent()
    tab(page, "Timing")
    return spent
