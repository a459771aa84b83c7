"""The accuracy tab's further pictures on a small real model, without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from workbench.apps.panels.tabs.tab import TabPage

ACCURACY = 5

pytestmark = pytest.mark.real


def tab(bench: wb.Workbench) -> TabPage:
    results = bench.panels.results
    results.tabs.selected_index = ACCURACY
    settle(bench)
    page = results.pages[ACCURACY]
    assert isinstance(page, TabPage)
    return page


def test_without_a_comparison_or_a_precision_the_buttons_say_what_is_missing(bench: wb.Workbench) -> None:
    page = tab(bench)
    assert "If A or B has a precision" in page.content.children[0].value
    for name, fix in (
        ("why slower", "Press Compare first"),
        ("layer errors", "Choose one in the section precision"),
        ("sensitivity", "Choose one in the section precision"),
    ):
        page.buttons[name].click()
        assert fix in page.status.value
        assert bench.state.job is None


def test_reasons_and_layer_errors_are_shown_and_kept_with_the_comparison(
    bench: wb.Workbench, tmp_path: Path
) -> None:
    bench.b = wb.Config(precision=wb.DynamicInt8())
    bench.compare(wait=True)
    for kind in ("why slower", "layer errors", "sensitivity", "accuracy"):
        bench.run(kind, wait=True)
    titles = ["causes, B", "layer errors, B", "sensitivity, B"]
    page = tab(bench)
    assert [title for title in page.cards if title in titles] == titles
    for title in titles:
        page.which.value = title.removesuffix(", B")
        settle(bench)
        (drawn,) = page.cards[title].body.children
        assert "wbp-error" not in getattr(drawn, "value", "")
        assert page.cards[title].bundle()["text/plain"]
    reopened = wb.Workbench()
    reopened.show(wb.open(bench.result.save(tmp_path / "result.ortbench")))
    assert list(tab(reopened).cards) == list(page.cards)
