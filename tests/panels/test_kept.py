"""What is made in the panels stays with its comparison: saved, exported, reopened, in the history."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.factories import results as examples
from workbench.panels.jobs import Job
from workbench.panels.running import subject_of
from workbench.panels.state import BenchState
from workbench.panels.tabs.results import TABS
from workbench.panels.tabs.tab import Page

pytestmark = pytest.mark.real

Press = Callable[[wb.Workbench], None]
PRESSES: dict[str, Press] = {
    "explanation": lambda bench: bench.explain(wait=True),
    "profile": lambda bench: bench.profile(wait=True),
    "levels": lambda bench: bench.levels(wait=True),
    "ablation": lambda bench: bench.ablate(wait=True),
    "memory": lambda bench: bench.memory(wait=True),
    "cold start": lambda bench: bench.cold_start(wait=True),
    "memory settings": lambda bench: bench.memory_settings(wait=True),
    "roofline": lambda bench: bench.roofline(wait=True),
    "thread scaling": lambda bench: bench.threads(wait=True),
    "accuracy": lambda bench: bench.accuracy(wait=True),
    "why slower": lambda bench: bench.why_slower(wait=True),
    "layer errors": lambda bench: bench.layer_errors(wait=True),
    "sensitivity": lambda bench: bench.sensitivity(wait=True),
}
BOTH = ("explanation", "profile", "memory", "cold start", "roofline")
NAMES = {f"{kind}/{label}" for kind in BOTH for label in "AB"} | {
    kind if kind == "accuracy" else f"{kind}/B" for kind in PRESSES if kind not in BOTH
}
SECTIONS = ("levels", "ablation", "why-slower", "layer-errors", "sensitivity", "thread-scaling",
            "memory-settings", "accuracy", "memory", "start", "roofline", "graph", "time")  # fmt: skip


def titles(bench: wb.Workbench) -> dict[str, list[str]]:
    """What each tab offers to look at."""
    found = {}
    for place, tab in enumerate(TABS):
        bench.panels.results.tabs.selected_index = place
        bench.drawer.settle()
        bench.painter.settle()
        page: Any = bench.panels.results.pages[place]
        assert isinstance(page, Page)
        assert page.apart.value == ""
        assert all(offer.ready(bench) for offer, _ in page.offers), tab.title
        found[tab.title] = list(page.boxes)
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("own_home")
def test_all_that_the_buttons_make_is_in_the_bundle_the_page_and_the_history(
    bench: wb.Workbench, tmp_path: Path
) -> None:
    bench.b = wb.Config(precision=wb.DynamicInt8())
    bench.compare(wait=True)
    for press in PRESSES.values():
        press(bench)
    assert {part.name for part in bench.result.parts} == NAMES
    assert not bench.state.parts
    seen = titles(bench)
    saved = wb.open(bench.result.save(tmp_path / "kept.ortbench"))
    page = bench.result.export_html(tmp_path / "kept.html").read_text("utf-8")
    for section in SECTIONS:
        assert f'<section id="{section}">' in page
    assert 'class="absent"' not in page
    assert list(wb.history().to_frame()["kind"]) == ["comparison"], "one entry, with all of it"
    for found in (saved, wb.history().open(bench.result.record.id)):
        assert {part.name for part in found.parts} == NAMES
        again = wb.Workbench()
        again.show(found)
        assert titles(again) == seen


def test_what_was_made_before_the_comparison_is_kept_with_it(bench: wb.Workbench) -> None:
    bench.set("level", "basic")
    bench.levels(wait=True)
    bench.explain(wait=True)
    assert set(bench.state.parts) == {"levels/B", "explanation/A", "explanation/B"}
    assert not bench.state.parts_apart, "no verdict stands above it"
    bench.compare(wait=True)
    assert {part.name for part in bench.result.parts} == {"levels/B", "explanation/A", "explanation/B"}
    assert not bench.state.parts


def test_again_makes_it_again(bench: wb.Workbench) -> None:
    bench.set("level", "basic")
    bench.compare(wait=True)
    bench.cold_start(wait=True)
    first = bench.result.made("cold start", "B").record
    bench.cold_start(wait=True)
    assert bench.result.made("cold start", "B").record != first
    assert len(bench.result.parts) == 2


def test_what_is_made_with_other_inputs_is_no_part_of_the_comparison(bench: wb.Workbench) -> None:
    bench.set("level", "basic")
    bench.compare(wait=True)
    code = bench.code("result")
    bench.state.seed = 7
    bench.levels(wait=True)
    assert bench.result.parts == ()
    assert bench.state.parts_apart
    assert bench.code("result") == code, "the code of what was measured, not of what would be"
    assert "seed=7" in bench.code("panels")


def test_under_a_verdict_from_the_history_new_things_are_told_apart(bench: wb.Workbench) -> None:
    bench.compare(wait=True)
    bench.set("level", "disabled")
    bench.show(wb.history().open(bench.result.record.id))
    bench.explain(wait=True)
    assert bench.state.parts_apart
    assert bench.result.parts == ()


@pytest.mark.slow
def test_the_code_of_every_piece_runs(bench: wb.Workbench) -> None:
    """From the history where the comparison holds it, else from the model on."""
    bench.set("level", "basic")
    bench.explain(wait=True)
    bench.levels(wait=True)
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
    """Of all pieces there are."""
    found = [bench.reopening(one.code, one.of) for tab in TABS for one in tab.pieces(bench)]
    return list(dict.fromkeys(found))


def test_what_was_cancelled_is_not_kept(bench: wb.Workbench) -> None:
    bench.compare(wait=True)
    result, state = bench.result, bench.state

    def make(_: BenchState, __: object) -> Callable[[Job], dict[str, Any]]:
        def work(job: Job) -> dict[str, Any]:
            job.cancel.set()
            return {"levels/B": wb.Levels(examples.levels())}

        return work

    with pytest.raises(wb.Cancelled):
        bench._run_parts("Levels", make, True)
    assert result.parts == ()
    assert state.result is result
    assert state.result_subject == subject_of(state)
