"""Netron and speedscope as a person opens them: from a notebook, below a base URL, far from their makers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import workbench as wb
from tests.apps.server.conftest import tiny_model
from tests.browser.harness.book import open_book
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab, started_lab
from tests.features.profile import traces
from workbench.apps.server import links
from workbench.apps.server.links import netron_link, speedscope_link

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BASE_URL = "/hub/user/x y/"
HOSTILE = '<img src=x onerror="document.title=\'owned\'"></text><script>document.title="owned"</script>'
INLINE = """() => {
  const script = document.createElement('script');
  script.textContent = 'window.ran = 1';
  document.body.append(script);
  return window.ran;
}"""
FOR_BUTTON = """
import workbench as wb
from workbench.apps.server.links import LinkButton, netron_link
LinkButton(netron_link(wb.load({path!r})))
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server below a base URL, as behind JupyterHub."""
    config = {"ServerApp": {"base_url": "/hub/user/x/"}}
    with started_lab(tmp_path_factory.mktemp("hub"), config=config) as lab:
        yield lab


def opened(pages: Pages, lab: Lab, relative: str) -> Page:
    """With the login of a person who was there before, and the clock of a year from now."""
    page = pages.open(lab.url("login"))
    page.clock.set_system_time(datetime.now(UTC) + timedelta(days=400))
    page.goto(lab.base + relative)
    return page


def test_netron_shows_each_model_its_own_a_year_from_now(hub: Lab, pages: Pages, tmp_path: Path) -> None:
    for name in ("first_node", "second_node"):
        model = wb.load(tiny_model(tmp_path / f"{name}.onnx", name))
        page = opened(pages, hub, netron_link(model).relative)
        expect(page.locator("#canvas .node")).not_to_have_count(0)
        expect(page.locator("body")).to_have_class("default")  # neither asks, nor refuses, nor spins
        expect(page).to_have_title(f"{name}.onnx")
        page.locator("#canvas .node", has_text="Add").first.click()
        expect(page.locator("#sidebar")).to_contain_text(f"{name}")
    pages.picture(page, "netron")
    assert pages.thrown == []


def test_netron_shows_hostile_names_as_text(hub: Lab, pages: Pages, tmp_path: Path) -> None:
    model = wb.load(tiny_model(tmp_path / "hostile.onnx", HOSTILE))
    model.name = HOSTILE
    page = opened(pages, hub, netron_link(model).relative)
    page.locator("#canvas .node", has_text="Add").first.click()
    expect(page.locator("#sidebar")).to_contain_text("<img")
    assert page.locator("img[src=x], #sidebar script").count() == 0
    assert page.title() != "owned"


def test_netron_shows_a_large_model_without_its_weights(
    hub: Lab, pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "MOST_MODEL_BYTES", 1000)
    page = opened(pages, hub, netron_link(wb.load(tiny_model(tmp_path / "l.onnx", dims=100_000))).relative)
    expect(page.locator("#canvas .node", has_text="Add").first).to_be_visible()


def test_speedscope_shows_the_profile(hub: Lab, pages: Pages, tmp_path: Path) -> None:
    feed = {"x": np.ones((2, 16), np.float32)}
    profile = wb.read_profile(traces.trace_of(traces.chain(), tmp_path, feed))
    page = opened(pages, hub, speedscope_link(profile, "my & profile").relative)
    expect(page.get_by_text("Left Heavy")).to_be_visible()
    expect(page).to_have_title("my & profile - speedscope")
    page.get_by_text("Sandwich").click()
    expect(page.get_by_text("(Sigmoid, CPUExecutionProvider)").first).to_be_visible()
    pages.picture(page, "speedscope")
    assert pages.thrown == []


def test_a_page_of_ours_reaches_nobody_else(hub: Lab, pages: Pages, tmp_path: Path) -> None:
    pages.provoked.append("Content Security Policy")
    profile = wb.read_profile(traces.write(tmp_path, [traces.node("first", 0, 5)]))
    page = opened(
        pages, hub, speedscope_link(profile).relative
    )  # Netron's page, of the same policy, has no eval
    expect(page.get_by_text("Left Heavy")).to_be_visible()
    away = "fetch('https://example.org/x').then(() => 'sent', () => 'refused')"
    assert page.evaluate(away) == "refused"
    assert page.evaluate(INLINE) is None, "a script in the page's text ran"
    pages.asked[:] = [url for url in pages.asked if "example.org" not in url]


def test_without_the_login_there_is_only_the_login(hub: Lab, pages: Pages, tmp_path: Path) -> None:
    page = pages.open(hub.base + netron_link(wb.load(tiny_model(tmp_path / "model.onnx"))).relative)
    expect(page.get_by_label("Password or token")).to_be_visible()
    assert "/login?next=" in page.url


@pytest.mark.parametrize("where", [pytest.param("lab", marks=pytest.mark.release), "hub"])
def test_a_button_in_a_notebook_finds_the_way(
    where: str, pages: Pages, tmp_path: Path, lab: Lab, hub: Lab
) -> None:
    server = {"lab": lab, "hub": hub}[where]
    path = tiny_model(tmp_path / "button.onnx", "from_a_button")
    source = FOR_BUTTON.format(path=str(path))
    book = open_book(pages.open(), server, server.write(f"button-{where}.ipynb", source))
    book.run_all()
    with book.page.expect_popup() as popup:
        book.output(0).get_by_role("link", name="Netron").click()
    expect(popup.value).to_have_title("button.onnx")
    assert popup.value.url.startswith(server.base + "workbench/netron/")
    server.stop_kernels()
