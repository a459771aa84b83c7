"""Killed writers, crowded files, full disks and files that are not ours: nothing is lost, all is said."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.amount import amount
from tests.core.bundle import forks
from tests.factories.records import bulky, comparison, names
from workbench.core.bundle import database
from workbench.core.bundle.history import RecordHistory
from workbench.core.errors import HistoryError

REPOSITORY = Path(__file__).parents[3]
ADD_MANY = """
import sys
from tests.factories.records import comparison
from workbench.core.bundle.history import RecordHistory
history, name = RecordHistory(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for at in range(20):
    history.add(comparison(f"{name}-{at}"))
    assert len(history) > at
"""


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes reach the disk as they do for users, in what is killed or has no room."""
    monkeypatch.setattr(database, "SYNCHRONOUS", "FULL")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite"


def is_sound(path: Path) -> bool:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def problem_of(action: Any) -> tuple[str, str]:
    with pytest.raises(HistoryError) as caught:
        action()
    return caught.value.problem, caught.value.fix


def test_two_processes_at_once_lose_nothing(path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", ADD_MANY, str(path), name],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.communicate("go\n")
    assert [writer.returncode for writer in writers] == [0, 0]
    history = RecordHistory(path)
    assert len(history) == 40
    assert all(history.open(entry.id).id == entry.id for entry in history.entries())


@pytest.mark.usefixtures("shipped")
def test_killed_at_every_line_of_an_add(path: Path) -> None:
    """Whatever line a kill falls on, the files hold the old record, or both."""
    old, new = comparison("old"), comparison("new")
    folder = path.parent / "written"
    folder.mkdir()
    kept = RecordHistory(folder / path.name)
    kept.add(old)
    states = forks.states_at_lines(lambda: kept.add(new), folder, path.parent / "states")
    counts = []
    for state in states:
        killed = RecordHistory(state / path.name)
        ids = [entry.id for entry in killed.entries()]
        assert ids in (["old"], ["new", "old"]), state.name
        assert [killed.open(identity) for identity in ids] == [{"old": old, "new": new}[name] for name in ids]
        killed.delete(ids[0])
        assert is_sound(killed.path)
        counts.append(len(ids))
    assert counts == sorted(counts)
    assert {*counts} == {1, 2}, "some kills fall before the end of the transaction, some after it"


@pytest.mark.usefixtures("shipped")
def test_killed_with_half_of_its_pages_written(path: Path) -> None:
    """The file itself is then broken, and the next reader must put it right from the journal."""
    history = RecordHistory(path)
    history.add(comparison("before"))

    def write_half() -> None:
        with database.writing(path, 1.0) as connection:
            connection.execute("PRAGMA cache_size = 2")
            connection.execute("UPDATE records SET note = 'lost', bundle = zeroblob(3000000)")
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        write_half()
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert len(names(path.parent)) > 1, "a journal was left"
    assert history.open("before") == comparison("before")
    assert history.entries()[0].note == ""
    assert is_sound(path)


@pytest.mark.usefixtures("shipped")
def test_a_full_disk(path: Path) -> None:
    history = RecordHistory(path)
    history.add(comparison("before"))

    def fill() -> tuple[str, str]:
        return problem_of(lambda: history.add(bulky("big", 1)))

    problem, fix = forks.call_limited(fill, file_bytes=200_000)
    assert str(path) in problem
    assert "What was saved before is still there" in fix
    assert [entry.id for entry in history.entries()] == ["before"]
    assert is_sound(path)
    history.add(bulky("big", 1))
    assert len(history) == 2


def test_a_locked_file(path: Path) -> None:
    RecordHistory(path).add(comparison("before"))
    impatient = RecordHistory(path, patience_s=0.01)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for use in (lambda: impatient.add(comparison("new")), impatient.entries):
            problem, fix = problem_of(use)
            assert "locked" in problem
            assert "Another program holds it" in fix
    impatient.add(comparison("new"))
    assert len(impatient) == 2


def test_a_read_only_folder_can_be_read_but_not_written(public_folder: Path) -> None:
    path = public_folder / "history.sqlite"
    RecordHistory(path).add(comparison())
    path.chmod(0o444)
    public_folder.chmod(0o555)

    def use() -> Any:
        history = RecordHistory(path)
        assert history.open("01") == comparison()
        return [len(history), *problem_of(lambda: history.add(comparison("new")))]

    count, problem, fix = forks.call_unprivileged(use)
    assert count == 1
    assert str(path) in problem
    assert "WORKBENCH_HOME" in fix
    assert names(public_folder) == [path.name]


def test_the_history_of_a_read_only_home_can_be_listed(
    public_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_HOME", str(public_folder))
    RecordHistory().add(comparison())
    folder = public_folder / "data"
    (folder / "history.sqlite").chmod(0o444)
    folder.chmod(0o555)
    ids = forks.call_unprivileged(lambda: [entry.id for entry in RecordHistory().entries()])
    folder.chmod(0o755)
    assert ids == [entry.id for entry in RecordHistory().entries()] != []


def test_no_folder_for_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "file"))
    assert "WORKBENCH_HOME" in problem_of(RecordHistory)[1]
    assert "cannot be used" in problem_of(lambda: RecordHistory(tmp_path / "no" / "h").add(comparison()))[0]
    assert "cannot be used" in problem_of(lambda: RecordHistory(tmp_path).add(comparison()))[0]
    assert "cannot be used" in problem_of(RecordHistory(tmp_path).entries)[0]


USES = [
    lambda history: history.add(comparison("new")),
    lambda history: history.entries(),
    lambda history: history.open("01"),
    lambda history: history.delete("01"),
    lambda history: len(history),
    lambda history: history._repr_html_(),
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("content", [b"<html>", b"SQLite format 3\0" + b"\xff" * 5000, bytes(4096)])
def test_a_file_that_is_no_database_is_left_as_it_is(path: Path, content: bytes, use: Any) -> None:
    path.write_bytes(content)
    problem, fix = problem_of(lambda: use(RecordHistory(path)))
    assert str(path) in problem
    assert "start_afresh()" in fix
    assert path.read_bytes() == content
    assert names(path.parent) == [path.name]


LATER = ("PRAGMA user_version = 9", "9; this workbench knows version 2", "Update ort-workbench")
THEIRS = ("CREATE TABLE theirs (x)", "another program", "WORKBENCH_HOME")


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(("change", "said", "advised"), [LATER, THEIRS], ids=["later", "of another program"])
def test_a_database_that_is_not_ours_is_left_as_it_is(
    path: Path, use: Any, change: str, said: str, advised: str
) -> None:
    if change == LATER[0]:
        RecordHistory(path).add(comparison())
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(change)
        connection.commit()
    before = path.read_bytes()
    problem, fix = problem_of(lambda: use(RecordHistory(path)))
    assert said in problem
    assert advised in fix
    assert path.read_bytes() == before


def test_an_empty_file_is_an_empty_history(path: Path) -> None:
    path.touch()
    assert len(RecordHistory(path)) == 0
    RecordHistory(path).add(comparison())
    assert len(RecordHistory(path)) == 1


def test_starting_afresh_keeps_everything(path: Path) -> None:
    path.write_bytes(b"damaged")
    path.with_name(path.name + "-journal").write_bytes(b"log")
    history = RecordHistory(path)
    moved = history.start_afresh()
    assert moved.read_bytes() == b"damaged"
    assert moved.with_name(moved.name + "-journal").read_bytes() == b"log"
    history.add(comparison())
    assert len(history) == 1
    assert moved.read_bytes() == b"damaged"
    path.unlink()
    assert "cannot be moved aside" in problem_of(history.start_afresh)[0]


@pytest.mark.thorough
def test_damage_in_the_middle_is_told_or_harmless(tmp_path: Path) -> None:
    """Whatever page is hit, there is a HistoryError or the right answer, never another exception."""
    path = tmp_path / "h.sqlite"
    whole = {f"id-{at}": comparison(f"id-{at}") for at in range(8)}
    for record in whole.values():
        RecordHistory(path).add(record)
    intact = path.read_bytes()
    draw = random.Random(3)
    told = 0
    tries = amount(60)
    for _ in range(tries):
        at, length = draw.randrange(len(intact)), draw.choice((1, 8, 300))
        path.write_bytes(intact[:at] + draw.randbytes(length) + intact[at + length :])
        try:
            for entry in RecordHistory(path).entries():
                RecordHistory(path).open(entry.id)
            RecordHistory(path).add(comparison("new"))
        except HistoryError as error:
            told += bool(error.fix)
        path.with_name(path.name + "-journal").unlink(missing_ok=True)
    assert told >= tries // 6


def test_one_broken_record_leaves_the_others(path: Path) -> None:
    history = RecordHistory(path)
    history.add(comparison("good"))
    history.add(comparison("broken"))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE records SET bundle = ? WHERE id = 'broken'", (b"PK",))
        connection.commit()
    assert "The record 'broken' cannot be read" in problem_of(lambda: history.open("broken"))[0]
    assert history.open("good").id == "good"
    history.delete("broken")
    assert len(history) == 1


def test_nothing_stays_open(path: Path) -> None:
    history = RecordHistory(path)
    history.add(comparison())
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for at in range(5):
        history.add(comparison(f"id-{at}"))
        history.entries()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER greed AFTER INSERT ON records BEGIN DELETE FROM records WHERE id != new.id; END",
        "CREATE VIEW other AS SELECT * FROM records",
        "CREATE TABLE other (id TEXT)",
        "CREATE INDEX other ON records (note)",
    ],
)
def test_what_no_workbench_put_there_is_refused(statement: str, path: Path) -> None:
    history = RecordHistory(path)
    history.add(comparison("01-a"))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    for use in (lambda: history.add(comparison("02-b")), history.entries, lambda: history.open("01-a")):
        with pytest.raises(HistoryError, match="no workbench puts there") as refusal:
            use()
        assert "start_afresh" in refusal.value.fix
    history.start_afresh()
    assert history.add(comparison("02-b")) == "02-b"


def test_a_trigger_with_a_name_of_sqlites_own_is_refused(path: Path) -> None:
    """SQL cannot make one, but whoever writes the file can."""
    history = RecordHistory(path)
    history.add(comparison("01-a"))
    trigger = "CREATE TRIGGER sqlite_t AFTER INSERT ON records BEGIN UPDATE records SET note = 'x'; END"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_t', 'records', 0, ?)", (trigger,)
        )
        connection.commit()
    with pytest.raises(HistoryError, match="no workbench puts there"):
        history.entries()
