"""Budgets of the panels: clicks of the common tasks, what the screen shows, the start of a cold page."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, expect

from benchmarks.look_states import source_in
from tests.browser.harness.book import Book, open_book
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab, started_lab
from tests.browser.harness.panels import IN_VIEW, MOST_CONTROLS, VIEW_TOP, button
from tests.browser.harness.places import MOST, WAYS, distances, source_of
from tests.browser.harness.screen import GRAPH_HEIGHT, GRAPH_WIDTH, farthest_shift, graph_area, view_in_sight
from tests.browser.harness.tasks import FRESH_TASKS, START, TASKS, spent_on
from tests.core.models import tiny

MOST_COLD_S, MOST_TAB_MS = 8.0, 200.0
WIDE = 80_000  # of an MLP whose file is large enough for int8 to be suggested
COLD = """import time
began = time.perf_counter()
import workbench as wb
bench = wb.Workbench()
bench.panels
took_s = time.perf_counter() - began
bench"""
INSIDE = "from ipywidgets.widgets.widget import _instances\nprint(len(_instances), took_s)"


def tasks(lab: Lab, pages: Pages) -> list[dict[str, Any]]:
    """Perform the common tasks; return the clicks of each beside the most that it may take."""
    wide = tiny.save(tiny.mlp(WIDE), lab.folder, "wide.onnx")
    rows = []
    for model, group in (("digits-conv", TASKS), (str(wide), FRESH_TASKS)):
        book = run(lab, pages, f"tasks-{len(group)}.ipynb", START.format(model=model, budget_s=1.0))
        expect(book.page.locator("details.wbp-headline")).to_be_visible()
        spent = spent_on(book.page, group)
        rows += [row("task", task.name, spent[task.name], task.most, "clicks") for task in group]
    return rows


def places(lab: Lab, pages: Pages) -> list[dict[str, Any]]:
    """Return how far below the top of its tab the first data stand, for each way in which a verdict ends."""
    rows = []
    for way in WAYS:
        page = run(lab, pages, f"places-{way}.ipynb", source_of(lab.folder, way)).page
        rows += [row("place", f"{way}, {name}", far, MOST, "px") for name, far in distances(page).items()]
    return rows


def screen(lab: Lab, pages: Pages) -> list[dict[str, Any]]:
    """Return what moves until the answer, what is in view beside it, and the size of the graphs."""
    page = run(lab, pages, "screen.ipynb", START.format(model="digits-conv", budget_s=1.0)).page
    expect(page.locator("details.wbp-headline")).to_be_visible()
    rows = [
        row("screen", "shift until the answer", farthest_shift(page), 0, "px"),
        row("screen", "controls in view", len(page.evaluate(IN_VIEW)), MOST_CONTROLS, ""),
        row("screen", "view in sight", view_in_sight(page), None, "px", least=VIEW_TOP),
    ]
    cells = source_in(lab.folder, "decided", None).rsplit("\n", 1)
    area = graph_area(run(lab, pages, "graph.ipynb", *cells).page)
    for side, least in (("width", GRAPH_WIDTH), ("height", GRAPH_HEIGHT)):
        rows.append(row("screen", f"{side} of the graphs", area[side], None, "px", least=least))
    return rows


def tab_times(clicks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how long a tab takes: the median and the worst of the clicks that turn to one."""
    took_ms = [click["seconds"] * 1e3 for click in clicks if click["name"].startswith("tab ")]
    if not took_ms:
        return []
    named = {"median": median(took_ms), "worst": max(took_ms)}
    return [row("tab", name, ms, MOST_TAB_MS, "ms") for name, ms in named.items()]


def cold(folder: Path, browser: Browser, times: int) -> list[dict[str, Any]]:
    """Open a page of a fresh server in a fresh profile; return the seconds until each step."""
    rows = []
    for turn in range(times):
        with started_lab(folder / f"cold-{turn}") as lab:
            pages = Pages(browser, folder)
            page, name = pages.open(width=1440, height=900), lab.write("cold.ipynb", COLD, INSIDE)
            began, steps = time.perf_counter(), {}
            book = open_book(page, lab, name)
            steps["notebook drawn"] = time.perf_counter() - began
            book.wait_for_kernel()
            steps["kernel idle"] = time.perf_counter() - began
            book.command("notebook:run-cell-and-select-next")
            expect(button(page, "Compare")).to_be_visible()
            steps["Compare visible"] = time.perf_counter() - began
            button(page, "all settings").click()
            expect(page.locator(".wbk-group").first).to_be_visible()
            steps["first click answered"] = time.perf_counter() - began
            button(page, "close all settings").click()  # the drawer lies over the next cell
            book.cell(1).locator(".cm-content").click()
            book.command("notebook:run-cell-and-select-next")
            models, inside_s = book.output(1).locator("pre").first.inner_text().split()
            pages.close()
            lab.stop_kernels()
        last = list(steps)[-1]
        rows += [row("cold", step, took, MOST_COLD_S if step == last else None, "s", turn)
                 for step, took in steps.items()]  # fmt: skip
        rows += [row("cold", "of it imports and widgets", float(inside_s), None, "s", turn),
                 row("cold", "widget models", int(models), None, "", turn)]  # fmt: skip
    return rows


def run(lab: Lab, pages: Pages, name: str, *sources: str) -> Book:
    """Return a notebook of these cells, run to its end."""
    book = open_book(pages.open(width=1440, height=900), lab, lab.write(name, *sources))
    book.run_all()
    return book


def row(
    part: str, name: str, value: float, most: float | None, unit: str, turn: int = 0, *,
    least: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return a measured value beside its budget, if it has one."""
    return {
        "part": part, "name": name, "turn": turn, "value": value, "most": most, "least": least, "unit": unit,
    }  # fmt: skip


def budget_table(rows: list[dict[str, Any]]) -> str:
    """Return a line for each name: the worst value, its budget, and whether it is kept."""
    lines = []
    for part, name in dict.fromkeys((row["part"], row["name"]) for row in rows):
        mine = [row for row in rows if (row["part"], row["name"]) == (part, name)]
        most, least, unit = (mine[0][what] for what in ("most", "least", "unit"))
        values = [row["value"] for row in mine]
        worst = max(values) if least is None else min(values)
        lines.append(f"{part} {name:<28}{worst:>9.3g} {unit}{_kept(worst, most, least)}")
    return "\n".join(lines)


def _kept(worst: float, most: float | None, least: float | None) -> str:
    """Return a budget, and whether a value keeps it."""
    if most is None and least is None:
        return ""
    budget = f"at most {most:g}" if least is None else f"at least {least:g}"
    is_kept = (most is None or worst <= most) and (least is None or worst >= least)
    return f"  {budget}: {'kept' if is_kept else 'EXCEEDED'}"
