"""What is kept on disk: listed, bounded and removed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import workbench as wb
from tests.factories.comparisons import ordinary
from workbench.apps.cli import main
from workbench.apps.server import published_files
from workbench.core import home
from workbench.core.stored_files import stored_files, trim
from workbench.features.base.storage import STORES
from workbench.features.tune.optuna_trials import storage_path

pytestmark = pytest.mark.usefixtures("own_home")
DAY_S = 24 * 3600.0


def put(folder: str, name: str, size: int, days: float = 0.0) -> Path:
    """An entry that was last used so many days ago."""
    path = home.cache_folder() / folder / name / "model.onnx"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * size)
    used = time.time() - days * DAY_S
    os.utime(path, (used, used))
    os.utime(path.parent, (used, used))
    return path


def test_an_empty_home_holds_nothing_and_is_not_made() -> None:
    assert wb.storage().to_frame()["bytes"].sum() == 0
    assert set(wb.storage().to_frame()["name"]) == set(STORES)
    assert not any(place.exists() for place in home.places())


def test_each_kind_says_how_much_and_how_old() -> None:
    put("downloads", "a", 1000, days=3)
    put("downloads", "b", 500, days=1)
    row = next(row for row in wb.storage().rows if row.name == "downloads")
    assert (row.entry_count, row.size_bytes) == (2, 1500)
    assert row.oldest_s is not None
    assert row.newest_s is not None
    assert 1.9 * DAY_S < row.newest_s - row.oldest_s < 2.1 * DAY_S
    assert "downloads" in str(wb.storage())
    assert "last used 1 day ago" in str(wb.storage())


def test_what_is_laid_out_for_netron_and_optuna_is_counted_and_removed(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"x" * 1000)
    published_files.publish("netron", model, "a model")
    studies = storage_path()
    for path in (studies, studies.with_name(f"{studies.name}-journal")):
        path.write_bytes(b"x" * 500)
    other = studies.with_name("recent.json")
    other.write_text("[]")
    sizes = {row.name: row.size_bytes for row in wb.storage().rows}
    assert sizes["published"] > 0
    assert sizes["optuna"] == 1000
    assert main(["clean", "published", "optuna"]) == 0
    left = {row.name: row.entry_count for row in wb.storage().rows}
    assert (left["published"], left["optuna"]) == (0, 0)
    assert [path.name for path in studies.parent.rglob("*") if path.is_file()] == [other.name]
    assert model.exists()


def test_only_what_is_old_is_removed() -> None:
    old, new = put("downloads", "old", 1000, days=10), put("downloads", "new", 500)
    other = put("uploads", "old", 700, days=10)
    assert wb.storage().remove("downloads", older_than_days=5) == 1000
    assert not old.exists()
    assert new.exists()
    assert other.exists()


def test_everything_that_can_be_made_again_is_removed_and_the_history_stays() -> None:
    for folder in ("downloads", "prepared", "named", "models"):
        put(folder, "a", 100)
    wb.Comparison(ordinary()).keep()
    wb.storage().remove()
    assert [row.name for row in wb.storage().rows if row.entry_count] == ["history"]
    wb.storage().remove("history", older_than_days=1e6)
    assert len(wb.history()) == 1
    wb.storage().remove("history")
    assert len(wb.history()) == 0


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(wb.ConfigError, match="'download' is nothing that is kept") as caught:
        wb.storage().remove("download")
    assert "downloads" in caught.value.fix


def test_a_bound_removes_what_was_unused_for_longest() -> None:
    folder = home.cache_folder() / "models"
    put("models", "oldest", 600, days=30)
    put("models", "old", 600, days=20)
    put("models", "new", 600, days=1)
    trim(folder, most_bytes=1300)
    assert {entry.path.name for entry in stored_files(folder)} == {"old", "new"}
    trim(folder, most_bytes=10)
    assert {entry.path.name for entry in stored_files(folder)} == {"new"}, "used within the week"


def test_the_command_lists_and_removes(capsys: pytest.CaptureFixture[str]) -> None:
    path = put("downloads", "a", 2000)
    assert main(["clean"]) == 0
    assert "downloads" in capsys.readouterr().out
    assert path.exists()
    assert main(["clean", "downloads", "--older-than", "1"]) == 0
    assert path.exists()
    assert main(["clean", "all"]) == 0
    assert not path.exists()
    assert main(["clean", "nothing"]) == 2
