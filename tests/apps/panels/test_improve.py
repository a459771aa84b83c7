"""The mode Improve: its form, what may vary, the configs that were searched, and the code that does it."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as W
import numpy as np
import pytest

import workbench as wb
from tests.apps.panels.conftest import drain, settle
from tests.apps.widgets import buttons, htmls, single
from tests.factories import results as examples
from workbench.apps.panels.code import kind_code
from workbench.apps.panels.improve_row import ImproveRow
from workbench.apps.panels.table import PickedTable
from workbench.apps.panels.tabs.deploying import PROVEN, Deploying
from workbench.apps.panels.tabs.improve import ImprovePage
from workbench.drawing.cell import PLOTLY
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


def row_of(bench: wb.Workbench) -> ImproveRow:
    """Return the form of the mode."""
    bench.state.mode = "improve"
    page: Any = bench.panels.results.pages["Improve"]
    assert isinstance(page, ImprovePage)
    return page.row


def press(bench: wb.Workbench) -> None:
    """Press Improve and wait for its end."""
    row_of(bench).press.click()
    if (job := bench.jobs.running) is not None:
        job.finished.wait()
    drain(bench.ui)


def test_improving_under_a_limit_is_a_choice_and_a_click(bench: wb.Workbench, asked: Any) -> None:
    bench.a = wb.Config(memory_pattern=False)
    bench.state.editing = "B"
    row_of(bench).fields["max_accuracy_drop"].value = "1"
    press(bench)
    ((config, options),) = asked
    assert config == wb.Config(memory_pattern=False), "the form says: starting from A"
    assert options["limits"] == wb.Goal(max_accuracy_drop=0.01)
    assert "budget_s" not in options
    assert bench.state.held_parts("improvement").keys() == {"A"}


def test_one_percent_of_the_accuracy_is_the_first_limit_where_it_can_be_judged(
    bench: wb.Workbench, asked: Any
) -> None:
    drop = row_of(bench).fields["max_accuracy_drop"]
    assert drop.label == "no accuracy", "no example has a label"
    bench.load("digits-conv", wait=True)
    assert drop.label == "1 % accuracy"
    assert bench.state.forms == {}, "nothing was typed"
    press(bench)
    assert asked[0][1]["limits"] == wb.Goal(max_accuracy_drop=0.01)
    kind = KINDS.named("improvement")
    assert "limits=wb.Goal(max_accuracy_drop=0.01)" in kind_code(kind, bench.state.request_made())
    drop.value = ""
    press(bench)
    assert "limits" not in asked[1][1], "a person took the limit away"
    assert "limits" not in kind_code(kind, bench.state.request_made())


def test_a_file_with_labels_brings_the_first_limit(bench: wb.Workbench, tmp_path: Path) -> None:
    drop = row_of(bench).fields["max_accuracy_drop"]
    np.savez(tmp_path / "labelled.npz", labels=np.arange(4))
    bench.state.data = str(tmp_path / "labelled.npz")
    assert drop.label == "1 % accuracy"
    bench.state.data = ""
    assert drop.label == "no accuracy"


def test_every_limit_of_a_goal_has_a_field(bench: wb.Workbench, asked: Any) -> None:
    row = row_of(bench)
    assert row.further.layout.display == "none"
    row.more.click()
    assert row.further.layout.display is None
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
    row = row_of(bench)
    assert row.further.layout.display == "none"
    bench.state.forms = {"improvement": {"max_p99_s": "4"}}
    assert row.fields["max_p99_s"].value == "4"
    assert row.further.layout.display is None
    row.more.click()
    assert row.further.layout.display == "none"
    row.more.click()
    assert row.further.layout.display is None


@pytest.mark.parametrize("number", ["nan", "inf", "4 ms", "-1"])
def test_a_limit_that_is_no_number_is_refused(bench: wb.Workbench, number: str) -> None:
    row = row_of(bench)
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

    monkeypatch.setattr("workbench.default_space", default_space)
    bench.state.forms = {"improvement": {"max_accuracy_drop": "1"}}
    row = row_of(bench)
    varying = row.may_vary
    varying.find.click()
    if (job := bench.jobs.running) is not None:
        job.finished.wait()
    drain(bench.ui)
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
    assert varying.size.value == ""
    assert row.fields["without"].value == "intra_op_threads", "it stays out for the next model, and says so"


def test_what_may_vary_is_forgotten_with_its_limits(bench: wb.Workbench) -> None:
    row = row_of(bench)
    request = bench.request()
    row.may_vary.keep(bench.state, request, SPACE)
    row.fields["without"].value, row.fields["budget_s"].value = "level", "60"
    assert [*row.may_vary.checks] == ["level", "intra_op_threads"], "neither is a limit"
    bench.b = wb.Config(level="basic")
    assert row.may_vary.checks, "it starts from A"
    row.fields["max_accuracy_drop"].value = "1"
    assert row.may_vary.checks == {}
    assert row.may_vary.size.value == ""
    row.may_vary.keep(bench.state, request, SPACE)
    assert row.may_vary.checks == {}, "the limit came while it was looked for"
    row.may_vary.keep(bench.state, bench.request(), SPACE)
    assert row.may_vary.checks
    bench.a = wb.Config(level="basic")
    assert row.may_vary.checks == {}


def test_findings_need_no_further_button_after_an_improvement(bench: wb.Workbench) -> None:
    page = ImprovePage(bench)
    page.show()
    assert page.look.widget.layout.display is None
    record = replace(examples.improvement(), findings=examples.findings())
    bench.state.show_parts(bench.state.request(), {"improvement/A": wb.Improvement(record)})
    page.show()
    assert page.look.widget.layout.display == "none"
    (box,) = page.tried.children
    assert "1 finding, each with its evidence and fix" in "".join(
        child.value for child in box.children if hasattr(child, "value")
    )
    bench.a = wb.Config(level="basic")
    page.show()
    assert page.look.widget.layout.display is None, "nothing is known of this config"


def test_findings_of_b_can_be_looked_for_after_an_improvement_of_a(bench: wb.Workbench) -> None:
    page = ImprovePage(bench)
    bench.b = wb.Config(level="basic")
    record = replace(examples.improvement(), findings=examples.findings())
    bench.state.show_parts(bench.state.request(), {"improvement/A": wb.Improvement(record)})
    page.show()
    assert page.tried.children
    assert page.look.widget.layout.display is None


def test_a_cancelled_improvement_shows_what_is_proven(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = threading.Event()

    def improve(*_: Any, cancel: threading.Event, **__: Any) -> wb.Improvement:
        began.set()
        assert cancel.wait(60)
        return wb.Improvement(replace(examples.improvement(), ended="It was stopped."))

    monkeypatch.setattr(IMPROVE, improve)
    row = row_of(bench)
    row.press.click()
    assert began.wait(60)
    job = bench.jobs.running
    assert job is not None
    row.press.click()
    job.finished.wait()
    drain(bench.ui)
    assert bench.state.held_parts("improvement")["A"].record.ended == "It was stopped."
    assert bench.state.run_error is None


def improved(bench: wb.Workbench) -> wb.Improvement:
    """Show an improvement whose search tried configs."""
    improvement = wb.Improvement(examples.improvement())
    bench.state.show_parts(bench.state.request(), {"improvement/A": improvement})
    return improvement


def searched(bench: wb.Workbench, page: ImprovePage) -> tuple[Any, PickedTable]:
    """Return the figure of the search and the table below it."""
    page.show()
    settle(bench)
    return single(page.searched, W.Output), single(page.searched, PickedTable)


def use(table: PickedTable, place: str) -> None:
    """Take over the config of the picked row."""
    buttons(table.drawer)[f"Use as {place}"].click()


def test_the_configs_of_the_search_stand_below_the_answer_and_are_used(bench: wb.Workbench) -> None:
    page = ImprovePage(bench)
    page.show()
    assert page.searched.children == ()
    improved(bench)
    _, table = searched(bench, page)
    assert table.table.picked == ["B"], "the best one"
    use(table, "B")
    assert bench.b == examples.study().best_config
    page.show()
    assert page.searched.children, "another one may be taken, though the answer is about what was set before"
    assert {link.layout.display for card in page.searches for link in (card.pin, card.copy)} == {"none"}
    table.table.picked = ["C"]
    use(table, "A")
    assert bench.a == examples.study().candidate("C").config
    assert "A is set" in table.status.value
    page.hide()
    assert page.searched.children == ()


def test_a_point_that_is_clicked_picks_its_row(bench: wb.Workbench) -> None:
    page = ImprovePage(bench)
    improved(bench)
    figure, picks = searched(bench, page)
    plot, table = figure.outputs[0]["data"][PLOTLY], picks.table
    points = {name for trace in plot["data"] if trace.get("meta") == "candidates" for name in trace["ids"]}
    assert points == {"A", "B"}
    assert plot["layout"]["clickmode"] == "event+select"
    bench.page.bridge.answer(None, {"pick": "A"}, None)
    assert table.picked == ["A"]
    assert next(htmls(picks.drawer)).startswith("A: ")
    page.hide()
    bench.page.bridge.answer(None, {"pick": "B"}, None)
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
    page = ImprovePage(bench)
    improved(bench)
    searched(bench, page)
    bench.state.model = None
    assert page.searched.children == ()


def test_an_improvement_that_failed_says_so_in_its_mode(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def improve(*_: Any, **__: Any) -> wb.Improvement:
        raise wb.WorkbenchError("It could not be run.", "Choose another model.")

    monkeypatch.setattr(IMPROVE, improve)
    press(bench)
    assert "It could not be run." in bench.panels.doing.value
