"""The findings tab without a browser: cards, links, trying a fix, using it as B, copying the code."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import drain, settle
from tests.apps.widgets import buttons, htmls
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from tests.factories.graphs import HOSTILE
from workbench.apps.panels.code import kind_code
from workbench.apps.panels.fixes import fix_code
from workbench.apps.panels.tabs.findings import MOST_LINKS
from workbench.apps.panels.tabs.form import FormLine
from workbench.apps.panels.tabs.improve import ImprovePage
from workbench.core.errors import Cancelled
from workbench.features.base.registry import KINDS
from workbench.features.findings.fix_result import FixResult
from workbench.features.findings.html import gain_html
from workbench.features.findings.record import FindingRecord, FindingsRecord, Fix, Gain, NotLooked
from workbench.features.findings.result import Finding, FixTarget
from workbench.features.improve.html import steps_html
from workbench.features.improve.record import ImprovementStep

LARGE = examples.findings().large[0]


def tab(bench: wb.Workbench) -> ImprovePage:
    """Return the page of the mode improve, filled."""
    bench.panels.results.turn("Improve")
    settle(bench)
    page: Any = bench.panels.results.pages["Improve"]
    assert isinstance(page, ImprovePage)
    return page


def holding(bench: wb.Workbench, record: FindingsRecord, subject: FixTarget | None = None) -> ImprovePage:
    """Return the page after Find improvements made this record for B."""
    found = wb.Findings.made({"A": record}, None, subject)
    bench.state.show_parts(bench.state.request(), {"findings/B": found})
    return tab(bench)


def words(page: ImprovePage) -> str:
    return "\n".join(htmls(page.widget))


def code_of(bench: wb.Workbench, finding: FindingRecord) -> str:
    """Return the code of a finding of B."""
    return fix_code(bench.state.request_made(), bench.state.held_parts("findings")["B"], finding)


def measured(verdict: bool = True) -> Any:
    """Return the result of a fix that was tried."""
    return FixResult(LARGE, verdict, "B is 1.31 times as fast.", wb.Config(), wb.Comparison(ordinary()))


def test_the_empty_tab_says_what_it_does_and_offers_to_look() -> None:
    page = tab(wb.Workbench())
    assert page.look.run.description == "Find improvements"
    assert "with a fix and its predicted gain" in words(page)
    assert page.findings == []
    assert page.list.children == ()


def test_large_findings_get_a_card_in_their_order_and_the_rest_is_folded(bench: wb.Workbench) -> None:
    record = examples.findings()
    second = replace(LARGE, id="other", title="second", gain=replace(LARGE.gain, share=0.1))
    page = holding(bench, replace(record, findings=(LARGE, second, *record.small)))
    assert [card.finding for card in page.findings] == [LARGE, second]
    text = words(page)
    assert (
        f"<b>B · {record.model_name}: 2 findings worth a try</b> (2 rules looked, 1 could not (&lt;img"
        in text
    )
    assert "<summary>1 small thing, each predicted below" in text
    assert "<summary>which rules could not look, and why</summary>" in text
    assert "✓ Fine: all is well" in text


def test_findings_of_both_configs_stand_below_each_other(bench: wb.Workbench) -> None:
    parts = {f"findings/{label}": wb.Findings.made({"A": examples.findings()}) for label in "AB"}
    bench.state.show_parts(bench.state.request(), parts)
    page = tab(bench)
    assert [card.label for card in page.findings] == ["A", "B"]


def test_no_text_of_a_finding_is_taken_for_markup(bench: wb.Workbench) -> None:
    record = examples.findings()
    nodes = tuple(f"{HOSTILE}{number}" for number in range(9))
    bad = replace(
        LARGE, nodes=nodes, caution=HOSTILE, fix=replace(LARGE.fix, code=HOSTILE), confidence=HOSTILE
    )  # type: ignore[arg-type]
    record = replace(
        record, model_name=HOSTILE, findings=(bad, *record.small), looked=(HOSTILE,), fine=(HOSTILE,)
    )
    improved = wb.Improvement(replace(examples.improvement(), model_name=HOSTILE, ended=HOSTILE))
    page = holding(bench, record)
    bench.state.show_parts(bench.state.request(), {"improvement/B": improved})
    page.findings[0].links.all.click()
    bench.state.tried = {page.findings[0].key: replace(measured(), reason=HOSTILE)}
    text = words(tab(bench))
    assert "&lt;" in text
    assert "<img" not in text
    assert "<script" not in text
    assert "alert(1)" not in text or "onerror=&quot;" in text


@pytest.mark.parametrize(
    ("gain", "confidence", "expected"),
    [
        (Gain("time", 0.0004, 0.0003, 0.0005, 0.2), "sure", ">1.25×<"),
        (Gain("time", 0.0004, 0.0003, 0.0005, 0.2), "likely", ">≈ 1.25×<"),
        (Gain("time", 0.0012, 0.00046, 0.00143, 0.6), "likely", ">at least 1.3×<"),
        (Gain("time", None, None, None, None), "maybe", "to be measured"),
        (Gain("load", 0.131, None, None, 0.24), "sure", ">131 ms</div><div>less load time"),
        (Gain("memory", 245e6, None, None, 0.5), "sure", ">234 MiB</div><div>less memory"),
        (Gain("correctness", None, None, None, None), "sure", "correctness"),
    ],
)
def test_the_gain_is_a_speed_up_a_time_or_a_size(gain: Gain, confidence: Any, expected: str) -> None:
    assert expected in gain_html(replace(LARGE, gain=gain, confidence=confidence))


def test_the_interval_of_a_gain_is_one_of_ratios() -> None:
    assert "<div>1.18 to 1.33</div>" in gain_html(LARGE)
    assert " to " not in gain_html(replace(LARGE, gain=replace(LARGE.gain, low=None)))
    assert " to " not in gain_html(replace(LARGE, gain=replace(LARGE.gain, high=0.003))), "more than all"


def test_a_link_selects_a_node_in_every_view(bench: wb.Workbench) -> None:
    finding = replace(LARGE, nodes=("first", "second"))
    card = holding(bench, replace(examples.findings(), findings=(finding,))).findings[0]
    card.links.links["second"].click()
    assert bench.state.selected == ("second",)
    assert "wbp-selected" in card.links.links["second"]._dom_classes
    assert "wbp-selected" not in card.links.links["first"]._dom_classes
    bench.state.selected = ("first",)
    assert "wbp-selected" in card.links.links["first"]._dom_classes


def test_many_nodes_are_selected_at_once_and_picked_from_a_table(bench: wb.Workbench) -> None:
    nodes = tuple(f"node{number}" for number in range(MOST_LINKS + 5))
    finding = replace(LARGE, nodes=nodes)
    links = holding(bench, replace(examples.findings(), findings=(finding,))).findings[0].links
    assert len(links.links) < MOST_LINKS
    assert links.all.description == "all 8 nodes"
    links.all.click()
    assert bench.state.selected == nodes
    (table,) = links.listing.children
    assert tuple(table.picked) == nodes
    table.picked = ["node7"]
    assert bench.state.selected == ("node7",)
    links.all.click()
    assert links.listing.children == ()


def test_use_as_b_sets_the_config_of_the_fix(bench: wb.Workbench) -> None:
    card = holding(bench, examples.findings()).findings[0]
    card.use.click()
    assert bench.b == LARGE.fix.config
    assert "B is set" in card.status.value
    bench.state.undo()
    assert bench.b == wb.Config()


def test_a_fix_that_is_no_change_of_the_config_has_no_button_to_try_it(bench: wb.Workbench) -> None:
    finding = replace(LARGE, fix=Fix("export", "export it anew", code="model.eval()"))
    card = holding(bench, replace(examples.findings(), findings=(finding,))).findings[0]
    names = [*buttons(card.buttons)]
    assert names == ["Copy code"]
    assert "<code>model.eval()</code>" in "\n".join(htmls(card.widget))
    assert code_of(bench, finding).endswith("\nfinding")


@pytest.mark.parametrize(("kept", "expected"), [(True, "✓ Kept"), (False, "✗ Not kept")])
def test_try_it_shows_the_outcome_on_the_card(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch, kept: bool, expected: str
) -> None:
    asked: list[tuple[Finding, float | None]] = []

    def try_fix(finding: Finding, budget_s: float | None, **_: Any) -> FixResult:
        asked.append((finding, budget_s))
        return measured(kept)

    monkeypatch.setattr(Finding, "try_fix", try_fix)
    subject = FixTarget(bench.state.model)
    card = holding(bench, examples.findings(), subject).findings[0]
    bench.try_fix("B", LARGE, wait=True)
    ((finding, budget_s),) = asked
    assert (finding.record, finding.config, finding.subject) == (LARGE, examples.findings().config, subject)
    assert budget_s == bench.state.budget_s
    assert expected in card.outcome.value
    assert "B is 1.31 times as fast." in card.outcome.value
    assert card.try_it.description == "Try it again"
    assert tab(bench).findings == [card], "the cards stay, and so does the focus"


def test_a_fix_on_the_screen_can_be_tried_after_findings_were_looked_for_again(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second look gives the same finding other numbers."""
    asked: list[FindingRecord] = []

    def try_fix(finding: Finding, _: float | None, **__: Any) -> FixResult:
        asked.append(finding.record)
        return measured()

    monkeypatch.setattr(Finding, "try_fix", try_fix)
    again = replace(examples.findings(), findings=(replace(LARGE, cost_s=0.001),))
    holding(bench, again, FixTarget(bench.state.model))
    bench.try_fix("B", LARGE, wait=True)
    settle(bench)
    assert asked == [LARGE]
    assert f'["{LARGE.id}"]' in bench.state.done[-1]
    assert bench.state.bug == ""


def test_a_running_fix_shows_its_progress_on_its_card_and_can_be_cancelled(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def try_fix(_: Finding, __: float | None, cancel: threading.Event, **___: Any) -> FixResult:
        begun.set()
        cancel.wait()
        raise Cancelled("It was cancelled.", "Run it again.")

    monkeypatch.setattr(Finding, "try_fix", try_fix)
    other = replace(LARGE, id="other", title="other")
    record = replace(examples.findings(), findings=(LARGE, other))
    first, second = holding(bench, record, FixTarget(bench.state.model)).findings
    first.try_it.click()
    begun.wait()
    drain(bench.ui)
    assert "wbp-progress" in first.outcome.value
    assert (first.try_it.description, first.try_it.disabled) == ("Cancel", False)
    assert (second.outcome.value, second.try_it.disabled) == ("", True)
    job = bench.jobs.running
    assert job is not None
    first.try_it.click()
    job.finished.wait()
    assert isinstance(bench.state.run_error, Cancelled)
    assert (first.try_it.description, first.outcome.value) == ("Try it", "")
    assert not second.try_it.disabled
    assert bench.state.tried == {}


def test_what_could_not_be_started_is_said_on_the_card(bench: wb.Workbench) -> None:
    card = holding(bench, examples.findings()).findings[0]
    bench.state.model = None
    card.try_it.click()
    assert "about something else than what is set" in card.status.value


def test_the_code_of_a_card_finds_the_same_finding(bench: wb.Workbench) -> None:
    double = replace(LARGE, title="the same rule again")
    bench.state.seed = 7
    holding(bench, replace(examples.findings(), findings=(LARGE, double)))
    first, second = (code_of(bench, finding) for finding in (LARGE, double))
    assert 'inputs = model.inputs(seed=7)\n\nfinding = wb.findings(model, config, inputs=inputs)["' in first
    assert first.endswith("b = finding.fix.config\nfinding.try_fix(0.2)")
    assert "inputs=inputs)[1]" in second
    compile(first, "code", "exec")


def test_the_code_names_the_examples_that_a_finding_about_accuracy_rests_on(bench: wb.Workbench) -> None:
    lost = replace(LARGE, id="accuracy-lost")
    judged = replace(examples.findings(), findings=(lost,), looked=("accuracy-lost",))
    holding(bench, judged)
    assert "data=" not in code_of(bench, lost), "no example has a label"
    bench.state.data = "examples.npz"
    holding(bench, judged)
    call = 'wb.findings(model, config, inputs=inputs, data="examples.npz")["accuracy-lost"]'
    assert call in code_of(bench, lost)
    holding(bench, replace(judged, looked=()))
    assert "data=" not in code_of(bench, lost), "no accuracy was measured"


def test_the_code_names_the_evaluation_set_of_a_trained_sample(bench: wb.Workbench) -> None:
    lost = replace(LARGE, id="accuracy-lost")
    bench.load("digits-conv", wait=True)
    holding(bench, replace(examples.findings(), findings=(lost,), looked=("accuracy-lost",)))
    assert 'wb.findings(model, config, data="digits-conv")["accuracy-lost"]' in code_of(bench, lost)


def test_what_was_tried_stands_above_the_findings_and_can_be_used(bench: wb.Workbench) -> None:
    improvement = wb.Improvement(examples.improvement())
    bench.state.show_parts(bench.state.request(), {"improvement/B": improvement})
    page = tab(bench)
    text = words(page)
    assert "2 fixes tried, 1 kept" in text
    assert "at least 1.10×" in text
    assert "predicted 1.25×" in text
    assert "the end" in text
    (box,) = page.tried.children
    buttons(box)["Use as B"].click()
    assert bench.b == improvement.config


def test_a_step_without_a_measurement_says_so() -> None:
    step = ImprovementStep(LARGE, False, "it could not be run", None, None, None)
    assert "not measured" in steps_html("B", replace(examples.improvement(), steps=(step,)))
    absurd = steps_html("B", replace(examples.improvement(), steps=(replace(step, ratio=9.0),)))
    assert "not settled" in absurd
    assert "9.00" not in absurd
    wide = steps_html(
        "B", replace(examples.improvement(), steps=(replace(step, ratio=1.0, low=0.66, high=1.53),))
    )
    assert "not settled" in wide
    assert "up to" not in wide
    nothing = replace(examples.improvement(), steps=(), search=None, comparison=None)
    assert "nothing was tried" in nothing.headline
    assert "✗ Not kept" in measured(False).html


def test_a_fix_without_a_verdict_is_not_settled() -> None:
    record = ordinary()
    open_verdict = replace(record.verdict, kind="unknown")
    comparison = wb.Comparison(replace(record, verdicts=(open_verdict, *record.verdicts[1:])))
    assert "Not settled yet" in replace(measured(False), comparison=comparison).html


def test_try_all_may_lose_as_much_accuracy_as_the_boxes_say(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def improve(_: Any, __: wb.Config, **options: Any) -> wb.Improvement:
        asked.append(options)
        return wb.Improvement(examples.improvement())

    monkeypatch.setattr("workbench.features.improve.result.improve", improve)
    line = FormLine(bench, KINDS.named("improvement").offer)
    drop, seconds = (line.fields[name] for name in ("max_accuracy_drop", "budget_s"))
    drop.value, seconds.value = "1", "60"
    bench.run("improvement", wait=True)
    assert (asked[0]["limits"], asked[0]["budget_s"]) == (wb.Goal(max_accuracy_drop=0.01), 60.0)
    code = kind_code(KINDS.named("improvement"), bench.request())
    assert "wb.improve(model, a, limits=wb.Goal(max_accuracy_drop=0.01), budget_s=60.0" in code
    compile(code, "code", "exec")
    drop.value, seconds.value = "", ""
    bench.run("improvement", wait=True)
    assert not {"limits", "budget_s"} & asked[1].keys()
    line.fields["max_error"].value = "much"
    line.run.click()
    assert "cannot be read" in line.status.value


def test_nothing_found_is_said_with_what_could_not_be_looked_for(bench: wb.Workbench) -> None:
    missing = (NotLooked("a", "no labels"), NotLooked("b", "no GPU"))
    record = replace(examples.findings(), findings=(), looked=tuple("abc"), not_looked=missing)
    bench.state.show_parts(bench.state.request(), {"findings/B": wb.Findings.made({"A": record})})
    page = tab(bench)
    head, *rest = htmls(page.list)
    assert (
        "nothing found that is worth your time: 3 rules looked, 2 could not (no labels, no GPU)</b>" in head
    )
    assert "rules looked" not in "".join(rest), "the head has said it"
    assert "<summary>which rules could not look, and why</summary>" in "".join(rest)


def test_the_prediction_stands_beside_the_measurement() -> None:
    result = replace(measured(), finding=replace(LARGE, gain=Gain("time", 0.0004, 0.0003, 0.0005, 0.2)))
    ratio = result.comparison.verdict.ratio
    assert result.prediction == f"predicted 1.25× (1.18 to 1.33), measured {ratio:.2f}×"
    assert result.prediction in result.html
    assert result.prediction in str(result)
    load = replace(LARGE, gain=Gain("load", 0.131, None, None, 0.24))
    assert replace(result, finding=load).prediction.startswith("predicted 131 ms less, measured ")
    unknown = replace(LARGE, gain=Gain("time", None, None, None, None))
    assert replace(result, finding=unknown).prediction == ""


@pytest.mark.real
@pytest.mark.slow
def test_the_buttons_find_and_try_what_is_wrong(bench: wb.Workbench) -> None:
    bench.set("level", "disabled")
    bench.compare(wait=True)
    bench.run("findings", wait=True)
    findings = bench.state.held_parts("findings")
    assert set(findings) == {"A", "B"}
    tried: list[FindingRecord] = [found for found in findings["B"].record.findings if found.fix.config]
    assert tried, "a disabled level is found"
    bench.try_fix("B", tried[0], wait=True)
    (result,) = bench.state.tried.values()
    assert result.comparison.runs[0].config == bench.b
    again = wb.Workbench()
    again.show(wb.history().open(bench.result.record.id), wait=True)
    assert again.state.model.path == bench.state.model.path
    again.state.budget_s = 1.0
    again.try_fix("B", tried[0], wait=True)
    assert len(again.state.tried) == 1, "the open model is that of the comparison from the history"
