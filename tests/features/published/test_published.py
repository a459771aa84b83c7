"""Every published file of a model is judged against its float32 file."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from huggingface_hub import HfApi
from onnx import numpy_helper

import workbench as wb
from tests.core.models import tiny
from tests.factories import results
from workbench.apps.cli import main
from workbench.core.bundle.comparison import Doubt
from workbench.core.bundle.estimate import Estimate
from workbench.core.text import one_line
from workbench.features.base.registry import KINDS
from workbench.features.published.files import baseline_of, files_of
from workbench.features.published.record import published_chart as record_chart


def put_files(folder: Path) -> None:
    """Put a model into a folder, a copy in 16 bits, one of noise and one that is none."""
    tiny.save(tiny.mlp(64), folder).rename(folder / "model.onnx")
    half = wb.prepare(folder / "model.onnx", wb.Config(precision=wb.Float16()))
    shutil.copyfile(half.model.path, folder / "model_fp16.onnx")
    noise = onnx.load(folder / "model.onnx")
    for tensor in noise.graph.initializer:
        values = numpy_helper.to_array(tensor)
        tensor.CopyFrom(numpy_helper.from_array(values[..., ::-1].copy(), tensor.name))
    onnx.save(noise, folder / "model_q4.onnx")
    (folder / "model_int8.onnx").write_bytes(b"no model")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    put_files(folder)
    return folder


@pytest.mark.slow
@pytest.mark.real
def test_each_file_has_a_verdict_or_a_reason(folder: Path, tmp_path: Path) -> None:
    result = wb.published(folder, budget_s=0.2, progress=False, keep=False)
    rows = {row.name: row for row in result.record.rows}
    assert list(rows) == ["model.onnx", "model_fp16.onnx", "model_int8.onnx", "model_q4.onnx"]
    noise, half, broken = rows["model_q4.onnx"], rows["model_fp16.onnx"], rows["model_int8.onnx"]
    assert noise.verdict == "outputs differ"
    assert noise.is_noise
    assert half.is_sound
    assert half.error is not None
    assert half.error < 0.01
    assert half.file_bytes is not None
    assert 0.4 < half.file_bytes / (folder / "model.onnx").stat().st_size < 0.7
    assert half.peak_rss_bytes
    assert not broken.loads
    assert broken.failure
    text = str(result)
    assert "returns noise: model_q4.onnx; does not load: model_int8.onnx" in text.splitlines()[0]
    assert "within a limit of the file, take model_fp16.onnx from" in text
    best = result.best(max_file_bytes=half.file_bytes)
    assert best.label == half.label, "the only one of that size whose outputs are right"
    bundle = tmp_path / "published.ortbench"
    command = ["published", str(folder), "--budget", "1", "--quiet", "--no-history", "-o", str(bundle)]
    assert main([*command, "--fail-if", "differs"]) == 1
    assert len(wb.open(bundle).record.rows) == 4
    assert main(["best", str(bundle), "--max-file", "100"]) == 0


def test_a_larger_file_is_taken_only_where_it_is_faster_for_sure() -> None:
    first, half, noise, broken = results.published().rows
    record = replace(results.published(), rows=(first, half, noise, broken))
    by_size = record.to_take(lambda row: row.file_bytes)
    assert by_size == ((2 << 20, half),), "it is smaller and faster"
    slow = replace(half, ratio=Estimate(0.5, 0.4, 0.6), verdict="slower")
    by_size = replace(record, rows=(first, slow, noise)).to_take(lambda row: row.file_bytes)
    assert by_size == ((2 << 20, slow), (4 << 20, first))
    unsure = replace(half, ratio=Estimate(0.9, 0.7, 1.2), verdict="unknown")
    assert replace(record, rows=(first, unsure)).to_take(lambda row: row.file_bytes) == ((2 << 20, unsure),)
    assert replace(record, rows=(noise, broken)).to_take(lambda row: row.file_bytes) == ()


def test_a_file_that_returns_noise_or_does_not_load_is_named() -> None:
    record = results.published()
    assert "returns noise: q4.onnx; does not load: " in record.headline
    assert "C q4.onnx returns noise: 2.1 MB" in str(record)
    words = [row.values[3][0].text for row in record_chart(record).rows]
    assert words[0] == "the float32 file"
    assert words[2] == "returns noise"
    assert words[3] == "does not load"
    assert record_chart(record).rows[3].values[4][0].text == "does not load"
    assert "; within a limit of the file, take " in record_chart(record).sentences[0]
    other = replace(record.rows[2], error=0.2)
    assert "has other outputs: q4.onnx" in replace(record, rows=(record.rows[0], other)).headline


@pytest.mark.usefixtures("own_home")
def test_what_is_made_of_its_comparison_leaves_its_entry_of_the_history_as_it_is() -> None:
    result = wb.Published(results.published())
    result.keep()
    result.comparison.add(wb.Levels(results.levels()), "B")
    (entry,) = wb.history().entries()
    assert wb.history().open(entry.id).record == result.record


def test_the_form_names_the_folder_alone() -> None:
    declared = KINDS.named("published files")
    asked = {"source": "hf://org/repo", "only": "encoder*"}
    assert declared.call_code(["a", "b"], asked) == 'wb.published("hf://org/repo", only="encoder*")'


def test_the_float32_file_is_found_or_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "published"
    folder.mkdir()
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    for name in ("model.onnx", "model_fp16.onnx", "model_int8.onnx"):
        (folder / name).touch()
    files = files_of(folder)
    assert list(files_of(folder, "*_*")) == ["model_fp16.onnx", "model_int8.onnx"]
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
    with pytest.raises(wb.WorkbenchError, match=r"has 1 file of models that model\.\* names"):
        files_of(folder, "model.*")
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


def test_doubts_are_said_and_all_files_are_one_comparison() -> None:
    result = wb.Published(results.published())
    record = result.record.comparison
    doubt = Doubt("other load", "B", "one core was busy", "Close other programs")
    doubted = wb.Published(replace(result.record, comparison=replace(record, doubts=(doubt,))))
    assert "doubt about B (other load): one core was busy. Close other programs" in str(doubted)
    assert doubted.comparison.doubts == (doubt,)
    files = {one_line(row.name) for row in result.record.rows}
    contenders = {contender.config for contender in result.best(max_file_bytes=1e9).contenders}
    assert len(contenders) > 1
    assert contenders <= files


def test_a_limit_on_accuracy_says_where_it_is_measured() -> None:
    with pytest.raises(wb.ConfigError, match="without labelled examples") as caught:
        wb.Published(results.published()).best(max_accuracy_drop=0.01)
    assert "result.comparison.accuracy(data)" in caught.value.fix
