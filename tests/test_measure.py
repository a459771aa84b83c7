"""`wb.measure`: one config, from the call to the command line."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

import workbench as wb
from tests.core.models import tiny
from workbench.apps.cli import main


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save(tiny.mlp(), tmp_path_factory.mktemp("models"))


@pytest.mark.real
def test_one_config_is_measured_kept_saved_and_continued(model: Path, tmp_path: Path) -> None:
    result = wb.measure(model, wb.Config(level="basic"), percentiles=[50, 99], budget_s=2.0, progress=False)
    frame = result.to_frame().set_index("figure")
    assert frame.loc["mean", "value"] > 0
    assert frame.loc["load", "value"] > 0
    assert frame.loc["peak memory", "value"] > 1
    assert result.run.config == wb.Config(level="basic")
    assert result.about.config == wb.Config(level="basic")
    assert result.about.id in set(wb.history().to_frame(kind="measurement")["id"])
    again = wb.open(result.save(tmp_path / "one.ortbench"))
    assert again.record == result.record
    with pytest.raises(wb.WorkbenchError, match="model is not at hand"):
        again.measure_more()
    more = again.attach(model).measure_more(budget_s=1.0, progress=False, keep=False)
    assert more.run.processes[: len(result.run.processes)] == result.run.processes
    assert len(more.run.processes) > len(result.run.processes)
    assert "onnxruntime" in result.to_python("m.onnx")


@pytest.mark.real
def test_the_command_prints_figures_and_saves(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["measure", str(model), "--a", "level=basic", "--percentile", "90", "--budget", "1"]
    assert main([*arguments, "--json", "--no-history", "-o", str(tmp_path / "m.ortbench")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["figure"] for row in printed["figures"]][:2] == ["mean", "p90"]
    assert printed["runs"][0]["config"]["level"] == "basic"
    assert main(["show", str(tmp_path / "m.ortbench")]) == 0
    assert "p90" in capsys.readouterr().out


def test_one_config_is_no_comparison_and_the_error_names_measure(model: Path) -> None:
    with pytest.raises(wb.ConfigError, match="two configs or more") as refused:
        wb.compare(model, wb.Config())
    assert "wb.measure(model, wb.Config(…))" in refused.value.fix


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"until": "done"}, "until='done'"),
        ({"precision": 0}, "precision=0"),
        ({"precision": float("nan")}, "precision=nan"),
        ({"percentiles": (0, 50)}, "percentiles=0"),
        ({"budget_s": -1}, "budget_s=-1"),
        ({"config": "level=all"}, "is no config"),
    ],
)
def test_what_cannot_be_measured_is_refused_by_name(
    model: Path, given: dict[str, object], problem: str
) -> None:
    with pytest.raises(wb.ConfigError, match=problem):
        wb.measure(model, **given)  # type: ignore[arg-type]


@pytest.mark.real
def test_cancel_ends_it(model: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(wb.Cancelled):
        wb.measure(model, cancel=cancel, progress=False)
