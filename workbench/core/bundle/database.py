"""The SQLite file of the history: opened per call, checked to be a history, never repaired automatically."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from workbench.core.errors import HistoryError
from workbench.core.text import quoted

APPLICATION_ID = 0x4F525442  # "ORTB", in the file header
SCHEMA_VERSION = 2
SYNCHRONOUS = "FULL"  # a record that was added survives a power cut

_TABLES = """
CREATE TABLE records (
    id TEXT PRIMARY KEY,
    created_utc TEXT NOT NULL,
    kind TEXT NOT NULL,
    model TEXT NOT NULL,
    model_sha256 TEXT NOT NULL,
    verdict TEXT,
    ratio REAL,
    low REAL,
    high REAL,
    cpu TEXT NOT NULL,
    note TEXT NOT NULL,
    bundle_bytes INTEGER NOT NULL,
    bundle BLOB NOT NULL
);
CREATE INDEX records_by_model ON records (model_sha256);
CREATE INDEX records_listed ON records (
    created_utc, id, kind, model, model_sha256, verdict, ratio, low, high, cpu, note, bundle_bytes
);
"""  # the second index lists the results without reading their bundles
_OURS = {("table", "records"), ("index", "records_by_model"), ("index", "records_listed")}
_START_AFRESH = "Call wb.history().start_afresh(): it renames the file and deletes nothing; a new one starts."
_ELSEWHERE = "Set WORKBENCH_HOME to a folder that you may write to."
_FIXES = {
    "SQLITE_BUSY": "Another program holds it: close that one, or try again in a moment.",
    "SQLITE_LOCKED": "Another program holds it: close that one, or try again in a moment.",
    "SQLITE_CORRUPT": _START_AFRESH,
    "SQLITE_NOTADB": _START_AFRESH,
    "SQLITE_FULL": "Free some space. What was saved before is still there.",
    "SQLITE_IOERR": "Check that the disk is not full and works. What was saved before is still there.",
    "SQLITE_READONLY": _ELSEWHERE,
    "SQLITE_CANTOPEN": _ELSEWHERE,
    "SQLITE_PERM": _ELSEWHERE,
    "SQLITE_TOOBIG": "Save without the structure of the graph, or measure with a smaller budget_s.",
}


@contextlib.contextmanager
def reading(path: Path, patience_s: float) -> Iterator[sqlite3.Connection | None]:
    """Yield a connection that changes nothing, or None if no history exists yet."""
    with _translated(path):
        if not path.exists():
            yield None
            return
        with contextlib.closing(_connect(path, "mode=rw", patience_s)) as connection:
            # Not opened as read-only: after a kill during a write, the next reader must recover the file.
            connection.execute("PRAGMA query_only = ON")
            yield connection if _check_ours(connection, path) else None


@contextlib.contextmanager
def writing(path: Path, patience_s: float) -> Iterator[sqlite3.Connection]:
    """Yield a connection in a transaction: either all its changes are stored, or none."""
    with _translated(path), contextlib.closing(_connect(path, "mode=rwc", patience_s)) as connection:
        if not _check_ours(connection, path):  # before the first change, and again once the lock is held
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only an empty file takes it
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
        with contextlib.suppress(
            sqlite3.OperationalError
        ):  # in use: a log of an earlier version is safe, too
            connection.execute("PRAGMA journal_mode = delete")
        connection.execute("BEGIN IMMEDIATE")
        if not _check_ours(connection, path):
            for statement in filter(None, map(str.strip, _TABLES.split(";"))):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        yield connection
        connection.execute("COMMIT")


def _connect(path: Path, options: str, patience_s: float) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?{options}"
    connection = sqlite3.connect(uri, uri=True, timeout=patience_s, isolation_level=None)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")  # a damaged row stays listed
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA schema_version")  # the first read of the file
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _check_ours(connection: sqlite3.Connection, path: Path) -> bool:
    """Return True for a history and False for an empty file; refuse any other file."""
    application, version, tables, foreign = _identity(connection)
    if application == version == tables == 0:
        return False
    if application != APPLICATION_ID:
        raise HistoryError(
            f"{str(path)!r} is the database of another program, not a history.",
            f"Set WORKBENCH_HOME to another folder. Or: {_START_AFRESH}",
        )
    if version != SCHEMA_VERSION:
        raise HistoryError(
            f"{str(path)!r} has version {version}; this workbench knows version {SCHEMA_VERSION}.",
            f"Update ort-workbench, or set WORKBENCH_HOME to another folder. Or: {_START_AFRESH}",
        )
    if foreign:
        raise HistoryError(
            f"{str(path)!r} holds what no workbench puts there: {', '.join(foreign)}. Such a trigger or view "
            "can change records unseen.",
            _START_AFRESH,
        )
    return True


def _identity(connection: sqlite3.Connection) -> tuple[int, int, int, list[str]]:
    """Return application id, version, number of tables and foreign objects, read at one time.

    Other processes may be creating the file meanwhile.
    """
    alone = not connection.in_transaction
    if alone:
        connection.execute("BEGIN")
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        objects = connection.execute("SELECT type, name FROM sqlite_master").fetchall()
    finally:
        if alone:
            connection.execute("ROLLBACK")
    foreign = sorted(
        f"{kind} {quoted(name)}"
        for kind, name in objects
        if (kind, name) not in _OURS
        and not (kind in ("table", "index") and name.startswith("sqlite_"))  # SQLite creates no other kind
    )
    return application, version, len(objects), foreign[:5]


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Translate SQLite's errors into workbench errors; leave the file unchanged."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        fix = next((text for code, text in _FIXES.items() if name.startswith(code)), _START_AFRESH)
        raise HistoryError(f"The history {str(path)!r} cannot be used: {error}.", fix) from error
    except OSError as error:
        raise HistoryError(f"The history {str(path)!r} cannot be used: {error}.", _ELSEWHERE) from error
