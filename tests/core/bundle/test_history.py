"""The history keeps what was measured, finds it again, and forgets only what it is told to."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sqlite3
import threading
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import amount
from tests.factories.records import CONFIGS, comparison, failed_run, names, run
from workbench.core.bundle import database
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.database import reading, writing
from workbench.core.bundle.entries import PIN
from workbench.core.bundle.history import RecordHistory
from workbench.core.errors import HistoryError
from workbench.features.base.history import History


@pytest.fixture
def history(tmp_path: Path) -> RecordHistory:
    return RecordHistory(tmp_path / "history.sqlite")


def made(
    identity: str, created_utc: str = "2026-11-21T08:00:00+00:00", model: str = "bert"
) -> ComparisonRecord:
    base = comparison(identity)
    return replace(base, created_utc=created_utc, model=replace(base.model, name=model))


def test_an_empty_history_makes_no_file(history: RecordHistory, tmp_path: Path) -> None:
    assert len(history) == 0
    assert history
    assert history.entries() == []
    assert History(history.path).to_frame().empty
    assert "0 records" in history._repr_html_()
    assert names(tmp_path) == []


def test_kept_and_reopened(history: RecordHistory) -> None:
    record = comparison("20261121-080000-abc", run("B", CONFIGS[2]))
    assert history.add(record, b"graph", note="first") == record.id
    assert history.open(record.id) == record
    assert history.bundle("2026").structure == b"graph"
    (entry,) = history.entries()
    assert (entry.id, entry.kind, entry.model, entry.note) == (
        record.id,
        "comparison",
        record.model.name,
        "first",
    )
    assert (entry.verdict, entry.ratio, entry.low, entry.high) == ("faster", 1.83, 1.79, 1.88)
    assert (entry.cpu, entry.model_sha256) == ("A CPU", "ab" * 32)
    assert entry.bundle_bytes > 1000


def test_the_history_keeps_paths_that_a_bundle_hides(history: RecordHistory) -> None:
    failure = replace(failed_run().failure, problem=f"{Path.cwd()}/x.onnx is bad")  # type: ignore[type-var]
    record = comparison(candidate=replace(failed_run(), failure=failure))
    history.add(record)
    assert history.open(record.id) == record


def test_the_default_is_in_the_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    history = RecordHistory()
    history.add(comparison())
    assert history.path == tmp_path / "data" / "history.sqlite"
    assert str(history.path) in repr(history)


def test_the_same_twice_is_kept_once(history: RecordHistory) -> None:
    history.add(made("a"))
    history.add(made("a"))
    assert len(history) == 1


def test_another_of_the_same_id_is_refused(history: RecordHistory) -> None:
    history.add(made("a"))
    with pytest.raises(HistoryError, match="already has another record 'a'") as caught:
        history.add(made("a", model="other"))
    assert "delete('a')" in caught.value.fix
    assert history.open("a") == made("a")


def test_the_same_record_compressed_by_another_zlib_is_the_same(history: RecordHistory) -> None:
    history.add(made("a"))
    with contextlib.closing(sqlite3.connect(history.path)) as connection, connection:
        (blob,) = connection.execute("SELECT bundle FROM records").fetchone()
        other = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(blob)) as old, zipfile.ZipFile(other, "w") as new:
            for name in old.namelist():
                new.writestr(name, old.read(name))
        assert other.getvalue() != blob
        connection.execute("UPDATE records SET bundle = ?", (other.getvalue(),))
    assert history.add(made("a")) == "a"
    with pytest.raises(HistoryError, match="another record"):
        history.add(made("a", model="other"))


@pytest.mark.parametrize(
    ("column", "value"),
    [("created_utc", "'yesterday'"), ("ratio", "'fast'"), ("model", "CAST(x'ff' AS BLOB)"),
     ("note", "CAST(x'ff41' AS TEXT)"), ("cpu", "x'00'")],
)  # fmt: skip
def test_one_damaged_row_leaves_the_history_listed_and_can_be_deleted(
    history: RecordHistory, column: str, value: str
) -> None:
    for identity in ("good", "bad"):
        history.add(made(identity))
    with contextlib.closing(sqlite3.connect(history.path)) as connection, connection:
        connection.execute(f"UPDATE records SET {column} = {value} WHERE id = 'bad'")
    opened = History(history.path)
    assert {entry.id for entry in opened.entries(since="1960-01-01")} == {"good", "bad"}
    assert set(opened.to_frame()["id"]) == {"good", "bad"}
    assert "2 records" in repr(opened)
    assert "bad" in opened._repr_html_()
    opened.delete("bad")
    assert [entry.id for entry in opened.entries()] == ["good"]


def test_open_by_the_start_of_an_id(history: RecordHistory) -> None:
    for identity in ("abc", "abd", "ab", "x%_y"):
        history.add(made(identity))
    assert history.open("abc").id == "abc"
    assert history.open("ab").id == "ab", "a whole id is never ambiguous"
    assert history.open("x").id == "x%_y"
    with pytest.raises(HistoryError, match=r"start of 3 ids: .*abd"):
        history.open("a")
    for unknown in ("y", "%", "_", "abcd", "'; DROP TABLE records"):
        with pytest.raises(HistoryError, match="has no record"):
            history.open(unknown)
    for nothing in ("", None, 3):
        with pytest.raises(HistoryError, match="is not an id"):
            history.open(nothing)  # type: ignore[arg-type]


def test_delete(history: RecordHistory) -> None:
    for identity in ("abc", "abd"):
        history.add(made(identity))
    with pytest.raises(HistoryError, match="start of 2 ids"):
        history.delete("ab")
    history.delete("abc")
    assert [entry.id for entry in history.entries()] == ["abd"]
    with pytest.raises(HistoryError, match="has no record 'abc'"):
        history.delete("abc")


def test_annotate(history: RecordHistory) -> None:
    history.add(made("a"))
    history.annotate("a", "with the fan off \udcff")
    assert history.entries(text="FAN")[0].note == "with the fan off ?"


def test_a_pin_stays_with_the_note_until_it_is_taken_off(history: RecordHistory) -> None:
    for identity in "abc":
        history.add(made(identity), note=f"run {identity}")
    history.pin("a", "b")
    history.pin("a")
    history.annotate("a", "another note")
    notes = {entry.id: entry.note for entry in history.entries()}
    assert notes == {"a": f"{PIN} another note", "b": f"{PIN} run b", "c": "run c"}
    history.pin("a", "b", pinned=False)
    assert {entry.note for entry in history.entries()} == {"another note", "run b", "run c"}
    history.annotate("c", "")
    history.pin("c")
    assert [entry.note for entry in history.entries(note=PIN)] == [PIN]
    with pytest.raises(HistoryError, match="has no record 'gone'"):
        history.pin("a", "gone")
    assert [entry.id for entry in history.entries(note=PIN)] == ["c"]


@pytest.fixture
def filled(history: RecordHistory) -> RecordHistory:
    history.add(made("one", "2026-01-01T00:00:00+00:00", "BERT base"))
    history.add(made("two", "2026-06-01T00:00:00+00:00", "ResNet-50"), note="on the train")
    history.add(made("three", "2026-03-01T12:00:00+02:00", "bert tiny"))
    return history


@pytest.mark.parametrize(
    ("choice", "found"),
    [
        ({}, ["two", "three", "one"]),
        ({"model": "bert"}, ["three", "one"]),
        ({"model": "abab"}, ["two", "three", "one"]),
        ({"model": "50"}, ["two"]),
        ({"kind": "comparison", "text": "TRAIN"}, ["two"]),
        ({"kind": "study"}, []),
        ({"since": "2026-03-01"}, ["two", "three"]),
        ({"since": "2026-03-01T10:00:01"}, ["two"]),
        ({"since": "0001-01-01"}, ["two", "three", "one"]),
        ({"since": "0999-01-01"}, ["two", "three", "one"]),
        ({"since": datetime(2026, 3, 1, 10, tzinfo=UTC)}, ["two", "three"]),
        ({"text": "a cpu"}, ["two", "three", "one"]),
        ({"text": "faster"}, ["two", "three", "one"]),
        ({"text": "nowhere"}, []),
    ],
)
def test_filters(choice: dict[str, str], found: list[str], filled: RecordHistory) -> None:
    assert [entry.id for entry in filled.entries(**choice)] == found  # type: ignore[arg-type]
    frame = History(filled.path).to_frame(**choice)  # type: ignore[arg-type]
    assert frame.id.tolist() == found
    assert frame.ratio.dtype == "float64"


def test_a_time_that_is_none(filled: RecordHistory) -> None:
    with pytest.raises(HistoryError, match="'last week' is not a time"):
        filled.entries(since="last week")


def test_entries_are_listed_in_pages(filled: RecordHistory) -> None:
    assert [entry.id for entry in filled.entries(most=2)] == ["two", "three"]
    assert [entry.id for entry in filled.entries(most=2, skip=2)] == ["one"]
    assert [entry.id for entry in filled.entries(model="bert", most=1, skip=1)] == ["one"]
    assert [entry.id for entry in filled.entries(note="on the")] == ["two"]
    assert filled.span() == ("2026-01-01T00:00:00+00:00", "2026-06-01T00:00:00+00:00")
    assert list(History(filled.path).to_frame(most=1)["id"]) == ["two"]


@pytest.mark.parametrize("asked", ["straße", "STRASSE", "Σίσυφος", "kelvin", "a\x00b"])
def test_letters_are_folded_as_python_folds_them(history: RecordHistory, asked: str) -> None:
    history.add(made("a", model="Straße ΣΊΣΥΦΟΣ \u212aELVIN"), note="a\x00B")
    assert [entry.id for entry in history.entries(text=asked)] == ["a"]


def test_the_list_is_read_from_an_index_without_the_bundles(history: RecordHistory) -> None:
    history.add(made("new"))
    with contextlib.closing(sqlite3.connect(history.path)) as connection:
        plan = connection.execute("EXPLAIN QUERY PLAN SELECT id, note FROM records ORDER BY created_utc")
        assert "COVERING INDEX records_listed" in plan.fetchall()[0][3]


def test_several_are_deleted_together_and_their_space_is_given_back(history: RecordHistory) -> None:
    with writing(history.path, 1.0) as connection:
        row = ("2026-01-01", "comparison", "m", "h", "tie", 1.0, 0.9, 1.1, "cpu", "", 0, bytes(20_000))
        for at in range(50):
            connection.execute(f"INSERT INTO records VALUES (?{', ?' * 12})", (f"id-{at}", *row))
    history.compact()
    before = history.path.stat().st_size
    with pytest.raises(HistoryError, match="has no record 'x'"):
        history.delete("id-0", "x")
    history.delete(*(f"id-{at}" for at in range(40)))
    history.compact()
    assert len(history) == 10
    assert history.path.stat().st_size < before / 2


def test_absent_stays_absent(history: RecordHistory) -> None:
    verdict = replace(comparison().verdict, kind="unknown", ratio=None, low=None, high=None)
    history.add(replace(comparison("a"), verdicts=(verdict,)))
    assert history.entries()[0].ratio is None
    assert History(history.path).to_frame().ratio.isna().all()


def test_names_of_strangers_are_escaped(history: RecordHistory) -> None:
    history.add(made("a", model="<img src=x onerror=alert(1)>"), note="<script>")
    html = history._repr_html_()
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;img" in html


def test_a_long_history_shows_its_newest(history: RecordHistory) -> None:
    with writing(history.path, 1.0) as connection:
        row = ("2026-01-01", "comparison", "m", "h", "tie", 1.0, 0.9, 1.1, "cpu", "", 0, b"")
        for at in range(300):
            connection.execute(f"INSERT INTO records VALUES (?{', ?' * 12})", (f"id-{at}", *row))
    html = history._repr_html_()
    assert "300 records, the newest 20 of them below" in html
    assert html.count("<tr>") == 21


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text())
@settings(max_examples=amount(25))
def test_any_name_and_note(tmp_path_factory: pytest.TempPathFactory, name: str, note: str) -> None:
    history = RecordHistory(tmp_path_factory.mktemp("any") / "h.sqlite")
    history.add(made("a", model=name), note=note)
    assert history.open("a").model.name == name
    assert history.entries(model=name)[0].id == "a"


def test_a_history_that_is_being_created_meanwhile_is_not_taken_for_a_stranger(
    history: RecordHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process creates the tables between our looks at the file's id and at its tables."""
    history.path.touch()
    tried = []

    class Interrupted(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
            if sql == "PRAGMA user_version" and not tried:
                tried.append(sql)
                with contextlib.suppress(HistoryError):  # held off by our look: it would try again
                    RecordHistory(history.path, patience_s=0.0).add(made("theirs"))
            return super().execute(sql, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3,
        "connect",
        lambda *args, **options: connect(*args, **options, **({} if tried else {"factory": Interrupted})),
    )
    with reading(history.path, 1.0) as connection:
        assert connection is None
    assert tried
    history.add(made("ours"))
    assert "ours" in {entry.id for entry in history.entries()}


def test_a_record_that_was_added_survives_a_power_cut(history: RecordHistory) -> None:
    """The module as it is shipped waits for the disk; other tests do not."""
    spec = importlib.util.spec_from_file_location("shipped_database", database.__file__)
    assert spec is not None
    assert spec.loader is not None
    shipped = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shipped)
    with shipped.writing(history.path, 1.0) as connection:
        (level,) = connection.execute("PRAGMA synchronous").fetchone()
    assert level == 2, "FULL"


def test_threads_may_share_one(history: RecordHistory) -> None:
    def add(start: int) -> None:
        for at in range(5):
            history.add(made(f"id-{start}-{at}"))

    threads = [threading.Thread(target=add, args=(start,)) for start in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(history) == 30


def test_in_a_plain_console_the_newest_stand_under_one_another(history: RecordHistory) -> None:
    assert repr(history) == f"History: no record yet in {history.path}"
    for number in range(12):
        history.add(made(f"2026112{number % 10}-08{number:02}00-abc", model="bad \x1b[31m name"))
    first, *lines, last = repr(history).splitlines()
    assert first.startswith("History: 12 records in ")
    assert len(lines) == 10
    assert "\x1b" not in repr(history), "what a terminal obeys is shown"
    assert "faster (1.83×)" in lines[0]
    assert "open" in last


@pytest.mark.parametrize("kind", ["unknown", "outputs differ"])
def test_a_ratio_that_the_verdict_refuses_is_not_shown(
    tmp_path: Path, kind: Literal["unknown", "outputs differ"]
) -> None:
    verdict = replace(comparison().verdict, kind=kind, low=5.6e-19, high=1.75e15)
    history = RecordHistory(tmp_path / "history.sqlite")
    history.add(replace(comparison(), verdicts=(verdict,)))
    (entry,) = history.entries()
    assert (entry.verdict, entry.ratio, entry.low, entry.high) == (kind, None, None, None)
