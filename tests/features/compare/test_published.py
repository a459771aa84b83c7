"""Every published file of a model is judged against its float32 file."""

from __future__ import annotations

import shutil
from pathlib import Path

import onnx
import pytest
from huggingface_hub import HfApi
from onnx import numpy_helper

import workbench as wb
from tests.core.models import tiny
from workbench.apps.cli import main
from workbench.features.compare.published import baseline_of, files_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, a copy in 16 bits, one of noise and one that is none."""
    folder = tmp_path_factory.mktemp("published")
    path = tiny.save(tiny.mlp(64), folder)
    path.rename(folder / "model.onnx")
    half = wb.prepare(folder / "model.onnx", wb.Config(precision=wb.Float16()))
    shutil.copyfile(half.model.path, folder / "model_fp16.onnx")
    noise = onnx.load(folder / "model.onnx")
    for tensor in noise.graph.initializer:
        values = numpy_helper.to_array(tensor)
        tensor.CopyFrom(numpy_helper.from_array(values[..., ::-1].copy(), tensor.name))
    onnx.save(noise, folder / "model_q4.onnx")
    (folder / "model_int8.onnx").write_bytes(b"no model")
    return folder


@pytest.mark.slow
@pytest.mark.real
def test_each_file_has_a_verdict_or_a_reason(folder: Path, tmp_path: Path) -> None:
    result = wb.published(folder, budget_s=0.2, progress=False, keep=False)
    runs = {Path(str(run.config.precision and run.config.precision.model)).name: run for run in result.runs}
    assert list(runs) == ["None", "model_fp16.onnx", "model_int8.onnx", "model_q4.onnx"]
    kinds = {verdict.label: verdict.kind for verdict in result.record.verdicts}
    assert kinds[runs["model_q4.onnx"].label] == "outputs differ"
    assert kinds[runs["model_fp16.onnx"].label] != "outputs differ"
    failure = runs["model_int8.onnx"].failure
    assert failure is not None
    assert failure.problem
    bundle = tmp_path / "published.ortbench"
    command = ["published", str(folder), "--budget", "1", "--quiet", "--no-history", "-o", str(bundle)]
    assert main([*command, "--fail-if", "differs"]) == 1
    assert len(wb.open(bundle).runs) == 4


def test_the_float32_file_is_found_or_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "published"
    folder.mkdir()
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    for name in ("model.onnx", "model_fp16.onnx", "model_int8.onnx"):
        (folder / name).touch()
    files = files_of(folder)
    assert baseline_of(files, None) == "model.onnx"
    assert baseline_of(files, "model_fp16.onnx") == "model_fp16.onnx"
    in_folders = ("fp16/model.onnx", "float32/model.onnx", "int8/model.onnx")
    assert baseline_of(dict.fromkeys(in_folders, ""), None) == "float32/model.onnx"
    in_one = ("optimum/model.onnx", "optimum/model_fp16.onnx")
    assert baseline_of(dict.fromkeys(in_one, ""), None) == "optimum/model.onnx", "both are in that folder"
    with pytest.raises(wb.WorkbenchError, match="no file 'other"):
        baseline_of(files, "other.onnx")
    with pytest.raises(wb.WorkbenchError, match="speaks of other arithmetic"):
        baseline_of({"a_fp16.onnx": "", "a_int8.onnx": ""}, None)
    with pytest.raises(wb.WorkbenchError, match="has 0 files of models"):
        files_of(nothing)
    with pytest.raises(wb.WorkbenchError, match="is no folder"):
        wb.published(tmp_path / "nowhere")


def test_the_files_of_a_repository_are_listed_or_it_is_said_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["README.md", "onnx/model.onnx", "onnx/model_q4.onnx"]
    monkeypatch.setattr(HfApi, "list_repo_files", lambda *_, **__: names)
    assert files_of("hf://org/repo@v2") == {
        name: f"hf://org/repo/{name}@v2" for name in names if name.endswith(".onnx")
    }

    def refuse(*_: object, **__: object) -> list[str]:
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(HfApi, "list_repo_files", refuse)
    with pytest.raises(wb.WorkbenchError, match="cannot be listed: nobody answers"):
        wb.published("hf://org/repo")
