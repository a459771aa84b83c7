"""Make docs/workbench.png: the workbench in JupyterLab with a fresh comparison.

`python -m docs.screenshot` measures on this machine, which should have no other load.
`python -m docs.screenshot BUNDLE` shows a saved comparison. Needs the `test` extra and Chromium.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect

from tests.browser.harness.book import open_book
from tests.browser.harness.chromium import Pages, started_browser
from tests.browser.harness.lab import started_lab

TARGET = Path(__file__).with_name("workbench.png")
MOST_BYTES = 300_000
COLORS = 128
PANELS = ".jp-Cell-outputArea .wbp"
MEASURED = """
import workbench as wb
bench = wb.Workbench()
bench.load("bert-base", wait=True)
bench.b = wb.Config(level="all", precision=wb.DynamicInt8())
bench.compare(wait=True)
bench
"""
SAVED = """
import workbench as wb
bench = wb.Workbench()
bench.show(wb.open({path!r}))
bench
"""


def main(arguments: list[str]) -> None:
    source = SAVED.format(path=str(Path(arguments[0]).resolve())) if arguments else MEASURED
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_HOME"] = str(Path(folder, "home"))  # an empty history, no names of this user
        with started_lab(Path(folder, "lab")) as lab, started_browser() as browser:
            pages = Pages(browser, Path(folder))
            page = pages.open(width=1500, height=1300, scale=1.5)
            book = open_book(page, lab, lab.write("workbench.ipynb", source))
            book.run_all()
            panels = page.locator(PANELS)
            expect(panels.locator(".js-plotly-plot .main-svg").first).to_be_visible()
            page.evaluate("() => document.fonts.ready")
            panels.scroll_into_view_if_needed()
            shot = panels.screenshot()
            pages.close()
            lab.stop_kernels()
    opened, made = Image.open(io.BytesIO(shot)).convert("RGB"), io.BytesIO()
    opened.quantize(COLORS, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
    assert len(made.getvalue()) < MOST_BYTES, f"{len(made.getvalue()):,} bytes: too large for a README"
    TARGET.write_bytes(made.getvalue())
    print(f"{TARGET}: {opened.width} × {opened.height}, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
