"""Take pictures of the panels in a chosen state: `python -m benchmarks.looks [STATE…] -o FOLDER`.

States: decided, tied, unknown (not settled yet), differ (the outputs do), failed (B could not be loaded),
empty (nothing compared), running, fallback (the provider did not run), reopened (its model is not here),
changed (another model was opened).
Their comparisons are made by hand, so nothing is measured. With `-m MODEL`, a sample or a path, ONNX Runtime
makes the explanations, profiles (at the scale of the comparison), rooflines and findings; otherwise they are
of a made graph. FOLDER gets the first screen, each tab and each expanded view, at each width and in each
theme, and contact sheets of them. Elements that reach beyond the panels, and words that are cut, are printed.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

from benchmarks.look_states import STATES, source_in
from tests.browser.harness.book import ERROR, open_book
from tests.browser.harness.chromium import Pages, started_browser
from tests.browser.harness.lab import Lab, started_lab
from tests.browser.harness.panels import MODES, TABS, VIEWS, tab
from workbench.core.errors import WorkbenchError
from workbench.core.models.samples import sample_names

WIDTHS, THEMES = (1440, 1920, 1024, 390), ("light", "dark", "projector")
HEIGHT, TALL = 900, 1800  # pixels of the first screen, and of the window in which a tab is pictured
NARROW = 700  # a narrower window has no side bar
DRAWN = 900  # ms that canvases and figures may take to settle once their tab is filled
MOST_TOLD = 600  # letters of the end of an error
SHEET = 1560  # pixels of a contact sheet, which is as high as wide
SHOWN = ".wbp-views, .wbp-body:not(:has(.wbp-views))"  # the views of Compare, or all that a mode shows
THEMED = "light => document.body.dataset.jpThemeLight === String(light)"
TROUBLE = """() => {
  const panels = document.querySelector('.wbp'), edge = panels.getBoundingClientRect().right + 1;
  const scrolling = '.wbt-scroll, .v-scroll, .wbp-several, .wbp-code, .c-more > div';
  const shown = [...panels.querySelectorAll('*')].filter((e) => e.checkVisibility() && !e.closest(scrolling));
  const beyond = shown.filter((e) => e.matches('button, input, select, img, canvas, td, .main-svg')
    && e.getBoundingClientRect().right > edge);
  const cut = shown.filter((e) => !e.children.length && e.textContent.trim()
    && e.scrollWidth > e.clientWidth + 1 && !['visible', 'auto'].includes(getComputedStyle(e).overflowX));
  const named = (kind, all) => all.map((e) => `${kind}: ${e.tagName} ${e.textContent.trim().slice(0, 50)}`);
  return [...named('beyond', beyond), ...named('cut', cut)];
}"""


def pictures(page: Page, stem: str, width: int, tabs: Sequence[str], folder: Path) -> Iterator[Path]:
    """Take pictures of the first screen, each tab, and each view that can be expanded."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    if width < NARROW:
        page.evaluate("window.jupyterapp.shell.collapseLeft()")
    page.locator(".wbp").first.scroll_into_view_if_needed()
    page.wait_for_timeout(DRAWN)
    yield written(page.screenshot(), folder / f"{stem}-screen.png")
    for title in tabs:
        page.set_viewport_size({"width": width, "height": TALL})
        tab(page, title)
        place = page.locator(".wbp-page:visible")
        expect(place.locator(".wbp-note", has_text="drawing…")).to_have_count(0)
        page.wait_for_timeout(DRAWN)
        yield written(page.locator(SHOWN).screenshot(), folder / f"{stem}-{title}.png")
        for trouble in page.evaluate(TROUBLE):
            print(f"{stem}-{title}: {trouble}", flush=True)
        expand = place.get_by_text("Expand", exact=True)
        if expand.count():
            page.set_viewport_size({"width": width, "height": HEIGHT})
            expand.first.click()
            page.wait_for_timeout(DRAWN)
            yield written(page.screenshot(), folder / f"{stem}-{title}-expanded.png")
            page.keyboard.press("Escape")


def written(picture: bytes, path: Path) -> Path:
    path.write_bytes(picture)
    return path


def sheets(paths: Iterable[Path], stem: str, folder: Path) -> list[Path]:
    """Write contact sheets: pictures in rows, none larger than a sheet; return their paths."""
    pages, x, y, row = [Image.new("RGB", (SHEET, SHEET), "gray")], 0, 0, 0
    for path in paths:
        picture = Image.open(path).convert("RGB")
        picture.thumbnail((SHEET, SHEET))
        if x and x + picture.width > SHEET:
            x, y, row = 0, y + row + 6, 0
        if y + picture.height > SHEET:
            pages.append(Image.new("RGB", (SHEET, SHEET), "gray"))
            x, y, row = 0, 0, 0
        pages[-1].paste(picture, (x, y))
        x, row = x + picture.width + 6, max(row, picture.height)
    folder.mkdir(exist_ok=True)
    targets = [folder / f"{stem}-{number}.png" for number in range(1, len(pages) + 1)]
    for sheet, target in zip(pages, targets, strict=True):
        sheet.save(target)
    return targets


def drawn_or_failed(page: Page) -> None:
    """Wait for the panels, or raise what their cell raised: an unknown model would be waited for in vain."""
    error = page.locator(ERROR)
    expect(page.locator(".wbp-verdict").or_(error).first).to_be_visible()
    if error.count():
        raise WorkbenchError(error.first.inner_text()[-MOST_TOLD:], "read the error; nothing was pictured")


def look(lab: Lab, pages: Pages, state: str, asked: argparse.Namespace) -> None:
    """Take pictures of a state at every width and in every theme."""
    name = re.sub(r"[^\w.-]+", "-", f"{state}-{Path(asked.model).stem}" if asked.model else state)
    page = pages.open(width=asked.widths[0], height=HEIGHT)
    book = open_book(page, lab, lab.write(f"{name}.ipynb", source_in(lab.folder, state, asked.model)))
    book.run_all()
    drawn_or_failed(page)
    for theme in asked.themes:
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.wait_for_function(THEMED, arg=theme != "dark")
        tabs = asked.tabs
        if theme == "projector":  # shows no modes to turn to
            tabs = [title for title in tabs if title not in MODES]
            tab(page, VIEWS[0])
            page.locator(".wbp-ends > button").click()
        for width in asked.widths:
            stem = f"{name}-{width}-{theme}"
            taken = list(pictures(page, stem, width, tabs, asked.output))
            for sheet in sheets(taken, stem, asked.output / "sheets"):
                print(sheet, flush=True)
    pages.close()
    lab.stop_kernels()


def main(arguments: Sequence[str] | None = None) -> int:
    """Take pictures of every state that was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.looks", description=__doc__)
    parser.add_argument("states", nargs="*", help=f"{', '.join(STATES)}; default: all")
    parser.add_argument("-m", "--model", help="a sample, or a path")
    parser.add_argument("-o", "--output", type=Path, required=True, help="a folder for the pictures")
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS)
    parser.add_argument("--themes", nargs="+", choices=THEMES, default=THEMES)
    parser.add_argument("--tabs", nargs="*", choices=TABS, default=TABS)
    asked = parser.parse_args(arguments)
    wrong = [state for state in asked.states if state not in STATES]
    if wrong:
        parser.error(f"{wrong[0]!r} is no state; choose from {', '.join(STATES)}")
    if asked.model and not (Path(asked.model).exists() or asked.model in sample_names()):
        parser.error(f"{asked.model!r} is neither a file nor a sample")
    asked.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_HOME"] = str(Path(folder, "home"))  # an empty history, no names of this user
        with started_lab(Path(folder, "lab")) as lab, started_browser() as browser:
            for state in asked.states or STATES:
                look(lab, Pages(browser, asked.output), state, asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
