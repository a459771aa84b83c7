"""The mode Improve: its form, what may vary, the configs that were searched, and the code that does it."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.factories import results as examples
from workbench.apps.panels.code import kind_code
from workbench.apps.panels.jobs import wait_for
from workbench.apps.panels.tabs.card import PLOTLY
from workbench.apps.panels.tabs.deploying import PROVEN, Deploying
from workbench.apps.panels.tabs.improve import ImprovePage, SearchedConfigs
from workbench.features.base.registry import KINDS
from workbench.features.improve.result import LIMITS

SPACE = wb.Space.of(level=("basic",), intra_op_threads=(1, 2))
IMPROVE = "workbench.features.improve.result.improve"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, dict[str, Any]]]:
    """The config and the keywords of each call of `wb.improve`."""
    calls: list[tuple[Any, dict[str, Any]]] = []

    def improve(_: Any, config: wb.Config, **options: Any) -> wb.Improvement:
        calls.append((config, options))
        return wb.Improvement(examples.improvement())

    monkeypatch.setattr(IMPROVE, improve)
    return calls


def press(bench: wb.Workbench) -> None:
    """Press Improve and wait for its end."""
    bench.panels.improve.press.click()
    if (job := bench.jobs.running) is not None:
        wait_for(job)
    bench.ui.settle()


def test_improving_under_a_limit_is_a_choice_and_a_click(bench: wb.Workbench, asked: Any) -> None:
    bench.a = wb.Config(memory_pattern=False)
    bench.state.editing = "B"
    bench.panels.improve.fields["max_accuracy_drop"].value = "1"
    press(bench)
    ((config, options),) = asked
    assert config == wb.Config(memory_pattern=False), "the form says: starting from A"
    assert options["limits"] == wb.Goal(max_accuracy_drop=0.01)
    assert "budget_s" not in options
    assert bench.state.held_parts("improvement").keys() == {"A"}


def test_every_limit_of_a_goal_has_a_field(bench: wb.Workbench, asked: Any) -> None:
    row = bench.panels.improve
    assert "max_p99_s" not in row.fields
    row.more.click()
    numbers = {
        "max_accuracy_drop": "1", "max_error": "5", "max_memory_bytes": "64", "max_p99_s": "4",
        "max_load_s": "2.5", "max_file_bytes": "8", "min_speedup": "1.5", "max_p50_s": "3",
        "min_throughput": "20",
    }  # fmt: skip
    assert {*numbers} == {*LIMITS}
    for name, number in numbers.items():
        row.fields[name].value = number
    row.fields["budget_s"].value = "60"
    press(bench)
    goal = wb.Goal(
        max_accuracy_drop=0.01, max_error=0.05, max_memory_bytes=64 << 20, max_load_s=2.5, max_p99_s=0.004,
        max_file_bytes=8 << 20, min_speedup=1.5, max_p50_s=0.003, min_throughput=20.0,
    )  # fmt: skip
    assert (asked[0][1]["limits"], asked[0][1]["budget_s"]) == (goal, 60.0)
    code = kind_code(KINDS.named("improvement"), bench.request())
    assert goal.code.replace("\n", "") in code.replace("\n", "")
    compile(code, "code", "exec")


def test_the_further_limits_fold_and_those_that_are_set_are_in_view(bench: wb.Workbench) -> None:
    row = bench.panels.improve
    assert row.further.children == ()
    bench.state.forms = {"improvement": {"max_p99_s": "4"}}
    assert row.fields["max_p99_s"].value == "4"
    row.more.click()
    assert row.further.layout.display == "none"
    row.more.click()
    assert row.further.layout.display is None


@pytest.mark.parametrize("number", ["nan", "inf", "4 ms", "-1"])
def test_a_limit_that_is_no_number_is_refused(bench: wb.Workbench, number: str) -> None:
    row = bench.panels.improve
    row.more.click()
    row.fields["max_p99_s"].value = number
    row.press.click()
    assert "cannot be read" in row.status.value
    assert bench.state.job is None


def test_what_may_vary_is_offered_and_what_is_left_out_stays_out(
    bench: wb.Workbench, asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Any] = []

    def default_space(*_: Any, limits: Any, **__: Any) -> wb.Space:
        looked.append(limits)
        return SPACE

    monkeypatch.setattr("workbench.features.tune.call.default_space", default_space)
    bench.state.forms = {"improvement": {"max_accuracy_drop": "1"}}
    varying = bench.panels.improve.may_vary
    varying.find.click()
    if (job := bench.jobs.running) is not None:
        wait_for(job)
    bench.ui.settle()
    assert looked == [wb.Goal(max_accuracy_drop=0.01)], "the space follows the limits"
    assert [check.description for check in varying.axes.children] == ["level (1)", "intra_op_threads (2)"]
    assert varying.size.value == "3 changes, 6 combinations"
    varying.checks["intra_op_threads"].value = False
    assert varying.size.value == "1 change, 2 combinations"
    press(bench)
    assert asked[0][1]["without"] == ["intra_op_threads"]
    assert 'without=["intra_op_threads"]' in kind_code(KINDS.named("improvement"), bench.request())
    bench.state.model = None
    assert varying.axes.children == ()
    assert varying.size.value == "as in A: intra_op_threads", "it stays out for the next model, and says so"


def test_a_cancelled_improvement_shows_what_is_proven(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = threading.Event()

    def improve(*_: Any, cancel: threading.Event, **__: Any) -> wb.Improvement:
        began.set()
        assert cancel.wait(60)
        return wb.Improvement(replace(examples.improvement(), ended="It was stopped."))

    monkeypatch.setattr(IMPROVE, improve)
    row = bench.panels.improve
    row.press.click()
    assert began.wait(60)
    job = bench.jobs.running
    assert job is not None
    row.press.click()
    wait_for(job)
    bench.ui.settle()
    assert bench.state.held_parts("improvement")["A"].record.ended == "It was stopped."
    assert bench.state.run_error is None


def improved(bench: wb.Workbench) -> wb.Improvement:
    """Show an improvement whose search tried configs."""
    improvement = wb.Improvement(examples.improvement())
    bench.state.show_parts(bench.state.request(), {"improvement/A": improvement})
    return improvement


def test_the_configs_of_the_search_stand_below_the_answer_and_are_used(bench: wb.Workbench) -> None:
    page = ImprovePage(bench)
    page.show()
    assert page.searched.answer.children == ()
    improved(bench)
    page.show()
    *_, row, table = page.searched.answer.children
    row.children[1].click()
    assert bench.b == examples.study().best_config
    table.picked = ["C"]
    row.children[0].click()
    assert bench.a == examples.study().candidate("C").config
    table.on_act("B")
    assert bench.b == examples.study().candidate("B").config
    page.hide()
    assert page.searched.answer.children == ()


def test_a_point_that_is_clicked_picks_its_row(bench: wb.Workbench) -> None:
    searched = SearchedConfigs(bench)
    searched.show()
    bench.state.study = wb.Study(examples.study())
    _, figure, row, table = searched.answer.children
    plot = figure.outputs[0]["data"][PLOTLY]
    points = {name for trace in plot["data"] if trace.get("meta") == "candidates" for name in trace["ids"]}
    assert points == {"A", "B"}
    assert plot["layout"]["clickmode"] == "event+select"
    bench.page.bridge._answer(None, {"pick": "A"}, None)
    assert table.picked == ["A"]
    assert row.children[-1].value.startswith("A: ")
    searched.hide()
    bench.page.bridge._answer(None, {"pick": "B"}, None)
    assert table.picked == ["A"], "out of sight"


def test_the_proven_config_is_the_one_to_deploy(bench: wb.Workbench) -> None:
    deploying = Deploying(bench)
    assert deploying.buttons["Deploy"].disabled
    improvement = improved(bench)
    settle(bench)
    assert list(deploying.label.options) == [PROVEN]
    assert not deploying.buttons["Deploy"].disabled
    assert deploying.configs[PROVEN] == improvement.config


def test_another_model_forgets_the_study(bench: wb.Workbench) -> None:
    searched = SearchedConfigs(bench)
    searched.show()
    bench.state.study = wb.Study(examples.study())
    assert searched.answer.children
    bench.state.model = None
    assert searched.answer.children == ()
    assert bench.state.study is None
