"""The place of Compare, the line of Improve, and the modes."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.apps.panels.improve_row import ImproveRow
from workbench.apps.panels.jobs import JobView
from workbench.apps.panels.run_row import RunRow
from workbench.apps.panels.state import MODES


def test_one_button_compares_and_stops_whatever_runs(bench: wb.Workbench) -> None:
    row = RunRow(bench)
    assert row.press.description == "Compare"
    assert "at most 0.2 s" in row.time.value
    bench.state.job = JobView("Profile A and B", "running", 1.0)
    assert row.press.description == "Stop here"
    assert "older results stay" in row.time.value
    bench.state.job = JobView("Profile A and B", "running", 1.0, cancelling=True)
    assert row.press.disabled
    bench.state.job = JobView("Compare", "running", 1.0)
    assert "keeps what is known" in row.time.value
    bench.state.job = None
    assert (row.press.description, row.press.disabled) == ("Compare", False)


def test_what_a_run_took_is_no_time_of_another_budget_or_of_more_configs(bench: wb.Workbench) -> None:
    row, state = RunRow(bench), bench.state
    state.budget_s = None
    expected = row.time.value
    state.budget_s, state.took_s = 1.0, {("Compare", state.model.path): 1.2}
    state.budget_s = None
    assert row.time.value == expected
    state.took_s = {("Compare", state.model.path): 1.2}
    assert "about 2 s" in row.time.value
    state.duplicate("B")
    assert "about 2 s" not in row.time.value


def test_an_error_stands_where_the_button_is() -> None:
    row = RunRow(wb.Workbench())
    row.press.click()
    assert "No model is open" in row.status.value


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_kept_in_the_state(bench: wb.Workbench, mode: str) -> None:
    panels = bench.panels
    bench.state.mode = mode
    assert panels.modes.value == mode
    assert bool(panels.form.children) == (mode == "improve")
    panels.modes.value = "compare"
    assert bench.state.mode == "compare"


def test_improve_has_its_limits_in_the_form_of_its_kind(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, made = ImproveRow(bench), list[str]()
    monkeypatch.setattr(bench, "run", made.append)
    row.fields["max_accuracy_drop"].value = "1"
    row.press.click()
    assert bench.state.forms["improvement"] == {"max_accuracy_drop": "1"}
    assert made == ["improvement"]
    bench.state.forms = {"improvement": {"budget_s": "45"}}
    assert row.fields["budget_s"].value == "45", "what was set elsewhere is shown"


def test_what_may_vary_is_not_offered_for_another_model(bench: wb.Workbench) -> None:
    request, space = bench.request(), wb.Space.of(intra_op_threads=(1, 2))
    varying = ImproveRow(bench).may_vary
    varying.keep(bench.state, request, space)
    assert [*varying.checks] == ["intra_op_threads"]
    bench.state.model = None  # opened, or closed, while the space was looked for
    assert varying.checks == {}
    varying.keep(bench.state, request, space)
    assert varying.checks == {}


def test_the_projector_folds_the_settings_to_a_sentence(bench: wb.Workbench) -> None:
    bench.b = wb.Config(level="basic")
    bench.panels.projector.value = True
    assert bench.state.projector
    assert "basic" in bench.panels.told.value
    bench.state.projector = False
    assert not bench.panels.projector.value
    assert bench.panels.told.value == ""
