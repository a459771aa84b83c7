"""The starter notebook as a user meets it: `workbench lab`, a real Chromium, a verdict and a figure."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Page, Request, expect, sync_playwright

from tests.conftest import find_browser, is_worker

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
FLAGS += ["--disable-component-update", "--disable-sync"]
PATIENCE_MS = 240_000  # how long a condition may take to come true on a busy machine
expect.set_options(timeout=PATIENCE_MS)
VERDICT = re.compile(r"faster|slower|tie|unknown|outputs differ")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address, with its token, of a JupyterLab that `workbench lab` started."""
    runtime = tmp_path_factory.mktemp("jupyter")
    settings = {
        name: str(runtime) for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")
    }
    arguments = [sys.executable, "-m", "workbench", "lab", "--no-browser", "--port", "0"]
    log = runtime / "server.log"
    with (
        log.open("wb") as errors,  # not a pipe: unread, it would fill and the server would stand still
        subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, **settings}, text=True
        ) as server,
    ):
        assert server.stdout is not None
        said = server.stdout.readline()
        assert said.startswith("Open http://127.0.0.1:"), log.read_text()
        yield said.removeprefix("Open ").strip()
        server.terminate()
        assert server.wait() == 0, log.read_text()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """A fresh browser with a profile of its own."""
    with sync_playwright() as play:
        context = play.chromium.launch_persistent_context(
            tmp_path / "profile",
            executable_path=find_browser(),
            args=FLAGS,
            headless=True,
            viewport={"width": 1400, "height": 1600},
        )
        context.set_default_timeout(PATIENCE_MS)
        yield context.pages[0]
        context.close()


def test_the_starter_notebook_shows_a_verdict_and_a_figure(lab: str, page: Page, tmp_path: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(host(request)))
    page.goto(lab)
    notebook = page.locator(".jp-NotebookPanel")
    expect(notebook.locator(".jp-MarkdownOutput h1")).to_contain_text("One honest comparison")
    expect(page.locator(".jp-NotebookPanel-toolbar [data-status='idle']").first).to_be_attached()

    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    result = notebook.locator(".jp-CodeCell", has_text="wb.compare(")
    expect(result.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(result.locator(".jp-OutputArea")).to_contain_text(VERDICT)
    table = notebook.locator(".jp-CodeCell", has_text="to_frame()").locator("table")
    expect(table).to_contain_text("median_s")
    expect(
        notebook.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error']")
    ).to_have_count(0)

    result.scroll_into_view_if_needed()
    page.screenshot(path=screenshot(tmp_path))
    assert set(asked) == {"127.0.0.1"}, "a request left the machine"


def host(request: Request) -> str:
    parts = urlsplit(request.url)
    return parts.hostname or "127.0.0.1" if parts.scheme.startswith(("http", "ws")) else "127.0.0.1"


def screenshot(folder: Path) -> Path:
    """Where a person can look at it afterwards."""
    kept = os.environ.get("WORKBENCH_SCREENSHOTS")
    return Path(kept or folder) / "starter.png"


def test_the_notebook_left_no_worker(lab: str) -> None:
    assert lab
    assert not [process for process in psutil.Process().children(recursive=True) if is_worker(process)]
