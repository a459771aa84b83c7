"""Results fit their cells: nothing is cut, fresh or reloaded, in a narrow and in a wide window."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import Show
from tests.factories.comparisons import ordinary
from workbench.records.bundle import write_bundle

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CUT = """() => [...document.querySelectorAll('.jp-Cell .jp-OutputArea-output')]
  .filter((output) => output.scrollWidth > output.clientWidth + 1)
  .map((output) => `${output.className}: ${output.scrollWidth} > ${output.clientWidth}`)"""
PICTURE = ".jp-OutputArea-output img, .jp-OutputArea-output .main-svg"


@pytest.mark.parametrize("width", [1000, 1440])
def test_a_result_fits_its_cell(show: Show, tmp_path: Path, width: int) -> None:
    path = write_bundle(ordinary(), tmp_path / "saved.ortbench")
    book = show(f"import workbench as wb\nresult = wb.open({str(path)!r})\nresult", "result", width=width)
    page = book.page
    page.locator(PICTURE).first.wait_for()
    assert page.evaluate(CUT) == []
    page.keyboard.press("Control+s")
    page.reload()
    page.locator(PICTURE).first.wait_for()
    assert page.evaluate(CUT) == []
