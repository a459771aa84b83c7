"""`workbench findings` and `workbench improve`: what they ask of the package, and what they refuse."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.factories import results as examples
from workbench.apps.cli import main

Calls = dict[str, Any]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The arguments of the last call."""
    received: Calls = {}

    @wraps(wb.findings)  # the command's options follow from its signature
    def findings(*_: Any, **options: Any) -> wb.Findings:
        received.update(options)
        return wb.Findings(examples.findings(), examples.about())

    @wraps(wb.improve)
    def improve(*_: Any, **options: Any) -> wb.Improvement:
        received.update(options)
        return wb.Improvement(examples.improvement(), examples.about())

    monkeypatch.setattr("workbench.features.findings.result.findings", findings)
    monkeypatch.setattr("workbench.features.improve.result.improve", improve)
    return received


def test_findings_take_labelled_examples_and_calibration_data(
    calls: Calls, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = "--a precision=static_int8 --data test.npz --calibration random --dim batch=3"
    assert main(["findings", model, *options.split()]) == 0
    assert calls["config"] == wb.Config(precision=wb.StaticInt8())
    assert (calls["data"], calls["calibration"]) == ("test.npz", "random")
    assert calls["inputs"].feeds[0]["x"].shape[0] == 3
    assert "worth a try" in capsys.readouterr().out


def test_improve_takes_every_limit_what_may_not_vary_and_the_examples(
    calls: Calls, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = "--budget 60 --max-accuracy-drop 1% --data test.npz --calibration photos --seed 7 --quiet"
    limits = (
        "--max-error 2% --max-p50 3 --max-p99 4 --max-memory 64 --max-file 8 --max-load 2.5 "
        "--min-throughput 20 --min-speedup 1.5 --without level --without precision"
    )
    assert main(["improve", model, "--a", "level=basic", *options.split(), *limits.split()]) == 0
    names = ("budget_s", "data", "calibration", "seed", "progress", "without")
    assert [calls[name] for name in names] == [60.0, "test.npz", "photos", 7, False, ["level", "precision"]]
    assert calls["config"] == wb.Config(level="basic")
    assert calls["limits"] == wb.Goal(
        max_accuracy_drop=0.01, max_error=0.02, max_memory_bytes=64 << 20, max_load_s=2.5, max_p99_s=0.004,
        max_file_bytes=8 << 20, min_speedup=1.5, max_p50_s=0.003, min_throughput=20.0,
    )  # fmt: skip
    assert "config: " in capsys.readouterr().out


@pytest.mark.parametrize("limit", ["--max-memory nan", "--max-file inf", "--max-p99 nan"])
def test_a_limit_that_is_no_number_is_refused_before_the_model_is_looked_at(
    model: str, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", model, *limit.split()]) == 2
    assert "is no limit" in capsys.readouterr().err


def test_without_these_options_neither_command_names_data(calls: Calls, model: str) -> None:
    for command in ("findings", "improve"):
        assert main([command, model]) == 0
        assert (calls.get("data"), calls.get("calibration")) == (None, None)


@pytest.mark.parametrize("command", ["findings", "improve"])
@pytest.mark.parametrize("option", ["--data", "--calibration"])
def test_a_file_that_is_not_there_is_refused_before_anything_is_measured(
    command: str, option: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, model, option, str(tmp_path / "absent.npz")]) == 2
    text = capsys.readouterr().err
    assert "absent.npz" in text
    assert "Fix: " in text
