"""The harness itself: it sees what it is there to see."""

from __future__ import annotations

import pytest

from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_request_elsewhere_is_noticed(lab: Lab, pages: Pages) -> None:
    pages.provoked.append("net::ERR_UNSAFE_PORT")
    page = pages.open(lab.url("login"))
    page.evaluate("fetch('http://127.0.0.2:9/away').catch(() => null)")
    assert pages.strangers(lab.base) == ["http://127.0.0.2:9/away"]
    pages.asked.clear()


def test_errors_of_a_page_are_noticed(pages: Pages) -> None:
    page = pages.open("about:blank")
    page.evaluate("console.error('written'); setTimeout(() => { throw new Error('thrown'); })")
    until(page, lambda: len(pages.thrown) == 2)
    assert pages.thrown[0].startswith("written")
    assert "thrown" in pages.thrown[1]
    pages.thrown.clear()
