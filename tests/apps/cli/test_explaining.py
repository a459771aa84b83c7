"""`explain`, `levels`, `profile`, `threads`, `accuracy` and `prepare` as commands, their calls faked."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.factories import results as examples
from workbench.apps.cli import main
from workbench.core.bundle.preparation import Preparation, StepRecord
from workbench.core.feature import function_at

Calls = dict[str, Any]
GOLDEN = Path(__file__).parents[2] / "core/bundle/golden"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The arguments of the last call; `answer` is what it returns."""
    received: Calls = {}

    def fake(module: str, name: str) -> Callable[..., Any]:
        @wraps(function_at(f"{module}:{name}"))
        def call(_model: Any, *configs: Any, **options: Any) -> Any:
            received.update(options, configs=configs)
            return received["answer"]

        return call

    for place in (
        "workbench.features.explain.calls.explain",
        "workbench.features.variants.levels.levels",
        "workbench.features.profile.calls.profile",
        "workbench.features.variants.threads.threads",
        "workbench.features.accuracy.result.accuracy",
        "workbench.core.prepare.preparing.prepare",
    ):
        module, _, name = place.rpartition(".")
        monkeypatch.setattr(place, fake(module, name))
    return received


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_explain_runs_nothing_unless_asked(
    calls: Calls, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls["answer"] = result = wb.open(GOLDEN / "explanation-2.ortbench")
    path = tmp_path / "explained.ortbench"
    options = f"--a level=basic --passes off --calibration random --no-history --csv -o {path}"
    assert main(["explain", model, *options.split()]) == 0
    assert calls["config"] == wb.Config(level="basic")
    names = ("profile", "inputs", "passes", "calibration", "keep")
    assert [calls.get(name) for name in names] == [None, None, False, "random", False]
    assert len(rows(capsys.readouterr().out)) == len(result.to_frame())
    assert isinstance(wb.open(path), wb.Explanation)
    calls.pop("passes")
    assert main(["explain", model, "--profile", "--dim", "batch=3"]) == 0
    assert "passes" not in calls
    assert (calls["profile"], calls["keep"]) == (True, True)
    assert calls["inputs"].feeds[0]["x"].shape[0] == 3
    assert capsys.readouterr().out.startswith(str(result).splitlines()[0])


def test_levels_that_were_not_measured_leave_it_open(
    calls: Calls, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    calls["answer"] = wb.Levels(examples.levels())
    assert main(["levels", model, "--budget", "3", "--a", "intra_op_threads=1", "--csv"]) == 0
    assert calls["config"] == wb.Config(intra_op_threads=1)
    assert (calls["budget_s"], calls["progress"], calls["keep"]) == (3.0, False, True)
    assert [row["level"] for row in rows(capsys.readouterr().out)] == ["disabled", "all"]
    first, second = examples.levels().rows
    failed = (first, replace(second, latency_s=None, reason="refused"))
    calls["answer"] = wb.Levels(replace(examples.levels(), rows=failed))
    assert main(["levels", model]) == 3
    assert "not measured" in capsys.readouterr().out


def test_a_profile_has_a_row_an_operator_or_a_node(
    calls: Calls, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls["answer"] = result = wb.open(GOLDEN / "profile-2.ortbench")
    trace = tmp_path / "trace.json"
    assert main(["profile", model, "--budget", "0.5", "--keep-trace", str(trace), "--csv"]) == 0
    assert (calls["budget_s"], calls["keep_trace"], calls["keep"]) == (0.5, str(trace), True)
    assert [row["op_type"] for row in rows(capsys.readouterr().out)] == list(result.by("op_type")["op_type"])
    assert main(["profile", model, "--by", "node", "--csv"]) == 0
    assert len(rows(capsys.readouterr().out)) == len(result.to_frame())
    assert main(["profile", model]) == 0
    assert "with the profiler on" in capsys.readouterr().out


def test_threads_that_were_not_measured_leave_it_open(
    calls: Calls, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    calls["answer"] = wb.Threads(examples.threads(), examples.about())
    assert main(["threads", model, "--most-threads", "4", "--seed", "7"]) == 3
    assert (calls["most_threads"], calls["budget_s"], calls["seed"]) == (4, 30.0, 7)
    assert "busy_threads" in capsys.readouterr().out
    measured = tuple(point for point in examples.threads().rows if point.latency_s is not None)
    calls["answer"] = wb.Threads(replace(examples.threads(), rows=measured), examples.about())
    assert main(["threads", model, "--csv"]) == 0
    assert [row["threads"] for row in rows(capsys.readouterr().out)] == ["1", "1", "2", "2"]


def test_accuracy_takes_configs_data_and_a_metric(
    calls: Calls, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls["answer"] = wb.AccuracyTable(examples.accuracy(), examples.about())
    path = tmp_path / "accuracy.ortbench"
    options = f"--b precision=static_int8 --data d.npz --metric top5 --metric-output y --items 9 -o {path}"
    assert main(["accuracy", model, *options.split()]) == 0
    assert calls["configs"] == (wb.Config(), wb.Config(precision=wb.StaticInt8()))
    names = ("data", "metric", "output", "items", "batch", "calibration", "seed", "progress")
    assert [calls.get(name) for name in names] == ["d.npz", "top5", "y", 9, None, None, 0, False]
    assert "the evaluation set of tiny" in capsys.readouterr().out
    assert isinstance(wb.open(path), wb.AccuracyTable)
    first, second = examples.accuracy().scores
    failed = (first, replace(second, score=None, against=None, problem="it ran out of memory"))
    calls["answer"] = wb.AccuracyTable(replace(examples.accuracy(), scores=failed), examples.about())
    assert main(["accuracy", model, "--csv"]) == 3
    assert len(rows(capsys.readouterr().out)) == 2


def test_prepare_prints_the_steps_and_the_file(
    calls: Calls, model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = StepRecord("dynamic int8", "it quantized 2 nodes", (), (), 1.0, False, 10, 5, ())
    record = Preparation((step,), None, 1.0, 5, None, ())
    source = SimpleNamespace(path=Path("/prepared/model.onnx"))
    calls["answer"] = wb.Prepared(source, wb.Config(), record, wb.Config(), source)  # type: ignore[arg-type]
    assert main(["prepare", model, "--a", "precision=dynamic_int8", "--quiet"]) == 0
    assert calls["configs"] == (wb.Config(precision=wb.DynamicInt8()),)
    assert (calls["calibration"], calls["on_step"]) == (None, None)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("dynamic int8: it quantized 2 nodes")
    assert printed[-1] == "/prepared/model.onnx"
    assert main(["prepare", model, "--csv"]) == 0
    captured = capsys.readouterr()
    assert [row["step"] for row in rows(captured.out)] == ["dynamic int8"]
    assert "/prepared/model.onnx" in captured.err
    monkeypatch.setattr(wb.Prepared, "export", lambda _, folder: Path("/exported") / folder)
    assert main(["prepare", model, "-o", "out"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "/exported/out"


def test_a_long_table_says_how_to_get_the_rest(
    calls: Calls, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    class Long:
        record = SimpleNamespace(rows=())

        def to_frame(self) -> pd.DataFrame:
            return pd.DataFrame({"node": np.arange(100)})

    calls["answer"] = Long()
    assert main(["levels", model]) == 0
    assert "40 more rows: --csv" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["explain", "levels", "profile", "threads", "accuracy"])
def test_wrong_use_is_refused_before_the_call(
    calls: Calls, model: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, model, "--a", "levl=all"]) == 2
    assert main([command, model, "--seed", "-1", *(["--profile"] if command == "explain" else [])]) == 2
    assert calls == {}
    assert capsys.readouterr().err.count("Fix: ") == 2


@pytest.mark.real
@pytest.mark.usefixtures("own_home")
def test_explain_and_profile_of_a_real_model(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", model, "--csv"]) == 0
    assert rows(capsys.readouterr().out)
    assert main(["profile", model, "--budget", "0.1"]) == 0
    assert "op_type" in capsys.readouterr().out
