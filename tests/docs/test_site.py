"""The site as a reader meets it: built without a warning, read in Chromium, searched without a network."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from docs.build import dead_links, main
from tests.browser.harness.chromium import Pages, screenshot_folder, started_browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OPENED = ("index", "published/00_tour", "how-to/int8", "reference/settings", "panels", "examples")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing for a request."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert main([str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with started_browser() as browser:
        yield browser


@pytest.fixture
def pages(chromium: Browser, address: str, tmp_path: Path) -> Iterator[Pages]:
    """Open pages; fail where one asked another host or wrote an error to the console."""
    pages = Pages(chromium, screenshot_folder(tmp_path))
    yield pages
    assert pages.strangers(address) == []
    assert pages.thrown == []
    pages.close()


def told(message: ConsoleMessage) -> str:
    return f"{message.text} ({message.location['url']})"


def opened(pages: Pages, url: str, **how: object) -> Page:
    page = pages.open(**how)  # type: ignore[arg-type]
    page.on(
        "console", lambda message: pages.thrown.append(told(message)) if message.type == "error" else None
    )
    page.goto(url)
    return page


@pytest.mark.parametrize("name", OPENED)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_a_page_fits_its_window(pages: Pages, address: str, name: str, theme: str, width: int) -> None:
    page = opened(pages, f"{address}/{name}.html", width=width, theme=theme)
    expect(page.locator("h1").first).to_be_visible()
    pages.picture(page, f"{name}-{theme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_is_int8_faster_here_and_still_right_is_two_clicks_away(pages: Pages, address: str) -> None:
    page = opened(pages, f"{address}/index.html")
    page.get_by_role("link", name="Is int8 faster here, and still right?").first.click()
    expect(page.locator("h1")).to_contain_text("int8")
    page.locator("article").get_by_role("link", name="a recorded answer").click()
    expect(page.locator("body")).to_contain_text("slower")


def test_the_search_needs_no_network(pages: Pages, address: str) -> None:
    page = opened(pages, f"{address}/search.html?q=quantization")
    expect(page.locator("#search-results li").first).to_be_visible()


def test_a_dead_link_and_a_stranger_are_found(tmp_path: Path) -> None:
    text = (
        '<a href="gone.html">x</a><a href="#gone">x</a><a id="here" href="#here">x</a>'
        '<img src="https://example.org/x.png">'
    )
    (tmp_path / "page.html").write_text(text, "utf-8")
    assert dead_links(tmp_path) == [
        "page.html links to gone.html, which is not there",
        "page.html links to #gone, which has no such place",
        "page.html loads https://example.org/x.png",
    ]
