"""The tune tab: what may vary, the search, its answer, and the code that does the same."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.factories.results import study
from workbench.apps.panels import tuning
from workbench.apps.panels.jobs import wait_for
from workbench.apps.panels.tabs.figure import PLOTLY
from workbench.apps.panels.tabs.tune import TunePage
from workbench.apps.panels.tuning import TuneChoice, tune_code
from workbench.core.bundle.goal import Goal

SPACE = wb.Space.of(level=("basic",), intra_op_threads=(1, 2))


def test_the_space_is_offered_as_check_boxes_with_its_size(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "default_space", lambda *_, **__: SPACE)
    page = TunePage(bench)
    bench.start(tuning.space_action(page.choice), wait=True)
    bench.ui.settle()
    assert [check.description for check in page.axes.children] == ["level (1)", "intra_op_threads (2)"]
    assert page.size.value == "3 changes, 6 combinations, at most 120 s"
    bench.state.dims = (("batch", 2),)
    assert "Start looks again" in page.size.value
    bench.state.dims = ()
    page.checks["intra_op_threads"].value = False
    assert page.size.value == "1 change, 2 combinations, at most 120 s"
    assert page.choice.left_out == ("intra_op_threads",)
    page.goal.budget.value = 60
    assert page.size.value == "1 change, 2 combinations, at most 60 s"


def test_the_space_follows_the_limits_though_it_was_looked_for_before_they_were_typed(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[wb.Space] = []
    with_int8 = SPACE.including(precision=(wb.DynamicInt8(),))

    def default_space(*_: Any, limits: Goal, **__: Any) -> wb.Space:
        return with_int8 if limits.max_accuracy_drop else SPACE

    def tune(_: Any, space: wb.Space, *__: Any, **___: Any) -> wb.Study:
        searched.append(space)
        return wb.Study(study())

    monkeypatch.setattr(tuning, "default_space", default_space)
    monkeypatch.setattr(tuning, "tune", tune)
    page = TunePage(bench)
    bench.start(tuning.space_action(page.choice), wait=True)
    bench.ui.settle()
    page.checks["level"].value = False
    page.goal.limits["max_accuracy_drop"].value = "1"
    assert "Start looks again" in page.size.value
    page.buttons["Copy as Python"].click()
    assert "found for another goal" in page.status.value
    page.buttons["Start"].click()
    if (job := bench.jobs.running) is not None:
        wait_for(job)
    bench.ui.settle()
    assert searched == [with_int8.without("level")]
    assert {name: check.value for name, check in page.checks.items()} == {
        "level": False, "intra_op_threads": True, "precision": True,
    }  # fmt: skip
    assert page.size.value == "3 changes, 6 combinations, at most 120 s"
    page.buttons["Copy as Python"].click()
    assert "found for another goal" not in page.status.value
    code = tune_code(bench.request(), page.choice)
    assert "limits=limits" in code
    assert '.without("level")' in code
    page.goal.limits["max_accuracy_drop"].value = ""
    page.checks["precision"].value = False
    page.buttons["Start"].click()
    if (job := bench.jobs.running) is not None:
        wait_for(job)
    assert searched[-1] == SPACE.without("level"), "int8 that was left out is not there to leave out"


def test_start_searches_what_is_checked_from_a(
    bench: wb.Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def tune(*arguments: Any, **options: Any) -> wb.Study:
        asked.append((arguments, options))
        return wb.Study(study())

    monkeypatch.setattr(tuning, "tune", tune)
    bench.a = wb.Config(memory_pattern=False)
    bench.state.data = str(tmp_path / "labelled.npz")
    np.savez(bench.state.data, **bench.state.model.inputs().feeds[0])
    page = TunePage(bench)
    bench.state.space = SPACE
    page.checks["level"].value = False
    page.goal.limits["max_accuracy_drop"].value, page.goal.limits["max_memory_bytes"].value = "1", "64"
    page.buttons["Start"].click()
    if (job := bench.jobs.running) is not None:
        wait_for(job)
    bench.ui.settle()
    (_, space, objective, goal, budget_s), options = asked[-1]
    assert [axis.name for axis in space.axes] == ["intra_op_threads"]
    assert (objective, budget_s) == ("latency", 120.0)
    assert goal == Goal(max_accuracy_drop=0.01, max_memory_bytes=64 << 20)
    assert options["base"] == wb.Config(memory_pattern=False)
    assert options["data"] == bench.state.data
    assert bench.state.study is not None


def test_the_answer_has_a_table_whose_configs_are_used(bench: wb.Workbench) -> None:
    page = TunePage(bench)
    page.show()
    assert "every change alone" in page.answer.children[0].value
    bench.state.study = wb.Study(study())
    *_, row, table = page.answer.children
    row.children[1].click()
    assert bench.b == study().best_config
    table.picked = ["C"]
    row.children[0].click()
    assert bench.a == study().candidate("C").config
    table.on_act("C")
    assert bench.b == study().candidate("C").config
    page.hide()
    assert page.answer.children == ()


def test_the_candidates_and_the_front_so_far_are_shown_while_it_runs(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured, stop = threading.Event(), threading.Event()

    def tune(*_: Any, on_round: Any, **__: Any) -> wb.Study:
        on_round(wb.Study(study()))
        measured.set()
        assert stop.wait(60)
        raise wb.Cancelled("stopped on request", "start it again")

    monkeypatch.setattr(tuning, "tune", tune)
    page = TunePage(bench)
    page.show()
    bench.state.space = SPACE
    page.buttons["Start"].click()
    assert measured.wait(60)
    job = bench.jobs.running
    assert job is not None
    bench.state.job = job.view()
    state, *_, table = page.answer.children
    assert "B leads with 1.3×, not confirmed yet. A stop now keeps 5 rounds in the history" in state.value
    table.on_act("B")
    assert bench.b == study().candidate("B").config
    stop.set()
    wait_for(job)
    bench.ui.settle()
    assert bench.state.study is not None
    assert page.answer.children[0].value == ""


def test_two_objectives_are_asked_for_together(bench: wb.Workbench) -> None:
    page = TunePage(bench)
    assert page.goal.callers.layout.display == "none"
    page.goal.second.value = "throughput"
    assert page.goal.callers.layout.display is None
    page.goal.callers.value = 8
    code = tune_code(bench.request(), page.choice)
    assert 'objective=["latency", "throughput"]' in code
    assert "callers=8" in code


def test_what_is_no_number_is_said_beside_it(bench: wb.Workbench) -> None:
    page = TunePage(bench)
    page.goal.limits["max_memory_bytes"].value = "much"
    page.buttons["What may vary"].click()
    assert "is no number" in page.status.value
    assert bench.state.job is None


def test_another_model_forgets_the_study(bench: wb.Workbench) -> None:
    TunePage(bench)
    bench.state.space, bench.state.study = SPACE, wb.Study(study())
    bench.state.model = None
    assert (bench.state.space, bench.state.study) == (None, None)


def test_the_code_does_the_same(bench: wb.Workbench) -> None:
    bench.a = wb.Config(memory_pattern=False)
    bench.state.seed = 3
    choice = TuneChoice("memory", Goal(max_accuracy_drop=0.01), 60.0, ("level",))
    code = tune_code(bench.request(), choice)
    compile(code, "code", "exec")
    assert code.endswith("budget_s=60.0, space=space)\nstudy")
    assert 'objective="memory"' in code
    assert "limits = wb.Goal(max_accuracy_drop=0.01)" in code
    assert "base = wb.Config(memory_pattern=False)" in code
    assert '.without("level")' in code


def test_the_code_judges_the_accuracy_on_the_same_data(bench: wb.Workbench) -> None:
    bench.state.data = "labelled.npz"
    code = tune_code(bench.request(), TuneChoice(left_out=("level",)))
    *_, space, _, study_line, _ = code.splitlines()
    assert 'data="labelled.npz"' in study_line
    assert "data=" not in space, "wb.default_space takes no data"


def test_every_limit_has_a_field(bench: wb.Workbench) -> None:
    page = TunePage(bench)
    numbers = {
        "accuracy drop": "1", "error": "5", "memory": "64", "p99": "4", "load time": "2.5", "file": "8",
        "speed-up": "1.5", "p50": "3", "throughput": "20",
    }  # fmt: skip
    for field in page.goal.limits.values():
        field.value = numbers[field.description]
    goal = page.choice.goal
    assert goal == Goal(
        max_accuracy_drop=0.01, max_error=0.05, max_memory_bytes=64 << 20, max_load_s=2.5, max_p99_s=0.004,
        max_file_bytes=8 << 20, min_speedup=1.5, max_p50_s=0.003, min_throughput=20.0,
    )  # fmt: skip
    assert None not in [getattr(goal, name) for name in Goal.__dataclass_fields__]


def test_the_further_limits_are_folded(bench: wb.Workbench) -> None:
    page = TunePage(bench)
    for display in ("none", None, "none"):
        assert page.fold.layout.display == display
        page.buttons["More limits"].click()


@pytest.mark.parametrize("number", ["nan", "inf", "4 ms"])
def test_a_limit_that_is_no_number_is_refused(bench: wb.Workbench, number: str) -> None:
    page = TunePage(bench)
    page.goal.limits["max_p99_s"].value = number
    page.buttons["Start"].click()
    assert "is no number" in page.status.value
    assert bench.state.job is None


def test_a_point_that_is_clicked_picks_its_row(bench: wb.Workbench) -> None:
    page = TunePage(bench)
    page.show()
    bench.state.study = wb.Study(study())
    _, _, figure, row, table = page.answer.children
    plot = figure.outputs[0]["data"][PLOTLY]
    points = {name for trace in plot["data"] if trace.get("meta") == "candidates" for name in trace["ids"]}
    assert points == {"A", "B"}
    assert plot["layout"]["clickmode"] == "event+select"
    bench.page.bridge._answer(None, {"pick": "A"}, None)
    assert table.picked == ["A"]
    assert row.children[-1].value.startswith("A: ")
    row.children[1].click()
    assert bench.b == study().candidate("A").config
    page.hide()
    bench.page.bridge._answer(None, {"pick": "B"}, None)
    assert table.picked == ["A"], "out of sight"
