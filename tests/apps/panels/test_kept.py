"""What is made in the panels stays with its comparison: saved, exported, reopened, in the history."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.core.models import tiny
from tests.factories import results as examples
from workbench.apps.panels.tabs.results import VIEWS
from workbench.apps.panels.tabs.tab import TabPage
from workbench.features.base.registry import KINDS

pytestmark = pytest.mark.real

KINDS_OFFERED = [  # the model here is no language model
    kind.name for kind in KINDS if kind.button and kind.name != "decoding"
]
BOTH = ("explanation", "profile", "memory", "cold start", "roofline", "findings")
NAMES = {f"{kind}/{label}" for kind in BOTH for label in "AB"} | {
    kind if (per := KINDS.named(kind).per) == "runs" else f"{kind}/{'A' if per == 'baseline' else 'B'}"
    for kind in KINDS_OFFERED
    if kind not in BOTH
}
SECTIONS = ("levels", "ablation", "why-slower", "layer-errors", "sensitivity", "thread-scaling",
            "memory-settings", "accuracy", "memory", "cold-start", "roofline", "graph", "time")  # fmt: skip


def titles(bench: wb.Workbench) -> dict[str, list[str]]:
    """Return the titles of the cards in each tab."""
    shown = {}
    for title in [*(tab.title for tab in VIEWS), "Explore"]:
        bench.panels.results.turn(title)
        settle(bench)
        page: Any = bench.panels.results.pages[title]
        assert isinstance(page, TabPage)
        assert all(bench.state.has_part(kind) for kind in page.kinds if kind in KINDS_OFFERED), title
        shown[title] = list(page.cards)
    return shown


@pytest.mark.slow
@pytest.mark.usefixtures("own_home")
def test_all_that_the_buttons_make_is_in_the_bundle_the_page_and_the_history(
    bench: wb.Workbench, tmp_path: Path
) -> None:
    bench.b = wb.Config(precision=wb.DynamicInt8())
    bench.state.forms = {"versions": {"environments": sys.executable}, "load test": {"duration_s": "0.2"},
                         "replay": {"shapes": "1, 2, 1"},
                         "published files": {"source": str(tmp_path / "published")}}  # fmt: skip
    (tmp_path / "published").mkdir()
    for name in ("model.onnx", "model_fp16.onnx"):
        tiny.save(tiny.mlp(), tmp_path / "published", name)
    bench.compare(wait=True)
    for kind in KINDS_OFFERED:
        bench.run(kind, wait=True)
    assert {part.name for part in bench.result.parts} == NAMES
    assert not bench.state.parts
    shown = titles(bench)
    saved = wb.open(bench.result.save(tmp_path / "kept.ortbench"))
    page = bench.result.export_html(tmp_path / "kept.html").read_text("utf-8")
    for section in SECTIONS:
        assert f'<section id="{section}">' in page
    assert 'class="absent"' not in page
    assert list(wb.history().to_frame()["kind"]) == ["comparison"], "one entry, with all of it"
    for reopened in (saved, wb.history().open(bench.result.record.id)):
        assert {part.name for part in reopened.parts} == NAMES
        again = wb.Workbench()
        again.show(reopened)
        assert titles(again) == shown


@pytest.mark.slow
def test_what_was_made_before_the_comparison_is_kept_with_it(bench: wb.Workbench) -> None:
    bench.set("level", "basic")
    bench.run("levels", wait=True)
    bench.run("explanation", wait=True)
    assert set(bench.state.parts) == {"levels/B", "explanation/A", "explanation/B"}
    bench.compare(wait=True)
    assert {part.name for part in bench.result.parts} == {"levels/B", "explanation/A", "explanation/B"}
    assert not bench.state.parts


@pytest.mark.slow
def test_again_makes_it_again(bench: wb.Workbench) -> None:
    bench.set("level", "basic")
    bench.compare(wait=True)
    bench.run("profile", wait=True)
    first = bench.result.made("profile", "B").to_frame()
    bench.run("profile", wait=True)
    assert not bench.result.made("profile", "B").to_frame().equals(first)
    assert len([part for part in bench.result.parts if part.kind == "profile"]) == 2


@pytest.mark.slow
def test_what_is_made_with_other_inputs_is_no_part_of_the_comparison(bench: wb.Workbench) -> None:
    bench.set("level", "basic")
    bench.compare(wait=True)
    result, code, held = bench.result, bench.code("result"), bench.result.parts
    bench.state.seed = 7
    bench.run("levels", wait=True)
    assert bench.result is None
    assert list(bench.state.parts) == ["levels/B"]
    assert "seed=7" in bench.code("panels")
    bench.state.seed = 0
    assert bench.result is result
    assert result.parts == held
    assert bench.code("result") == code


@pytest.mark.parametrize(("field", "value", "head"), [
    ("level", "basic", "Why"), ("intra_op_threads", 1, "What differs"),
])  # fmt: skip
def test_the_reason_is_there_without_a_click_where_graphs_may_differ(
    bench: wb.Workbench, field: str, value: object, head: str
) -> None:
    place = bench.panels.results.place
    bench.set(field, value)
    bench.compare(wait=True)
    settle(bench)
    assert f"<b>{head}:</b>" in place.why.value


def test_what_is_made_of_a_verdict_from_the_history_is_kept_with_it(bench: wb.Workbench) -> None:
    bench.compare(wait=True)
    identity = bench.result.record.id
    bench.set("level", "disabled")
    bench.show(wb.history().open(identity))
    assert bench.b == wb.Config()
    bench.run("explanation", wait=True)
    assert [part.kind for part in bench.result.parts] == ["explanation"] * 2


@pytest.mark.release
def test_the_code_of_every_card_runs(bench: wb.Workbench) -> None:
    """The code starts from the history if the comparison holds the result, else from the model."""
    bench.set("level", "basic")
    bench.run("explanation", wait=True)
    bench.run("levels", wait=True)
    alone = codes(bench)
    assert all("wb.compare" in code for code in alone)
    bench.compare(wait=True)
    held = codes(bench)
    assert len(held) > len(alone)
    assert all("wb.history().open" in code for code in held)
    for code in (*alone, *held):
        scope: dict[str, Any] = {}
        *before, last = code.splitlines()
        exec("\n".join(before), scope)
        assert eval(last, scope) is not None, code


def codes(bench: wb.Workbench) -> list[str]:
    """Return the code of every card."""
    shown = [bench.card_code(card.code, card.part) for tab in VIEWS for card in tab.all_cards(bench.state)]
    return list(dict.fromkeys(shown))


def test_a_result_that_was_cancelled_is_kept_where_it_says_so(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.compare(wait=True)
    result, state = bench.result, bench.state
    before = result.parts

    def stopped(made: Any) -> Any:
        def make(*_: object, cancel: threading.Event, **__: object) -> Any:
            cancel.set()
            return made

        return make

    scaling = examples.further()["thread scaling"]
    monkeypatch.setattr("workbench.features.variants.threads.threads", stopped(scaling))
    with pytest.raises(wb.Cancelled):
        bench.run("thread scaling", wait=True)
    assert result.parts == before
    monkeypatch.setattr("workbench.features.variants.levels.levels", stopped(wb.Levels(examples.levels())))
    bench.run("levels", wait=True)
    assert [part.name for part in result.parts if part not in before] == ["levels/B"]
    assert state.result is result
    assert state.answer.subject == state.request().subject
