"""Comparisons end to end, with real workers on tiny models and short budgets."""

from __future__ import annotations

import base64
import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import workbench as wb
from tests.core.models import tiny
from tests.core.worker.harness import endless_loop
from workbench.core.measure.limits import Progress
from workbench.core.measure.sequential import is_look

BUDGET_S = 2.0


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> wb.Comparison:
    path = tiny.save(tiny.mlp(), tmp_path_factory.mktemp("models"))
    return wb.compare(
        path,
        wb.Config(),
        wb.Config(intra_op_threads=1),
        wb.Config(level="disabled"),
        budget_s=BUDGET_S,
        progress=False,
    )


@pytest.mark.real
def test_a_run_a_config_and_a_verdict_a_candidate(compared: wb.Comparison) -> None:
    assert [run.label for run in compared.runs] == ["A", "B", "C"]
    assert [verdict.label for verdict in compared.verdicts] == ["B", "C"]
    for run in compared.runs:
        assert run.latency.median_s is not None
        assert run.latency.median_s > 0
        assert run.load_s is not None
        assert run.peak_rss_bytes is not None
        assert run.providers == ("CPUExecutionProvider",)
    for verdict in compared.verdicts:
        assert verdict.ratio is not None
        assert not verdict.provisional


@pytest.mark.real
def test_outputs_were_compared(compared: wb.Comparison) -> None:
    assert {row.label for row in compared.agreement} == {"B", "C"}
    assert all(row.agrees for row in compared.agreement)


@pytest.mark.real
def test_it_is_in_the_history_and_a_bundle_reopens_as_it_was(compared: wb.Comparison, tmp_path: Path) -> None:
    assert compared.record.id in set(wb.history().to_frame()["id"])
    path = compared.save(tmp_path / "c.ortbench")
    reopened = wb.open(path)
    assert reopened.record == compared.record
    assert str(reopened) == str(compared)


@pytest.mark.real
def test_it_says_it_in_one_sentence_and_in_tables(compared: wb.Comparison) -> None:
    assert "outputs agree" in str(compared)
    assert len(compared.to_frame()) == 3
    assert {"p50_ms", "runs_per_s"} <= set(compared.percentiles()["figure"])
    bundle, about = compared._repr_mimebundle_()
    assert bundle["text/plain"] == str(compared)
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert about["image/png"]["width"] < 1000  # shown at the size it was drawn for, not at that of its pixels
    assert not {"text/html", "image/svg+xml"} & {*bundle}


def model_with(path: Path, op: str) -> Path:
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return path


@pytest.mark.real
def test_random_outputs_are_not_called_different(tmp_path: Path) -> None:
    path = model_with(tmp_path / "random.onnx", "RandomUniformLike")
    result = wb.compare(
        path, wb.Config(), wb.Config(intra_op_threads=1), budget_s=BUDGET_S, progress=False, keep=False
    )
    (row,) = result.agreement
    assert row.agrees is None
    assert result.verdict.kind != "outputs differ"


@pytest.mark.real
def test_a_config_that_fails_is_a_record_and_the_verdict_says_so(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    failing = wb.Config(providers=("cpu",), session_entries={"session.load_model_format": "ORT"})
    result = wb.compare(path, wb.Config(), failing, budget_s=BUDGET_S, progress=False, keep=False)
    assert result.verdict.kind == "unknown"
    assert result.runs[1].failure is not None
    assert result.runs[1].failure.stage == "load"
    assert "B could not be measured" in result.verdict.reason
    assert result.runs[0].latency.median_s is not None


@pytest.mark.real
def test_when_no_config_runs_it_is_an_error_naming_the_cause(tmp_path: Path) -> None:
    path = model_with(tmp_path / "unknown.onnx", "NoSuchOperator")
    with pytest.raises(wb.WorkbenchError, match="NoSuchOperator"):
        wb.compare(path, wb.Config(), wb.Config(level="basic"), progress=False, keep=False)


@pytest.mark.real
def test_progress_is_told_and_never_goes_back(tmp_path: Path) -> None:
    reports: list[Progress] = []
    path = tiny.save(tiny.mlp(), tmp_path)
    wb.compare(path, wb.Config(), wb.Config(), budget_s=BUDGET_S, progress=reports.append, keep=False)
    assert {"sampling", "A: load", "judging"} <= {progress.doing.split("s: ")[-1] for progress in reports}
    elapsed = [progress.elapsed_s for progress in reports]
    assert elapsed == sorted(elapsed)
    judged = [progress.verdicts[0] for progress in reports if progress.doing.endswith("judging")]
    assert judged
    for verdict in judged[:-1]:
        assert verdict.provisional or is_look(verdict.rounds)


@pytest.mark.real
def test_cancel_from_another_thread(tmp_path: Path) -> None:
    cancel = threading.Event()

    def cancel_when_it_runs(progress: Progress) -> None:
        if "first run" in progress.doing:
            cancel.set()

    path = tiny.save(endless_loop(), tmp_path)
    with pytest.raises(wb.Cancelled):
        wb.compare(
            path,
            wb.Config(),
            wb.Config(),
            inputs={"x": np.ones(1, np.float32)},
            progress=cancel_when_it_runs,
            cancel=cancel,
            keep=False,
        )


@pytest.mark.real
def test_cancelling_keeps_what_is_known_once_there_is_an_interval(tmp_path: Path) -> None:
    """An effect so small that no number of rounds settles it."""
    cancel = threading.Event()

    def stop_in_the_fourth_round(progress: Progress) -> None:
        if progress.round == 4:
            cancel.set()

    path = tiny.save(tiny.mlp(), tmp_path)
    stopped = wb.compare(
        path,
        wb.Config(),
        wb.Config(),
        smallest_effect=1e-9,
        progress=stop_in_the_fourth_round,
        cancel=cancel,
        keep=False,
    )
    (verdict,) = stopped.record.verdicts
    assert {len(run.processes) for run in stopped.record.runs} == {3}
    assert (verdict.rounds, verdict.provisional) == (3, False)
    assert stopped.record.stopped == "stopped on request, 3 rounds kept"
    assert "doubt (stopped): stopped on request, 3 rounds kept" in str(stopped)
    more = stopped.measure_more(budget_s=BUDGET_S, progress=False, keep=False)
    assert more.record.stopped == "", "now it ran to its end"


@pytest.mark.real
def test_measuring_goes_on_also_from_a_reopened_bundle(compared: wb.Comparison, tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    reopened = wb.open(compared.save(tmp_path / "c.ortbench"))
    with pytest.raises(wb.WorkbenchError, match="not at hand"):
        reopened.measure_more()
    more = reopened.attach(path).measure_more(budget_s=BUDGET_S, progress=False, keep=False)
    assert more.record.id != compared.record.id
    assert more.agreement == compared.agreement
    for longer, run in zip(more.runs, compared.runs, strict=True):
        assert longer.processes[: len(run.processes)] == run.processes
        assert len(longer.processes) > len(run.processes)


@pytest.mark.parametrize(
    "changes",
    [
        {"budget_s": -1.0},
        {"smallest_effect": 0.0},
        {"smallest_effect": float("nan")},
        {"pacing_s": float("inf")},
    ],
)
def test_unusable_arguments_are_refused_before_anything_runs(
    tmp_path: Path, changes: dict[str, float]
) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    with pytest.raises(wb.ConfigError, match=next(iter(changes))):
        wb.compare(path, wb.Config(), wb.Config(), progress=False, **changes)


def test_names_that_this_model_or_ort_does_not_have_are_refused(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    with pytest.raises(wb.ConfigError, match="no symbolic dim"):
        wb.compare(path, wb.Config(), wb.Config(free_dimensions={"nope": 2}), progress=False)
    with pytest.raises(wb.ConfigError, match="GeluFusionL2"):
        wb.compare(path, wb.Config(), wb.Config(disabled_passes=("GeluFusionL3",)), progress=False)


def test_what_is_no_config_is_refused(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    with pytest.raises(wb.ConfigError, match="no config"):
        wb.compare(path, wb.Config(), {"level": "all"}, progress=False)  # type: ignore[arg-type]


def test_the_default_budget_may_grow_while_the_answer_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def measure_runs(*_: Any, **options: Any) -> None:
        asked.update(options)
        raise InterruptedError

    monkeypatch.setattr("workbench.features.compare.call.measure_runs", measure_runs)
    with pytest.raises(InterruptedError):
        wb.compare(tiny.save(tiny.mlp(), tmp_path), wb.Config(), wb.Config(level="basic"))
    assert (asked["budget_s"], asked["until_decided"]) == (None, True)
