"""The accuracy tab's further pictures on a small real model, without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from workbench.panels.tabs.tab import Page

ACCURACY = 5

pytestmark = pytest.mark.real


def tab(bench: wb.Workbench) -> Page:
    results = bench.panels.results
    results.tabs.selected_index = ACCURACY
    bench.drawer.settle()
    bench.painter.settle()
    page = results.pages[ACCURACY]
    assert isinstance(page, Page)
    return page


def test_without_a_comparison_or_a_precision_the_buttons_say_what_is_missing(bench: wb.Workbench) -> None:
    page = tab(bench)
    assert "Where A or B has a precision" in page.content.children[0].value
    offers = {offer.name: button for offer, button in page.offers}
    for name, fix in (
        ("Why slower", "Press Compare first"),
        ("Layer errors", "Choose one in the section precision"),
        ("Sensitivity", "Choose one in the section precision"),
    ):
        offers[name].click()
        assert fix in page.status.value
        assert bench.state.job is None


def test_reasons_and_layer_errors_are_shown_and_kept_with_the_comparison(
    bench: wb.Workbench, tmp_path: Path
) -> None:
    bench.b = wb.Config(precision=wb.DynamicInt8())
    bench.compare(wait=True)
    for make in (bench.why_slower, bench.layer_errors, bench.sensitivity, bench.accuracy):
        make(wait=True)
    titles = ["why slower, B", "layer errors, B", "sensitivity, B"]
    page = tab(bench)
    assert [one for one in page.boxes if one in titles] == titles
    for title in titles:
        page.which.value = title
        bench.drawer.settle()
        bench.painter.settle()
        (drawn,) = page.boxes[title].body.children
        assert "wbp-error" not in getattr(drawn, "value", "")
        assert page.boxes[title].bundle()["text/plain"]
    reopened = wb.Workbench()
    reopened.show(wb.open(bench.result.save(tmp_path / "result.ortbench")))
    assert list(tab(reopened).boxes) == list(page.boxes)
