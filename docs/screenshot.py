"""Make docs/workbench.png, a fresh comparison, and docs/panels/VIEW.png, one each view and mode.

`python -m docs.screenshot` measures on this machine, which should have no other load.
`python -m docs.screenshot BUNDLE` shows a saved comparison of a sample, and makes here what it lacks.
Needs the `test` extra and Chromium.
"""

from __future__ import annotations

import argparse
import io
import os
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

from docs.pictures import with_few_colors
from tests.browser.harness.book import open_book
from tests.browser.harness.chromium import Pages, started_browser
from tests.browser.harness.lab import started_lab
from tests.browser.harness.panels import TABS, tab

TARGET = Path(__file__).with_name("workbench.png")
FOLDER = Path(__file__).with_name("panels")  # a picture of each tab
MOST_BYTES, MOST_TAB_BYTES = 300_000, 120_000
COLORS = 256
TALLEST = 760  # pixels of a tab's picture
SCALE = 1.5
DRAWN = 1_500  # ms that canvases and figures may take to settle once their tab is filled
PANELS = ".jp-Cell-outputArea .wbp"
SHOWN = ".wbp-views, .wbp-body:not(:has(.wbp-views))"  # the views of Compare, or all that a mode shows
MEASURED = """
import workbench as wb
bench = wb.Workbench()
bench.load("bert-base", wait=True)
bench.b = wb.Config(precision=wb.DynamicInt8())
bench.compare(wait=True)
for kind in {kinds!r}:
    bench.run(kind, wait=True)
bench
"""
SAVED = """
import workbench as wb
bench = wb.Workbench()
opened = wb.open({path!r})
bench.load(opened.record.model.name, wait=True)
bench.a, bench.b = (run.config for run in opened.runs)
opened.attach(bench.state.model)
bench.state.show_comparison(opened, bench.state.request().subject)
for kind in {kinds!r}:
    if not bench.state.has_part(kind):
        bench.run(kind, wait=True)
bench
"""
KINDS = (
    "explanation", "profile", "memory", "cold start", "accuracy", "findings", "roofline", "thread scaling",
)  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.screenshot", description=__doc__)
    parser.add_argument(
        "bundle", nargs="?", type=Path, help="a saved comparison; without it, one is measured"
    )
    bundle: Path | None = parser.parse_args(arguments).bundle
    if bundle and not bundle.is_file():
        parser.error(f"{str(bundle)!r} is not a file")
    path = str(bundle.resolve()) if bundle else ""
    source = (SAVED if path else MEASURED).format(path=path, kinds=KINDS)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_HOME"] = str(Path(folder, "home"))  # an empty history, no names of this user
        with started_lab(Path(folder, "lab")) as lab, started_browser() as browser:
            pages = Pages(browser, Path(folder))
            page = pages.open(width=1500, height=1300, scale=SCALE)
            book = open_book(page, lab, lab.write("workbench.ipynb", source))
            book.run_all()
            panels = page.locator(PANELS)
            expect(panels.locator(".js-plotly-plot .main-svg").first).to_be_visible()
            page.evaluate("() => document.fonts.ready")
            panels.scroll_into_view_if_needed()
            save(panels.screenshot(), TARGET, MOST_BYTES)
            for title in TABS:
                save(
                    picture_of(page, title), FOLDER / f"{title.lower().replace(' ', '-')}.png", MOST_TAB_BYTES
                )
            pages.close()
            lab.stop_kernels()


def picture_of(page: Page, title: str) -> bytes:
    """Return a screenshot of a tab, with its data drawn."""
    tab(page, title)
    shown = page.locator(".wbp-page:visible")
    expect(shown.locator(".wbp-note", has_text="drawing…")).to_have_count(0)
    page.wait_for_timeout(DRAWN)
    place = page.locator(SHOWN)
    place.scroll_into_view_if_needed()
    return place.screenshot()


def save(shot: bytes, target: Path, most_bytes: int) -> None:
    """Write a picture with few colours, cut where it is too tall for a page."""
    picture, made = Image.open(io.BytesIO(shot)).convert("RGB"), io.BytesIO()
    if target != TARGET:
        picture = picture.crop((0, 0, picture.width, min(picture.height, round(TALLEST * SCALE))))
    with_few_colors(picture, COLORS).save(made, "PNG", optimize=True)
    assert len(made.getvalue()) < most_bytes, f"{target.name}: {len(made.getvalue()):,} bytes are too many"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(made.getvalue())
    print(f"{target}: {picture.width} × {picture.height}, {len(made.getvalue()):,} bytes")


if __name__ == "__main__":
    main()
