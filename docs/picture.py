"""Makes docs/picture.png: the latency figure of a real comparison, as JupyterLab shows it.

`python docs/picture.py [BUNDLE]` draws a saved comparison, or measures one on this machine, which should then
have nothing else to do. Needs the `test` extra and Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import workbench as wb

TARGET = Path(__file__).with_name("picture.png")
WIDTH = 900
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def main(arguments: list[str]) -> None:
    if arguments:
        result = wb.open(arguments[0])
    else:
        result = wb.compare(wb.load("mobilenetv2"), wb.Config(level="disabled"), wb.Config(level="all"))
    figure = result.latency_figure()
    figure.update_layout(width=WIDTH, paper_bgcolor="white", plot_bgcolor="white")  # also on a dark page
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        page_file = Path(folder, "figure.html")
        figure.write_html(page_file, include_plotlyjs=True, config={"displayModeBar": False})
        context = play.chromium.launch_persistent_context(
            Path(folder, "profile"),
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=FLAGS,
            viewport={"width": WIDTH, "height": 800},
            device_scale_factor=2,
        )
        page = context.pages[0]
        page.goto(page_file.as_uri())
        page.locator(".js-plotly-plot").screenshot(path=TARGET)
        context.close()
    print(f"{TARGET}: {result}")


if __name__ == "__main__":
    main(sys.argv[1:])
