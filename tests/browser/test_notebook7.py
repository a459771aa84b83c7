"""The workbench in the classic Notebook 7, below a base URL, started as its users start it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.apps.server.conftest import tiny_model
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BASE_URL = "/user/x/"
SOURCE = "import workbench as wb\nbench = wb.Workbench({path!r})\nbench"


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Lab]:
    """A server of Notebook 7 that knows us only by our installed configuration."""
    token, folder, log = secrets.token_hex(16), tmp_path / "books", tmp_path / "server.log"
    folder.mkdir()
    kinds = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("RUNTIME", "CONFIG", "DATA")}
    settings = {"base_url": BASE_URL, "ip": "127.0.0.1", "port": 0, "root_dir": folder, "open_browser": False}
    command = [sys.executable, "-m", "notebook", f"--IdentityProvider.token={token}", "--allow-root"]
    command += [f"--ServerApp.{name}={value}" for name, value in settings.items()]
    with (
        log.open("wb") as errors,
        subprocess.Popen(command, stdout=errors, stderr=errors, env={**os.environ, **kinds}) as server,
    ):
        try:
            info = Path(kinds["JUPYTER_RUNTIME_DIR"], f"jpserver-{server.pid}.json")
            while not info.exists() or not info.read_text():  # written when it listens
                with suppress(subprocess.TimeoutExpired):
                    raise AssertionError(f"it ended with {server.wait(0.05)}: {log.read_text()}")
            yield Lab(json.loads(info.read_text())["url"], token, folder, log)
        finally:
            server.terminate()


def test_the_panels_and_netron(notebook: Lab, pages: Pages, tmp_path: Path) -> None:
    pages.provoked.append("reading 'schema'")  # Notebook 7 itself throws it
    path = tiny_model(tmp_path / "classic.onnx", "classic_node")
    notebook.write("classic.ipynb", SOURCE.format(path=str(path)))
    page = pages.open(notebook.url("notebooks/classic.ipynb"))
    expect(page.locator(".jp-Notebook .jp-CodeCell").first).to_be_visible()
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
    expect(page.locator(".jp-NotebookKernelStatus, .jp-NotebookKernelLogo").first).to_be_visible()
    page.keyboard.press("Shift+Enter")
    panels = page.locator(".jp-Cell-outputArea .wbp")
    expect(panels).to_contain_text("classic")
    panels.get_by_role("button", name="Open…").click()
    with page.expect_popup() as popup:
        panels.get_by_role("link", name="Netron").click()
    expect(popup.value).to_have_title("classic.onnx")
    assert BASE_URL + "workbench/netron/" in popup.value.url
    pages.picture(page, "notebook7")
    notebook.stop_kernels()
