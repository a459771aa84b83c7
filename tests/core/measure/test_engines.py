"""Other engines beside ONNX Runtime in a real comparison."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb
from tests.core.models import tiny

pytestmark = pytest.mark.real


def test_openvino_is_compared_like_any_config(tmp_path: Path) -> None:
    result = wb.compare(
        "digits-conv", wb.Config(), wb.Engine("openvino", threads=1), budget_s=0.2, progress=False
    )
    a, b = result.runs
    assert b.failure is None
    assert b.providers == ("OpenVINO CPU",)
    assert b.threads == 1
    assert a.providers == ("CPUExecutionProvider",)
    assert all(row.agrees for row in result.record.agreement)
    assert result.verdict.kind != "outputs differ"
    assert b.load_s is not None
    assert not [doubt for doubt in result.doubts if doubt.kind == "runtime"]
    again = wb.open(result.save(tmp_path / "engines.ortbench"))
    assert again.runs[1].config == wb.Engine("openvino", threads=1)
    with pytest.raises(wb.ConfigError, match="has no session of ONNX Runtime"):
        wb.explain("digits-conv", b.config)


def test_openvino_reads_the_prepared_file() -> None:
    config = wb.Engine("openvino").replace(precision=wb.StaticInt8(samples=8))
    result = wb.compare("digits-conv", wb.Config(), config, budget_s=0.2, progress=False, keep=False)
    assert result.runs[1].failure is None
    assert result.runs[1].preparation is not None


def test_a_table_of_models_and_engines_is_one_call() -> None:
    """As the article's table of ONNX Runtime against PyTorch, with the engine that is installed here."""
    table = wb.matrix(
        ["digits-conv", "char-gpt"],
        [wb.Config(), wb.Engine("openvino")],
        budget_s=2,
        progress=False,
        keep=False,
    )
    rows = table.to_frame()
    assert rows["model"].tolist() == ["digits-conv"] * 2 + ["char-gpt"] * 2
    assert rows["config"].tolist()[:2] == ["ORT defaults", "engine OpenVINO"]
    assert rows["median_ms"].notna().all()
    assert rows["failure"].isna().all()


def test_the_engine_as_baseline() -> None:
    result = wb.compare(
        "digits-conv", wb.Engine("openvino"), wb.Config(), budget_s=0.2, progress=False, keep=False
    )
    assert [run.failure for run in result.runs] == [None, None]
    assert result.record.versions.onnxruntime.startswith("1.")


def test_sizes_are_swept_on_an_engine(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    result = wb.sweep(
        path, wb.Engine("openvino", threads=1), batch=(1, 3), budget_s=0.2, progress=False, keep=False
    )
    frame = result.to_frame()
    assert frame.iloc[:, 0].tolist() == [1, 3]
    assert (frame["median_ms"] > 0).all()
    assert frame["config"].str.contains("OpenVINO").all()


@pytest.mark.slow
def test_an_engine_that_is_not_installed_fails_alone(tmp_path: Path) -> None:
    """In an environment that has numpy alone."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "bare")], check=True)
    bare = tmp_path / "bare" / "bin" / "python"
    path = tiny.save(tiny.mlp(), tmp_path)
    engine = wb.Engine("openvino").replace(runtime=str(bare))
    result = wb.compare(path, wb.Config(), engine, budget_s=0.5, progress=False, keep=False)
    failure = result.runs[1].failure
    assert failure is not None
    assert failure.stage == "start"
    assert "has no module" in failure.problem
    assert "pip install" in failure.fix
    assert result.runs[0].failure is None


def test_a_model_that_is_no_sample_needs_a_factory(tmp_path: Path) -> None:
    """The error comes from the worker, which imports torch first: a stand-in for it is enough here."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "torch.py").write_text("__version__ = '0'\n")
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    path = tiny.save(tiny.mlp(), tmp_path)
    engine = wb.Engine("pytorch").replace(runtime=str(wrapper))
    result = wb.compare(path, wb.Config(), engine, budget_s=0.5, progress=False, keep=False)
    failure = result.runs[1].failure
    assert failure is not None
    assert failure.stage == "load"
    assert "must name what makes its module" in failure.problem


def test_a_load_test_needs_sessions(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    with pytest.raises(wb.ConfigError, match="needs sessions of ONNX Runtime"):
        wb.load_test(path, wb.Engine("openvino"), callers=1, duration_s=0.1, progress=False, keep=False)
