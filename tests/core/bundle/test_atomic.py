"""A file is the old one or the new one, and nothing else is left behind, whatever happens while saving."""

from __future__ import annotations

import os
import random
import stat
from pathlib import Path

import pytest

from tests.core.bundle import forks
from tests.factories.records import names
from workbench.core.bundle.atomic import check_place, write_atomically
from workbench.core.errors import BundleError

OLD, NEW = (random.Random(seed).randbytes(600_000 + seed) for seed in (1, 2))


def problem_of(path: Path | str, blob: bytes = NEW) -> tuple[str, str]:
    """What is said when `blob` cannot be written to `path`."""
    with pytest.raises(BundleError) as caught:
        write_atomically(path, blob)
    return caught.value.problem, caught.value.fix


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a.ortbench"
    assert write_atomically(path, OLD) == path
    path.chmod(0o640)
    with path.open("rb") as reader:
        write_atomically(str(path), NEW)
        assert reader.read() == OLD, "who reads the old file meanwhile sees no byte of the new one"
    assert path.read_bytes() == NEW
    assert path.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["a.ortbench"]


def test_a_new_file_gets_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    made = write_atomically(tmp_path / "a", NEW)
    assert made.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(OLD)
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == NEW


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are read from /proc")
def test_a_system_that_removes_no_open_file_leaves_none_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = Path.unlink

    def unlink_closed(path: Path, missing_ok: bool = False) -> None:
        opened = (os.path.realpath(link) for link in Path("/proc/self/fd").iterdir())
        if os.path.realpath(path) in opened:
            raise PermissionError(13, "it is open")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink_closed)
    check_place(tmp_path / "a")
    write_atomically(tmp_path / "a", NEW)
    assert names(tmp_path) == ["a"]


def test_the_longest_name_is_possible(tmp_path: Path) -> None:
    write_atomically(tmp_path / ("n" * 255), NEW)
    assert "shorter name" in problem_of(tmp_path / ("n" * 256))[1]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    problem, fix = problem_of(tmp_path / "no" / "a.ortbench")
    assert str(tmp_path / "no" / "a.ortbench") in problem
    assert "Make the folder first" in fix


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "name of a file" in problem_of(tmp_path)[1]


def test_a_file_used_as_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)
    assert "not a folder" in problem_of(tmp_path / "file" / "a")[1]
    assert (tmp_path / "file").read_bytes() == OLD


def test_a_device_is_never_replaced() -> None:
    before = Path("/dev/full").stat()
    assert "device" in problem_of("/dev/full")[0]
    assert Path("/dev/full").stat() == before


def test_a_null_byte_is_refused() -> None:
    assert problem_of("a\0b")[0] == "'a\\x00b' cannot be written: a path holds no null byte."


def test_a_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    path = write_atomically(tmp_path / "a", OLD)
    problem, fix = forks.call_limited(lambda: problem_of(path), file_bytes=400_000)
    assert "cannot be written" in problem
    assert "Free some space" in fix
    assert path.read_bytes() == OLD
    assert names(tmp_path) == ["a"]


def test_a_read_only_folder_keeps_the_old_file(public_folder: Path) -> None:
    path = write_atomically(public_folder / "a", OLD)
    public_folder.chmod(0o555)
    problem, fix = forks.call_unprivileged(lambda: problem_of(path))
    assert "Permission denied" in problem
    assert "folder that you may write to" in fix
    assert path.read_bytes() == OLD
    assert names(public_folder) == ["a"]


def test_a_file_system_that_takes_no_files_is_refused_even_to_root() -> None:
    assert "folder that you may write to" in problem_of("/sys/a.ortbench")[1]


def test_killed_at_every_line_of_a_save(tmp_path: Path) -> None:
    folder = tmp_path / "written"
    folder.mkdir()
    path = write_atomically(folder / "a", OLD)
    states = forks.states_at_lines(lambda: write_atomically(path, NEW), folder, tmp_path / "states")
    leftovers = [len(names(state)) - 1 for state in states]
    contents = [(state / "a").read_bytes() for state in states]
    for state in states:
        for left in state.glob(".*"):
            os.utime(left, (0, 0))
        write_atomically(state / "a", OLD)
        assert names(state) == ["a"], "a later save removes what the killed one left"
    assert contents == sorted(contents, key=(OLD, NEW).index), "the old file, then the new one"
    assert {*contents} == {OLD, NEW}
    assert sum(leftovers) > 1, "some kills fall into the middle of the save"
    assert leftovers[-1] == 0
    assert path.read_bytes() == NEW


def test_the_file_of_a_living_writer_is_left_alone(tmp_path: Path) -> None:
    """Several processes saving into one folder never take each other's temporary files."""

    def save_many(name: str) -> int:
        for _ in range(60):
            write_atomically(tmp_path / name, NEW)
        return 60

    children = []
    for name in ("one", "two"):
        child = os.fork()
        if child == 0:
            os._exit(0 if save_many(name) == 60 else 1)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
    assert names(tmp_path) == ["one", "two"]


def test_a_power_cut_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The content is on the disk before it has the name, and the name is before the call returns."""
    path = tmp_path / "a.ortbench"
    path.write_bytes(OLD)
    synced: list[tuple[str, bool]] = []

    def sync(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        synced.append(("folder" if is_folder else "file", path.read_bytes() == NEW))

    monkeypatch.setattr(os, "fsync", sync)
    write_atomically(path, NEW)
    assert synced == [("file", False), ("folder", True)]
