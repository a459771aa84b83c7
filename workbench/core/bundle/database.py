"""The SQLite file of the history: opened per call, checked to be a history, never repaired automatically."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from workbench.core.errors import HistoryError
from workbench.core.text import quoted

APPLICATION_ID = 0x4F525442  # "ORTB", in the file header
SCHEMA_VERSION = 2  # 2 lists the results from an index, without their bundles
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
"""
_LISTED = """
DROP INDEX IF EXISTS records_by_time;
CREATE INDEX records_listed ON records (
    created_utc, id, kind, model, model_sha256, verdict, ratio, low, high, cpu, note, bundle_bytes
);
"""

_INDEXES = ("records_by_time", "records_by_model", "records_listed")  # the first is of version 1
_OURS = {("table", "records"), *(("index", name) for name in _INDEXES)}

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORKED = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|glusterfs|lustre|gpfs|beegfs|orangefs|virtiofs|davfs|fuse\..*"
)
_SET_ASIDE = "Call wb.history().set_aside(): it renames the file, deletes nothing, and a new history starts."
_ELSEWHERE = "Set WORKBENCH_HOME to a folder that you may write to."
_FIXES = {
    "SQLITE_BUSY": "Another program holds it: close that one, or try again in a moment.",
    "SQLITE_LOCKED": "Another program holds it: close that one, or try again in a moment.",
    "SQLITE_CORRUPT": _SET_ASIDE,
    "SQLITE_NOTADB": _SET_ASIDE,
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
        with contextlib.closing(_connect_to_read(path, patience_s)) as connection:
            yield connection if _check_ours(connection, path) else None


@contextlib.contextmanager
def writing(path: Path, patience_s: float) -> Iterator[sqlite3.Connection]:
    """Yield a connection in a transaction: either all its changes are stored, or none."""
    with _translated(path), contextlib.closing(_connect(path, "mode=rwc", patience_s)) as connection:
        if not _check_ours(connection, path):  # before the first change, and again once the lock is held
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only an empty file takes it
        _choose_journal(connection, path)
        connection.execute("BEGIN IMMEDIATE")
        if not _check_ours(connection, path):
            _execute_all(connection, _TABLES)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        if connection.execute("PRAGMA user_version").fetchone()[0] < SCHEMA_VERSION:
            _execute_all(connection, _LISTED)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        yield connection
        connection.execute("COMMIT")


def companions(path: Path) -> list[Path]:
    """Return the files that SQLite keeps beside `path`."""
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal")]


def _connect_to_read(path: Path, patience_s: float) -> sqlite3.Connection:
    """Connect, but not read-only: after a kill during a write, the next reader must recover the file."""
    try:
        connection = _connect(path, "mode=rw", patience_s)
    except sqlite3.OperationalError as error:
        unwritable = error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY"))
        unmerged = (file for file in companions(path) if file.exists() and file.stat().st_size > 0)
        if not unwritable or any(unmerged):
            raise
        # A file in WAL mode in a folder without write access opens only if nobody can change the file.
        connection = _connect(path, "mode=ro&immutable=1", patience_s)
    connection.execute("PRAGMA query_only = ON")
    return connection


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


def _choose_journal(connection: sqlite3.Connection, path: Path) -> None:
    """Choose the journal mode: WAL allows reads during writes but needs memory shared by all users."""
    connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")  # also of the change of the mode
    wanted = "delete" if is_networked(path.parent) else "wal"
    (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    if journal != wanted:
        with contextlib.suppress(sqlite3.OperationalError):  # the file is in use: either mode is safe
            connection.execute(f"PRAGMA journal_mode = {wanted}")


def is_networked(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Return True if files cannot safely share memory; False also if the file system is unknown."""
    place = os.path.realpath(folder)
    if place.startswith("\\\\"):
        return True
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # not Linux: assume a local disk
        return False
    return bool(_NETWORKED.fullmatch(_kind_of_mount(place, lines)))


def _kind_of_mount(place: str, lines: list[str]) -> str:
    """Return the file system type of the deepest mount above `place`; the last listed mount is on top."""
    best, kind = "", ""
    for line in lines:
        left, _, right = line.partition(" - ")
        point = re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), left.split(" ")[4])
        if len(point) >= len(best) and (place == point or place.startswith(point.rstrip("/") + "/")):
            best, kind = point, right.split(" ")[0]
    return kind


def _check_ours(connection: sqlite3.Connection, path: Path) -> bool:
    """Return True for a history and False for an empty file; refuse any other file."""
    application, version, tables, foreign = _identity(connection)
    if application == version == tables == 0:
        return False
    if application != APPLICATION_ID:
        raise HistoryError(
            f"{str(path)!r} is the database of another program, not a history.",
            f"Set WORKBENCH_HOME to another folder. Or: {_SET_ASIDE}",
        )
    if version > SCHEMA_VERSION:
        raise HistoryError(
            f"{str(path)!r} has version {version}; this workbench knows versions 1 to {SCHEMA_VERSION}.",
            "Update ort-workbench, or set WORKBENCH_HOME to another folder.",
        )
    if foreign:
        raise HistoryError(
            f"{str(path)!r} holds what no workbench puts there: {', '.join(foreign)}. Such a trigger or view "
            "can change records unseen.",
            _SET_ASIDE,
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


def _execute_all(connection: sqlite3.Connection, statements: str) -> None:
    for statement in filter(None, map(str.strip, statements.split(";"))):
        connection.execute(statement)


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Translate SQLite's errors into workbench errors; leave the file unchanged."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        fix = next((text for code, text in _FIXES.items() if name.startswith(code)), _SET_ASIDE)
        raise HistoryError(f"The history {str(path)!r} cannot be used: {error}.", fix) from error
    except OSError as error:
        raise HistoryError(f"The history {str(path)!r} cannot be used: {error}.", _ELSEWHERE) from error
