"""The workbench without a browser, asserting on its state."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as W
import psutil
import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.conftest import is_worker
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from workbench.apps.panels.actions import Action
from workbench.apps.panels.handlers import on_change, own_changes


def test_changes_of_configs_can_be_undone() -> None:
    bench = wb.Workbench()
    bench.set("level", "basic")
    bench.set("intra_op_threads", 1)
    assert bench.b == wb.Config(level="basic", intra_op_threads=1)
    bench.state.undo()
    assert bench.b == wb.Config(level="basic")
    bench.state.undo()
    assert bench.b == bench.a == wb.Config()
    bench.state.redo()
    assert bench.b == wb.Config(level="basic")


def test_swapping_is_one_step() -> None:
    bench = wb.Workbench()
    bench.b = wb.Config(level="basic")
    bench.state.set_configs({"A": bench.b, "B": bench.a})
    assert (bench.a, bench.b) == (wb.Config(level="basic"), wb.Config())
    bench.state.undo()
    assert (bench.a, bench.b) == (wb.Config(), wb.Config(level="basic"))


def test_a_refused_value_keeps_the_config_and_the_run_from_starting(bench: wb.Workbench) -> None:
    with pytest.raises(wb.ConfigError):
        bench.set("level", "most")
    assert bench.b == wb.Config()
    with pytest.raises(wb.WorkbenchError, match="was refused"):
        bench.compare()
    bench.set("level", "all")
    assert not bench.state.refused


@pytest.mark.parametrize(("clock", "kept"), [("wall", ["levels/B"]), ("cpu", [])])
def test_processor_time_keeps_no_results_of_more_threads(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch, clock: str, kept: list[str]
) -> None:
    asked: list[dict[str, Any]] = []

    def compare(*_: Any, **options: Any) -> wb.Comparison:
        asked.append(options)
        return wb.Comparison(ordinary())

    monkeypatch.setattr("workbench.compare", compare)
    bench.state.clock = clock
    bench.state.show_parts(bench.request(), {"levels/B": wb.Levels(examples.levels())}, "levels")
    bench.compare(wait=True)
    assert asked[0].get("clock", "wall") == clock
    assert [part.name for part in bench.result.parts] == kept


def test_a_reopened_comparison_goes_on_with_the_calibration(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    attached: list[dict[str, Any]] = []

    def attach(result: wb.Comparison, _: Any, **options: Any) -> wb.Comparison:
        attached.append(options)
        return result

    monkeypatch.setattr(wb.Comparison, "attach", attach)
    monkeypatch.setattr(wb.Comparison, "measure_more", lambda result, **_: result)
    bench.state.calibration = "faces.npz"
    bench.show(wb.Comparison(replace(ordinary(), model=bench.state.model.record())))
    bench.measure_more(wait=True)
    assert attached == [{"calibration": "faces.npz"}]
    assert ', calibration="faces.npz").measure_more(' in bench.code("result")


def test_a_refused_part_is_refused_too(bench: wb.Workbench) -> None:
    with pytest.raises(wb.ConfigError):
        bench.turn("B", "precision", lambda config: config.replace(precision=wb.WeightOnly(bits=5)))
    assert bench.state.refused
    bench.state.undo()
    bench.state.editing = "A"
    assert not bench.state.refused


def test_a_model_that_cannot_be_opened_leaves_the_one_before(bench: wb.Workbench, tmp_path: Path) -> None:
    opened = bench.state.model
    with pytest.raises(wb.ModelError):
        bench.load(str(tmp_path / "none.onnx"), wait=True)
    assert bench.state.model is opened
    assert isinstance(bench.state.model_error, wb.ModelError)


def test_nothing_runs_without_a_model() -> None:
    with pytest.raises(wb.WorkbenchError, match="No model is open"):
        wb.Workbench().compare()


@pytest.mark.real
def test_the_whole_path_without_a_browser(bench: wb.Workbench, tmp_path: Path) -> None:
    bench.set("level", "basic")
    bench.compare(wait=True)
    result = bench.result
    assert isinstance(result, wb.Comparison)
    assert bench.state.job is None
    assert bench.state.answer.subject.configs["B"] == bench.b
    bench.run("explanation", wait=True)
    bench.run("profile", wait=True)
    assert {part.kind for part in result.parts} == {"explanation", "profile"}
    assert bench.state.made == ("explanation", "profile")
    assert not bench.state.parts
    assert wb.open(result.save(tmp_path / "kept.ortbench")).record == result.record


@pytest.mark.real
def test_a_click_on_what_a_view_makes_by_itself_waits_for_it(bench: wb.Workbench) -> None:
    bench.set("level", "basic")
    bench.run("explanation")
    made = bench.jobs.running
    assert made is not None
    bench.run("explanation", wait=True)
    assert made.finished.is_set()
    assert bench.state.run_error is None
    assert set(bench.state.parts) == {"explanation/A", "explanation/B"}
    assert bench.state.made == ("explanation",)


@pytest.mark.real
def test_a_result_about_other_configs_stands_below_no_verdict_of_others(bench: wb.Workbench) -> None:
    bench.compare(wait=True)
    first = bench.result
    bench.set("level", "disabled")
    bench.run("explanation", wait=True)
    assert bench.result is None
    assert set(bench.state.parts) == {"explanation/A", "explanation/B"}
    bench.state.undo()
    assert bench.result is first
    assert first.parts == ()
    assert not bench.state.parts


@pytest.mark.real
def test_a_failed_run_leaves_the_result_and_says_why(bench: wb.Workbench) -> None:
    bench.compare(wait=True)
    first = bench.result
    bench.state.data = "/no/such/file.npz"
    with pytest.raises(wb.InputError):
        bench.compare(wait=True)
    assert isinstance(bench.state.run_error, wb.InputError)
    bench.state.data = ""
    assert bench.result is first
    bench.compare(wait=True)
    assert bench.state.run_error is None
    assert bench.result is not first


def test_a_run_that_fails_at_once_still_says_why(bench: wb.Workbench) -> None:
    """The error came before that of the last run was cleared, and was cleared with it."""

    def refuse(*_: object) -> None:
        raise wb.InputError("It is missing.", "Make it.")

    with pytest.raises(wb.InputError):
        bench.start(Action("Compare", refuse, lambda *_: None), wait=True)  # which waits until it has ended
    assert isinstance(bench.state.run_error, wb.InputError)


def test_an_unknown_kind_of_result_is_refused_with_the_known_ones(bench: wb.Workbench) -> None:
    with pytest.raises(wb.ConfigError, match="thread scaling"):
        bench.run("level")


def test_work_in_the_background_hands_over_its_value_or_shows_its_error() -> None:
    bench = wb.Workbench()
    values: list[Any] = []
    errors: list[Exception] = []

    def fail() -> None:
        raise wb.InputError("It is missing.", "Make it.")

    def break_down() -> None:
        raise ZeroDivisionError

    for work in (lambda: 1, lambda: None, fail):
        bench.in_background(work, values.append, errors.append)
    settle(bench)
    assert (values, [type(error) for error in errors]) == ([1], [wb.InputError])
    assert bench.state.bug == ""
    bench.in_background(break_down, values.append, errors.append)
    settle(bench)
    assert isinstance(errors[-1], ZeroDivisionError)
    assert "ZeroDivisionError" in bench.state.bug


def test_only_changes_of_a_person_are_handled() -> None:
    box, handled = W.Text(), list[str]()
    on_change(box, handled.append)
    with own_changes():
        box.value = "by the panels"
        other = threading.Thread(target=setattr, args=(box, "value", "by a person meanwhile"))
        other.start()
        other.join()
    box.value = "by a person"
    assert handled == ["by a person meanwhile", "by a person"]


@pytest.mark.real
def test_cancel_in_mid_run_leaves_no_process(bench: wb.Workbench) -> None:
    bench.state.budget_s = 600.0
    shown = threading.Event()
    bench.state.observe(lambda change: shown.set() if change["new"] else None, names="job")
    bench.compare()
    job = bench.jobs.running
    assert job is not None
    while job.progress is None and not job.finished.is_set():
        time.sleep(0.01)  # the first round has begun
    assert shown.is_set()
    with pytest.raises(wb.WorkbenchError, match="still running"):
        bench.compare()
    assert bench.cancel()
    job.finished.wait()
    assert isinstance(bench.state.run_error, wb.Cancelled)
    assert bench.state.job is None
    assert bench.result is None
    assert not [child for child in psutil.Process().children(recursive=True) if is_worker(child)]
    assert not bench.cancel()


def test_a_cell_that_shows_the_panels_keeps_a_table_of_them() -> None:
    bench = wb.Workbench()
    bench.b = wb.Config(level="basic")
    data = bench._repr_mimebundle_()
    assert "level basic" in data["text/html"]
    assert "nothing was compared yet" in data["text/plain"]
    assert "image/png" not in data


@pytest.mark.slow
def test_modules_that_threads_share_are_imported_after_the_panels_and_before_any_work() -> None:
    """Of two threads that imported pandas at once, one was given it half-made, and exporting failed."""
    code = """
import sys, threading, workbench as wb
from workbench.apps.panels.task_thread import SHARED_MODULES
importers = set()
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name in SHARED_MODULES:
            importers.add("main" if threading.current_thread() is threading.main_thread() else "other")
sys.meta_path.insert(0, Watch())
def settle():
    done = threading.Event()
    bench.background.post(done.set)
    done.wait()
bench = wb.Workbench()
bench.panels
settle()
print(len(importers), {"numpy", "onnx", "workbench.features.compare.call"} & set(sys.modules) or "light")
bench.in_background(lambda: print(*importers, set(SHARED_MODULES) <= set(sys.modules)), print, print)
settle()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "light", "other", "True"]
