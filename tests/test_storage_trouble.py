"""A home or temporary folder that cannot be used: what is measured stays, and messages name the folder."""

from __future__ import annotations

import errno
import os
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import workbench as wb
from tests.core.models import tiny
from workbench.core.errors import StorageError
from workbench.core.home import cache_folder
from workbench.core.measure import candidates
from workbench.core.models.fingerprint import file_sha256
from workbench.core.worker.endings import refused
from workbench.core.worker.folder import WorkerFolder, no_room


@pytest.fixture
def broken_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home below a file, which no user can write."""
    (tmp_path / "file").write_text("")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path / "file" / "home"


def full(path: Path | None = None) -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), None if path is None else str(path))


def test_a_model_is_hashed_without_a_home(broken_home: Path, tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    with pytest.warns(UserWarning, match=str(broken_home)):
        assert len(file_sha256(path)) == 64
    assert wb.load(path).sha256 == file_sha256(path)
    assert not broken_home.exists()


@pytest.mark.real
def test_a_comparison_without_a_home_is_measured_and_kept_in_memory(
    broken_home: Path, tmp_path: Path
) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    prepared = wb.Config(precision=wb.DynamicInt8())
    with pytest.warns(UserWarning, match="not added to the history") as caught:
        result = wb.compare(path, wb.Config(), prepared, budget_s=0.1, progress=False)
    assert all(str(broken_home) in str(warning.message) for warning in caught)
    assert [run.failure for run in result.runs] == [None, None]
    assert result.save(tmp_path / "kept.ortbench").exists()


def test_a_home_that_cannot_be_made_is_named_once(broken_home: Path, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="set WORKBENCH_HOME to a folder that you may write to") as caught:
        folder = cache_folder()
    assert str(broken_home) in str(caught[0].message)
    assert folder.is_relative_to(tmp_path / "temporary")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache_folder() == folder
    with pytest.raises(wb.HistoryError, match=str(broken_home)):
        wb.history()


def test_a_home_without_room_for_a_substitute_is_an_error(
    broken_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(StorageError, match=str(broken_home)) as caught:
        cache_folder()
    assert "WORKBENCH_HOME" in caught.value.fix


def test_a_home_of_another_user_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("os.access", lambda *_: False)  # a superuser may write everywhere
    with pytest.warns(UserWarning, match="it is not writable"):
        assert not cache_folder().is_relative_to(tmp_path / "home")


@pytest.fixture
def two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The home of the workbench, and the folder of temporary files."""
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    for folder in (home / "data", home / "cache", temporary):
        folder.mkdir(parents=True)
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    return home, temporary


def test_a_full_disk_is_that_of_the_file_that_could_not_be_written(
    two_folders: tuple[Path, Path], tmp_path: Path
) -> None:
    home, temporary = two_folders
    of_home, of_temporary = (
        no_room(full(home / "cache" / "a")),
        no_room(full(temporary / "ort-workbench-1-a" / "feeds")),
    )
    assert of_home is not None
    assert str(home) in of_home.problem
    assert "WORKBENCH_HOME" in of_home.fix
    assert of_temporary is not None
    assert str(temporary) in of_temporary.problem
    assert "TMPDIR" in of_temporary.fix
    assert no_room(full(tmp_path / "users own file")) is None


def test_of_two_folders_the_one_on_the_fuller_disk_is_named(
    two_folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, temporary = two_folders
    free = {str(home): 0, str(temporary): 5 << 30}

    def disk_usage(path: Any) -> SimpleNamespace:
        return SimpleNamespace(free=next(size for name, size in free.items() if str(path).startswith(name)))

    monkeypatch.setattr("shutil.disk_usage", disk_usage)
    error = no_room(full())
    assert error is not None
    assert str(home) in error.problem
    free[str(home)], free[str(temporary)] = 5 << 30, 0
    with pytest.raises(StorageError, match=str(temporary)), WorkerFolder():
        raise full()
    answer = {"type": "OSError", "message": "No space left on device", "errno": errno.ENOSPC}
    assert isinstance(refused(answer, "run"), StorageError)


def test_a_missing_file_of_the_user_is_no_trouble_of_our_folders(tmp_path: Path) -> None:
    answer = {"type": "FileNotFoundError", "message": "gone", "errno": errno.ENOENT}
    error = refused({**answer, "filename": str(tmp_path / "model.onnx")}, "load")
    assert not isinstance(error, StorageError)


def test_a_full_disk_is_not_blamed_on_a_config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trouble = StorageError("the disk of the folder /full is full", "free some space")

    def make_runnable(*_: Any, **__: Any) -> None:
        raise trouble

    monkeypatch.setattr(candidates, "make_runnable", make_runnable)
    model = wb.load(tiny.save(tiny.mlp(), tmp_path))
    request = SimpleNamespace(
        feeds=model.inputs().feeds, configs=(wb.Config(), wb.Config()), labels=("A", "B"), slow_downs=(),
        model=model.path, source=model, calibration=None,
    )  # fmt: skip
    with pytest.raises(StorageError, match="/full"):
        candidates.make_candidates(request, tmp_path)  # type: ignore[arg-type]
