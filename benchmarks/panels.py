"""Measure how fast the panels answer, and their budgets: `python -m benchmarks.panels [PART…] [-m MODEL]`.

Start a real JupyterLab and a Chromium without a window, and click as a person would. `clicks`: many different
clicks while a comparison runs, from the click until the page shows its answer. `cancel`: runs that are
cancelled at several moments, from the click until the panels say so, and until no worker is left. `tasks`:
the clicks of the common tasks. `places`: how far below the top of each tab its first data stand. `screen`:
what moves until an answer, what the screen shows beside it, and the room of the graphs. `cold`: a page of a
fresh server in a fresh browser profile, from its address until a click is answered. Print a table, and for
each budget whether it is kept; `-o FILE` writes every value as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from playwright.sync_api import Page, expect

from benchmarks.panel_budgets import budget_table, cold, places, screen, tab_times, tasks
from tests.browser.harness.book import open_book
from tests.browser.harness.chromium import Pages, started_browser
from tests.browser.harness.lab import started_lab
from tests.browser.harness.panels import FILLED, STOP, VIEWS, all_settings, button, knob, make
from tests.conftest import is_worker

PARTS = ("clicks", "cancel", "tasks", "places", "screen", "cold")
BUDGETS = {"tasks": tasks, "places": places, "screen": screen}
TIMES = 3  # each click, and each cancel
MADE = ("Profile A and B", "Explain A and B", "Ablate", "Level by level")  # in its view
RUNS = ("Compare", *MADE)
MOMENTS_S = (0.0, 0.4, 1.2)  # after the first sign of life
START = """
import workbench as wb
bench = wb.Workbench()
bench.load({model!r}, wait=True)
bench.state.budget_s = 1.0
bench.compare(wait=True)
bench.run("explanation", wait=True)
bench.run("profile", wait=True)
bench.state.budget_s = 600.0
bench
"""
# Time from the mouse button going down until the text of `answer` has changed, checked frame by frame.
WATCH = """(answer) => {
  const look = new Function(`return ${answer}`), before = look();
  let began = null;
  addEventListener('pointerdown', () => { began = performance.now(); }, {capture: true, once: true});
  window.answered = (async () => {
    while (began === null || !look() || look() === before) await new Promise(requestAnimationFrame);
    return performance.now() - began;
  })();
}"""
BUTTON = "[...document.querySelectorAll('.wbp button')].find((e) => e.textContent.trim() === {name})"
ROW = "[...document.querySelectorAll('.wbk-row')].find((e) => e.textContent === {name})"
ROWS = "String(document.querySelectorAll('.wbk-drawer tr').length)"
TAB = "[...document.querySelectorAll('.wbp-tabs [role=tab]')].find((e) => e.textContent.startsWith({name}))"
SHOWN = f"""(() => {{
  const page = [...document.querySelectorAll('.wbp-page')].find((e) => e.offsetParent);
  const filled = page?.querySelector('{FILLED}');
  return filled && document.querySelector('.wbp-tabs [aria-selected=true]').textContent;
}})()"""  # of which tab the kernel has sent what it holds
DIFFERENCE = "document.querySelector('.wbp-difference').textContent"
TURNS = (*VIEWS[1:], VIEWS[0])  # from the first tab, which is open, through all others and back


def clicks() -> dict[str, tuple[str, str]]:
    """Return by name the element to click, and the text that only the kernel can change in answer."""
    acts: dict[str, tuple[str, str]] = {}
    for name in ("disabled passes", "session entry", "providers"):
        for act in ("open", "close"):
            acts[f"{act} {name}"] = (ROW.format(name=repr(name)), ROWS)
    for name in TURNS:
        acts[f"tab {name}"] = (TAB.format(name=repr(name)), SHOWN)
    for name in ("↶", "↷"):
        acts[name] = (BUTTON.format(name=repr(name)), DIFFERENCE)
    return acts


def measure_clicks(page: Page, times: int) -> list[dict[str, Any]]:
    """Time each click while a comparison of two different configs runs."""
    knob(page, "level").select_option("basic")
    expect(page.locator(".wbp-difference")).to_contain_text("level (basic")
    button(page, "Compare").click()
    expect(page.locator(".wbp-doing")).to_contain_text("round 2")
    rows = []
    for turn in range(times):
        for name, (find, answer) in clicks().items():
            show_drawer(page, not name.startswith("tab "))
            element = page.wait_for_function(f"() => {find}").as_element()
            assert element is not None, name
            page.evaluate(WATCH, answer)
            element.click()
            took_ms: float = page.evaluate("window.answered")
            rows.append({"part": "click", "name": name.strip(), "turn": turn, "seconds": took_ms / 1e3})
    button(page, STOP).click()
    expect(page.locator(".wbp-progress")).to_have_count(0)
    return rows


def show_drawer(page: Page, shown: bool) -> None:
    """Open the drawer of all settings, or close it: it lies over the tabs."""
    if shown:
        all_settings(page)
    elif page.locator(".wbk-drawer").is_visible():
        button(page, "close all settings").click()


def measure_cancel(page: Page, name: str, after_s: float) -> dict[str, Any]:
    """Time a run's cancel, that long after the run is shown."""
    page.evaluate("document.querySelectorAll('.wbp-stopped').forEach((e) => e.setAttribute('data-old', ''))")
    make(page, name) if name in MADE else button(page, name).click()
    expect(page.locator(".wbp-progress")).to_have_count(1)
    page.wait_for_timeout(after_s * 1e3)
    gone = Gone()
    stopped_ms: float | None = page.evaluate(
        """async () => {
          const all = [...document.querySelectorAll('.wbp button')];
          const cancel = all.find((e) => e.textContent.trim() === 'Stop here');
          if (!cancel) return null;
          const began = performance.now();
          cancel.click();
          const stopped = () => document.querySelector('.wbp-stopped:not([data-old])');
          let idle = null;  // since when nothing runs: the words come a message after the bar is gone
          while (!stopped()) {
            const now = performance.now();
            idle = document.querySelector('.wbp-progress') ? null : (idle ?? now);
            if (idle !== null && now - idle > 2000) return null;
            await new Promise(requestAnimationFrame);
          }
          return performance.now() - began;
        }"""
    )
    processes_s = gone.wait()
    stopped = None if stopped_ms is None else stopped_ms / 1e3
    return {
        "part": "cancel", "name": name, "after_s": after_s, "seconds": stopped,
        "processes_s": None if stopped_ms is None else processes_s, "workers": gone.most_workers,
    }  # fmt: skip


class Gone:
    """A thread that watches the workers until none is left."""

    def __init__(self) -> None:
        self.began, self.most_workers, self.ended_s = time.perf_counter(), 0, 0.0
        self.idle = (
            threading.Event()
        )  # set when the panels say that nothing runs: no further worker is started
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while True:
            idle, left = self.idle.is_set(), workers()
            if left:
                self.most_workers, self.ended_s = (
                    max(self.most_workers, left),
                    time.perf_counter() - self.began,
                )
            elif idle:
                return
            time.sleep(0.01)

    def wait(self) -> float:
        """Return the seconds until the last worker was gone; 0 if there was none."""
        self.idle.set()
        self._thread.join()
        return self.ended_s


def workers() -> int:
    """Count the workers: children of the kernel, which is a child of the server, a child of this process."""
    return sum(is_worker(child) for child in psutil.Process().children(recursive=True))


def measure(parts: Sequence[str], model: str, times: int) -> list[dict[str, Any]]:
    """Measure every part in notebooks of its own."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, started_browser() as browser:
        place = Path(folder)
        if "cold" in parts:
            rows += cold(place, browser, times)
        with started_lab(place / "lab") as lab:
            for part in [part for part in PARTS if part in parts and part != "cold"]:
                pages = Pages(browser, place)
                if part in BUDGETS:
                    rows += BUDGETS[part](lab, pages)
                else:
                    book = open_book(pages.open(), lab, lab.write(f"{part}.ipynb", START.format(model=model)))
                    book.run_all()
                    expect(book.page.locator("details.wbp-headline")).to_be_visible()
                    rows += (measure_clicks if part == "clicks" else cancels)(book.page, times)
                pages.close()
                lab.stop_kernels()
    return rows


def cancels(page: Page, times: int) -> list[dict[str, Any]]:
    """Cancel each run at each moment."""
    moments = [(name, after_s) for name in RUNS for after_s in MOMENTS_S for _ in range(times)]
    return [measure_cancel(page, name, after_s) for name, after_s in moments]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line for each name: count, median, worst; runs that ended before the cancel have no time."""
    lines = [f"{'':<22}{'n':>4}{'median':>10}{'worst':>10}{'workers gone, worst':>22}"]
    for name in dict.fromkeys((row["part"], row["name"]) for row in rows):
        mine = [row for row in rows if (row["part"], row["name"]) == name]
        lines.append(_line(f"{name[0]} {name[1]}", mine))
    for part in dict.fromkeys(row["part"] for row in rows):
        lines.append(_line(f"all of {part}", [row for row in rows if row["part"] == part]))
    return "\n".join(lines)


def _line(name: str, rows: Sequence[dict[str, Any]]) -> str:
    known = [row["seconds"] for row in rows if row["seconds"] is not None]
    if not known:
        return f"{name:<22}{0:>4}  always ended before the cancel"
    gone = [row["processes_s"] for row in rows if row.get("processes_s") is not None]
    last = f"{max(gone) * 1e3:>19,.0f} ms" if gone else ""
    return f"{name:<22}{len(known):>4}{median(known) * 1e3:>7,.0f} ms{max(known) * 1e3:>7,.0f} ms{last}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.panels", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; default: all")
    parser.add_argument("-m", "--model", default="digits-vit", help="a sample, or a path")
    parser.add_argument("-n", "--times", type=int, default=TIMES, help="how often each")
    parser.add_argument("-o", "--output", type=Path, help="a JSON file for every time")
    asked = parser.parse_args(arguments)
    wrong = [part for part in asked.parts if part not in PARTS]
    if wrong:
        parser.error(f"{wrong[0]!r} is no part; choose from {', '.join(PARTS)}")
    rows = measure(asked.parts or PARTS, asked.model, asked.times)
    timed = [row for row in rows if "seconds" in row]
    if timed:
        print(table(timed))
    print(budget_table([*tab_times(timed), *(row for row in rows if "seconds" not in row)]))
    if asked.output is not None:
        asked.output.write_text(json.dumps(rows, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
