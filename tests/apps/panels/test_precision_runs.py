"""The accuracy tab's further pictures on a small real model, without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from tests.apps.panels.conftest import line_of, settle
from workbench.apps.panels.tabs.tab import TabPage

VIEWS = {"why slower": "Where time goes", "layer errors": "Outputs", "sensitivity": "Outputs"}

pytestmark = pytest.mark.real


def view(bench: wb.Workbench, kind: str) -> TabPage:
    results = bench.panels.results
    results.turn(VIEWS[kind], kind)
    settle(bench)
    page = results.pages[VIEWS[kind]]
    assert isinstance(page, TabPage)
    return page


def test_without_a_comparison_or_a_precision_the_buttons_say_what_is_missing(bench: wb.Workbench) -> None:
    for name, fix in (
        ("why slower", "Press Compare first"),
        ("layer errors", "Choose one in the line of a config"),
        ("sensitivity", "Choose one in the line of a config"),
    ):
        line = line_of(view(bench, name), name)
        line.run.click()
        assert fix in line.status.value
        assert bench.state.job is None


@pytest.mark.slow
def test_reasons_and_layer_errors_are_shown_and_kept_with_the_comparison(
    bench: wb.Workbench, tmp_path: Path
) -> None:
    bench.b = wb.Config(precision=wb.DynamicInt8())
    bench.compare(wait=True)
    for kind in ("why slower", "layer errors", "sensitivity", "accuracy"):
        bench.run(kind, wait=True)
    for kind in VIEWS:
        card = view(bench, kind).cards[f"{kind}, B"]
        (drawn,) = card.body.children
        assert "wbp-error" not in getattr(drawn, "value", "")
        assert card.bundle()["text/plain"]
    reopened = wb.Workbench()
    reopened.show(wb.open(bench.result.save(tmp_path / "result.ortbench")))
    for kind in VIEWS:
        assert list(view(reopened, kind).cards) == list(view(bench, kind).cards)
