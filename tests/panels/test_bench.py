"""The workbench without a browser, asserting on its state."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

import workbench as wb
from tests.conftest import is_worker


def test_changes_are_steps_that_can_be_taken_back() -> None:
    bench = wb.Workbench()
    bench.set("level", "basic")
    bench.set("intra_op_threads", 1)
    assert bench.state.b == wb.Config(level="basic", intra_op_threads=1)
    bench.state.undo()
    assert bench.state.b == wb.Config(level="basic")
    bench.state.undo()
    assert bench.state.b == bench.state.a == wb.Config()
    bench.state.redo()
    assert bench.state.b == wb.Config(level="basic")


def test_swapping_is_one_step() -> None:
    bench = wb.Workbench()
    bench.b = wb.Config(level="basic")
    bench.state.change(a=bench.b, b=bench.a)
    assert (bench.a, bench.b) == (wb.Config(level="basic"), wb.Config())
    bench.state.undo()
    assert (bench.a, bench.b) == (wb.Config(), wb.Config(level="basic"))


def test_a_refused_value_keeps_the_config_and_the_run_from_starting(bench: wb.Workbench) -> None:
    with pytest.raises(wb.ConfigError):
        bench.set("level", "most")
    assert bench.state.b == wb.Config()
    with pytest.raises(wb.WorkbenchError, match="was refused"):
        bench.compare()
    bench.set("level", "all")
    assert not bench.state.refused


def test_a_refused_part_is_refused_too(bench: wb.Workbench) -> None:
    with pytest.raises(wb.ConfigError):
        bench.set("precision", lambda: wb.WeightOnly(bits=5))
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
    assert bench.state.result_subject.b == bench.b
    bench.explain(wait=True)
    bench.profile(wait=True)
    assert {part.kind for part in result.parts} == {"explanation", "profile"}
    assert bench.state.parts_made == 2
    assert not bench.state.parts
    assert wb.open(result.save(tmp_path / "kept.ortbench")).record == result.record


@pytest.mark.real
def test_what_is_explained_apart_from_the_verdict_is_told_apart(bench: wb.Workbench) -> None:
    bench.compare(wait=True)
    first = bench.result
    bench.set("level", "disabled")
    bench.explain(wait=True)
    assert bench.result is first
    assert set(bench.state.parts) == {"explanation/A", "explanation/B"}
    assert bench.state.parts_apart
    bench.compare(wait=True)
    assert not bench.state.parts_apart


@pytest.mark.real
def test_a_failed_run_leaves_the_result_and_says_why(bench: wb.Workbench) -> None:
    bench.compare(wait=True)
    first = bench.result
    bench.state.given = "/no/such/file.npz"
    with pytest.raises(wb.InputError):
        bench.compare(wait=True)
    assert bench.result is first
    assert isinstance(bench.state.run_error, wb.InputError)
    bench.state.given = ""
    bench.compare(wait=True)
    assert bench.state.run_error is None
    assert bench.result is not first


def test_a_run_that_fails_at_once_still_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error came before the one of the run before was cleared, and was cleared with it."""
    bench = wb.Workbench()
    start = bench.jobs.start

    def start_and_wait(*arguments: Any) -> Any:
        job = start(*arguments)
        job.finished.wait()
        return job

    def refuse(_: object) -> None:
        raise wb.InputError("It is missing.", "Make it.")

    monkeypatch.setattr(bench.jobs, "start", start_and_wait)
    with pytest.raises(wb.InputError):
        bench._run("Compare", refuse, lambda _: None, True)


@pytest.mark.real
def test_cancel_in_mid_run_leaves_no_process(bench: wb.Workbench) -> None:
    bench.state.budget_s = 600.0
    seen = threading.Event()
    bench.state.observe(lambda change: seen.set() if (change["new"] or None) else None, names="job")
    bench.compare()
    job = bench.jobs.running
    assert job is not None
    while job.progress is None and not job.finished.is_set():
        time.sleep(0.01)  # the first round has begun
    assert seen.is_set()
    with pytest.raises(wb.WorkbenchError, match="still running"):
        bench.compare()
    assert bench.cancel()
    job.finished.wait()
    assert isinstance(bench.state.run_error, wb.Cancelled)
    assert bench.state.job is None
    assert bench.result is None
    assert not [one for one in psutil.Process().children(recursive=True) if is_worker(one)]
    assert not bench.cancel()


def test_as_a_cells_value_it_survives_without_a_kernel() -> None:
    bench = wb.Workbench()
    bench.b = wb.Config(level="basic")
    told = bench._repr_mimebundle_()
    assert "level basic" in told["text/html"]
    assert "nothing was compared yet" in told["text/plain"]
    assert "image/png" not in told


def test_what_threads_would_import_at_once_is_imported_before_them() -> None:
    """Two threads that import pandas at once: one was given it half-made, and exporting failed."""
    wanted = ["pandas", "plotly.graph_objects", "scipy.stats"]
    code = f"import sys, workbench as wb; wb.Workbench(); print(set({wanted}) <= set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True"]
