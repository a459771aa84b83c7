"""The model row without a browser."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.core.models import tiny
from workbench.apps.panels.files import keep, plain_name
from workbench.apps.panels.model_row import ModelRow, completions
from workbench.core.models.samples import sample_names


def opened(bench: wb.Workbench) -> None:
    job = bench.opening.running
    if job is not None:
        job.finished.wait()
    settle(bench)


def test_a_sample_is_opened_with_its_card() -> None:
    bench = wb.Workbench()
    row = ModelRow(bench)
    assert {value for _, value in row.samples.options} == {"", *sample_names()}
    row.samples.value = "digits-conv"
    opened(bench)
    assert bench.state.model.name == "digits-conv"
    assert "teaches" in row.headline.value
    assert row.netron.relative.startswith("workbench/netron/")


def test_the_field_for_a_path_is_empty_once_its_model_is_open(model: Path) -> None:
    bench = wb.Workbench()
    row = ModelRow(bench)
    row.path.value = str(model)
    row.open.click()
    opened(bench)
    assert bench.state.model.path == model
    assert row.path.value == "", "the next path is typed into an empty field"


def test_a_file_that_is_no_model_is_reported_in_the_row(tmp_path: Path) -> None:
    bench = wb.Workbench()
    row = ModelRow(bench)
    (tmp_path / "bad<b>.onnx").write_bytes(b"no model")
    row.load(str(tmp_path / "bad<b>.onnx"))
    opened(bench)
    assert "Fix:" in row.status.value
    assert "<b>.onnx" not in row.status.value
    assert bench.state.model is None


def test_paths_complete(model: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").touch()
    assert set(completions(f"{tmp_path}/")) == {str(model), f"{tmp_path / 'folder'}/"}
    assert completions(f"{tmp_path}/ti") == (str(model),)
    assert completions("/no/such/folder/x") == ()
    assert completions("~no-such-user/x") == ()
    assert completions("https://example.org/x.onnx") == ()


def test_recent_ones_are_offered(bench: wb.Workbench, model: Path) -> None:
    assert str(model) in ModelRow(bench).path.options


def uploaded(file: Path) -> dict[str, Any]:
    """Return a file as the page sends it."""
    content = memoryview(file.read_bytes())
    when = datetime.now(UTC)
    return {"name": file.name, "type": "", "size": len(content), "content": content, "last_modified": when}


def test_an_upload_is_opened(tmp_path: Path) -> None:
    path = tiny.save_external(tiny.mlp(), tmp_path)
    bench = wb.Workbench()
    row = ModelRow(bench)
    row.upload.value = [uploaded(path), uploaded(tmp_path / "tiny.onnx.data")]
    opened(bench)
    assert bench.state.model_error is None
    assert bench.state.model.external
    assert row.upload.value == ()


def test_enter_behind_a_path_and_a_dropped_file_open_a_model(model: Path) -> None:
    bench = wb.Workbench()
    row = ModelRow(bench)
    bench.page.bridge.answer(None, {"open": f" {model} "}, None)
    opened(bench)
    assert bench.state.model.path == model
    bench.page.bridge.answer(None, {"files": ["dropped.onnx"]}, [memoryview(model.read_bytes())])
    opened(bench)
    assert bench.state.model.name == "dropped"
    bench.page.bridge.answer(None, {"files": ["notes.txt"]}, [memoryview(b"no model")])
    assert "0 models among them" in row.status.value
    assert bench.state.model.name == "dropped"


@pytest.mark.parametrize("name", ["../../x.onnx", "..\\..\\x.onnx", "/etc/x.onnx"])
def test_an_upload_stays_in_its_folder(name: str) -> None:
    kept = keep([{"name": name, "content": b"anything"}])
    assert kept.name == "x.onnx"
    assert kept.parent.parent.name == "uploads"


@pytest.mark.parametrize("name", ["", "..", "x\0.onnx", "/", "a" * 300, "C:x.onnx", "x.onnx:y", "x\n.onnx"])
def test_an_invalid_file_name_is_refused(name: str) -> None:
    with pytest.raises(wb.ModelError):
        plain_name(name)


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.raises(wb.ModelError, match="same name"):
        keep([{"name": "a/x.onnx", "content": b"a"}, {"name": "b/X.onnx", "content": b"b"}])


def test_the_same_upload_again_leaves_the_file_that_may_be_in_use() -> None:
    first = keep([{"name": "x.onnx", "content": b"anything"}])
    before = first.stat()
    again = keep([{"name": "x.onnx", "content": b"anything"}])
    assert again == first
    assert again.stat().st_mtime_ns == before.st_mtime_ns


def test_two_models_at_once_are_refused() -> None:
    with pytest.raises(wb.ModelError, match="2 models"):
        keep([{"name": "a.onnx", "content": b"a"}, {"name": "b.onnx", "content": b"b"}])
