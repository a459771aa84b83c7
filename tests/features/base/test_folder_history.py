"""A shared folder of bundles is a history that is read and never written."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from tests.factories.comparisons import ordinary
from workbench.apps.cli import main

pytestmark = pytest.mark.usefixtures("coarse")


@pytest.fixture
def team(tmp_path: Path) -> Path:
    folder = tmp_path / "team"
    folder.mkdir()
    for name in ("anna", "ben"):
        wb.Comparison(replace(ordinary(), id=f"20260101-000000-{name}")).save(folder / f"{name}.ortbench")
    return folder


def test_bundles_are_listed_filtered_and_opened_and_the_own_history_stays_as_it_is(team: Path) -> None:
    own, kept = len(wb.history()), wb.history(team)
    assert {entry.id for entry in kept.entries()} == {"20260101-000000-anna", "20260101-000000-ben"}
    assert [entry.id for entry in kept.entries(text="ANNA")] == ["20260101-000000-anna"]
    opened = kept.open("20260101-000000-b")
    assert isinstance(opened, wb.Comparison)
    assert opened.record.id == "20260101-000000-ben"
    assert len(kept.to_frame()) == 2
    assert len(wb.history()) == own


def test_files_that_come_go_or_change_are_seen(team: Path) -> None:
    kept = wb.history(team)
    assert len(kept) == 2
    shutil.copy(team / "anna.ortbench", team / "copy.ortbench")
    (team / "ben.ortbench").unlink()
    wb.Comparison(replace(ordinary(), id="20260101-000000-carl")).save(team / "anna.ortbench")
    (team / "notes.txt").write_text("no bundle")
    for again in (kept, wb.history(team)):
        assert {entry.id for entry in again.entries()} == {"20260101-000000-anna", "20260101-000000-carl"}
    shutil.copy(team / "anna.ortbench", team / "twice.ortbench")
    names = {entry.id for entry in kept.entries(text="carl")}
    assert len(names) == 2, "each file is an entry"
    assert all(kept.open(name).record.id == "20260101-000000-carl" for name in names)


def test_a_bundle_that_another_one_is_copied_over_is_seen(team: Path) -> None:
    kept = wb.history(team)
    assert kept.entries(text="anna")
    other = wb.Comparison(replace(ordinary(), id="20260101-000000-dora")).save(team.parent / "d.ortbench")
    shutil.copy(other, team / "anna.ortbench")  # in place: the time of the folder stays as it is
    assert {entry.id for entry in kept.entries()} == {"20260101-000000-ben", "20260101-000000-dora"}


def test_a_folder_of_a_user_who_is_not_here_is_named() -> None:
    with pytest.raises(wb.WorkbenchError, match="~no-such-user/x is no folder"):
        wb.history("~no-such-user/x")


def test_nothing_is_written_for_a_user_who_is_not_here() -> None:
    with pytest.raises(wb.WorkbenchError, match="correct the name after ~"):
        wb.Comparison(ordinary()).export("~no-such-user/x")


def test_a_bundle_that_cannot_be_read_is_listed_with_the_reason(team: Path) -> None:
    (team / "bad.ortbench").write_bytes(b"PK\x03\x04 <script>")
    (team / "link.ortbench").symlink_to(team / "anna.ortbench")
    (entry,) = wb.history(team).entries(kind="damaged")
    assert entry.id == "bad.ortbench"
    assert entry.note
    with pytest.raises(wb.WorkbenchError, match="cannot be opened"):
        wb.history(team).open("bad.ortbench")


def test_the_configs_of_a_bundle_that_cannot_be_read_are_empty(team: Path) -> None:
    (team / "bad.ortbench").write_bytes(b"PK\x03\x04")
    frame = wb.history(team).to_frame(configs=True).set_index("kind")
    assert frame["config_A"].isna()["damaged"]
    assert frame.loc["comparison", "config_A"].notna().all()


def test_a_bundle_that_was_listed_while_it_was_copied_is_read_when_it_is_whole(team: Path) -> None:
    kept, whole = wb.history(team), (team / "anna.ortbench").read_bytes()
    with (team / "copy.ortbench").open("wb") as copy:
        copy.write(whole[:100])
        copy.flush()
        assert [entry.id for entry in kept.entries(kind="damaged")] == ["copy.ortbench"]
        copy.write(whole[100:])
    assert not kept.entries(kind="damaged")
    assert len(kept) == 3


def test_a_bundle_that_could_not_be_read_is_tried_again_by_the_next_history(team: Path) -> None:
    bundle = team / "anna.ortbench"
    whole, time_ns = bundle.read_bytes(), bundle.stat().st_mtime_ns
    for content, count in ((bytes(len(whole)), 1), (whole, 0)):
        bundle.write_bytes(content)  # the index knows a file by its name, size and time
        os.utime(bundle, ns=(time_ns, time_ns))
        assert len(wb.history(team).entries(kind="damaged")) == count


def test_a_folder_that_is_gone_is_an_error_with_a_fix(team: Path) -> None:
    kept = wb.history(team)
    shutil.rmtree(team)
    with pytest.raises(wb.WorkbenchError, match=r"cannot be listed.*\nFix: Check that the folder"):
        kept.entries()


def test_nothing_is_written_there(team: Path) -> None:
    before = {path.name: path.read_bytes() for path in team.iterdir()}
    kept = wb.history(team)
    for write in (
        lambda: kept.annotate("20260101-000000-anna", "x"),
        lambda: kept.pin("20260101-000000-anna"),
        lambda: kept.delete("20260101-000000-a"),
    ):
        with pytest.raises(wb.WorkbenchError, match="only read"):
            write()
    assert {path.name: path.read_bytes() for path in team.iterdir()} == before
    with pytest.raises(wb.WorkbenchError, match="is no folder"):
        wb.history(team / "missing")


def test_the_command_lists_a_folder(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "--folder", str(team), "--most", "1"]) == 0
    assert capsys.readouterr().out.count("20260101-000000-") == 1
