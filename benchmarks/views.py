"""How fast the live views are: `python -m benchmarks.views [graph] [flame] [-n NODES]`.

Each part makes a view of made data in this process, opens it as an exported page in headless Chromium without
a GPU, and drives it as a person would: first paint, panning at first sight and with boxes opened, search.
Prints the figures of each view.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from benchmarks.graphs import explained
from tests.conftest import find_browser
from workbench.drawing.canvas.base import View
from workbench.drawing.canvas.standalone import fragment, scripts

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FRAMES = 120  # of one pan
LEVELS = 6  # opened, more than made graphs have
SPANS = 100_000  # of the flame view
ARROWS = ["ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"]
PAINTED = ".wbv-stage canvas[data-painted]"
# Pans by keys, one step a frame, and gives how long each frame took.
PAN = """([index, frames, keys]) => new Promise((done) => {
  const canvas = document.querySelectorAll('.wbv-stage canvas')[index], times = [];
  let last = 0, left = frames;
  const step = (now) => {
    if (last) times.push((now - last) / 1e3);
    last = now;
    if (!left--) return done(times);
    const key = keys[Math.floor(left / 10) % keys.length];
    canvas.dispatchEvent(new KeyboardEvent('keydown', {key, shiftKey: true, bubbles: true}));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def graph(nodes: int) -> tuple[str, Callable[[], View]]:
    """Source and optimized graph of a transformer whose mask feeds every layer."""
    from workbench.features.explain.graph_view import graph_view

    record = explained(nodes)
    return (
        f"graph, {len(record.source.nodes):,} and {len(record.optimized.nodes):,} nodes",
        lambda: graph_view(record),
    )


def flame(_nodes: int) -> tuple[str, Callable[[], View]]:
    """A hundred thousand spans in time, all in sight at first."""
    from benchmarks.traces import made_profile
    from workbench.features.profile.flame.view import flame_view

    with tempfile.TemporaryDirectory() as folder:
        profile = made_profile(SPANS, Path(folder))

    def make() -> View:
        view = flame_view(profile, way="time")
        view.header = view.header.replace(
            '"view":[', '"first view":['
        )  # all runs, not the one run of a person
        return view

    return f"flame, {len(profile.trace):,} spans", make


PARTS: dict[str, Callable[[int], tuple[str, Callable[[], View]]]] = {"graph": graph, "flame": flame}


def measure(name: str, make: Callable[[], View], folder: Path, browser: Browser) -> dict[str, Any]:
    """One row: seconds in Python, to the first paint, and of frames while panning."""
    began = time.perf_counter()
    view = make()
    made_s = time.perf_counter() - began
    view.still().to_png()
    still_s = time.perf_counter() - began - made_s
    page_file = folder / "view.html"
    page_file.write_text(
        f"<!doctype html><meta charset=utf-8><body>{fragment(view)}{scripts([view])}", encoding="utf-8"
    )
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(0)
    page.goto(page_file.as_uri())
    page.wait_for_selector(PAINTED)
    paint_s = page.evaluate("performance.getEntriesByName('wbv painted')[0].startTime / 1e3")
    drawn = page.evaluate("performance.getEntriesByName('wbv drawn').map((one) => one.duration / 1e3)")
    pan = page.evaluate(PAN, [0, FRAMES, ARROWS])
    zoom = page.evaluate(PAN, [0, FRAMES, ["+", "-"]])
    opened = 0
    open_level = page.get_by_role("button", name="Open every closed box")
    began = time.perf_counter()
    while opened < LEVELS and open_level.count():
        open_level.click()
        opened += 1
    open_s = time.perf_counter() - began
    pan_open = page.evaluate(PAN, [0, FRAMES, ARROWS]) if opened else []
    began = time.perf_counter()
    page.get_by_role("searchbox").first.fill("MatMul")
    search_s = time.perf_counter() - began
    page.close()
    return {
        "view": name,
        "python_s": made_s,
        "still_s": still_s,
        "page_bytes": page_file.stat().st_size,
        "first_paint_s": paint_s,
        "drawn_s": drawn[0] if drawn else None,  # layout and first drawing alone
        **_frames("pan", pan),
        **_frames("zoom", zoom),
        "open_all_s": open_s if opened else None,
        **_frames("pan_opened", pan_open),
        "search_s": search_s,
    }


def _frames(name: str, times_s: Sequence[float]) -> dict[str, float | None]:
    ordered = sorted(times_s)
    if not ordered:
        return {f"{name}_frames_per_s": None, f"{name}_slowest_s": None}
    return {
        f"{name}_frames_per_s": len(ordered) / sum(ordered),
        f"{name}_slowest_s": ordered[int(len(ordered) * 0.99)],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all of them unless named")
    parser.add_argument("-n", "--nodes", type=int, default=12_000, help="size of the made data")
    asked = parser.parse_args(arguments)
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        browser = play.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for part in asked.parts or PARTS:
            name, make = PARTS[part](asked.nodes)
            for key, value in measure(name, make, Path(folder), browser).items():
                print(f"{key:>24}  {value:.4g}" if isinstance(value, float) else f"{key:>24}  {value}")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
