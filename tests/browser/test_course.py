"""A lesson's guess in the real JupyterLab: typed, and kept by a click."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Show

pytestmark = pytest.mark.browser

GUESS = """
from workbench import course
guess = course.predict("How far apart?", name="browser.noise", unit="%")
guess
"""


def test_a_guess_is_kept_by_a_click(show: Show, tmp_path: Path) -> None:
    home = f"import os; os.environ['WORKBENCH_HOME'] = {str(tmp_path)!r}"
    book = show(home, GUESS)
    output = book.page.locator(".jp-OutputArea-output")
    expect(output.get_by_text("No guess yet.")).to_be_visible()
    output.locator("input[type=number]").fill("4.5")
    output.get_by_role("button", name="Keep my guess").click()
    expect(output.get_by_text("Kept: 4.5 %.")).to_be_visible()
    assert "4.5" in (tmp_path / "data" / "course.json").read_text()
