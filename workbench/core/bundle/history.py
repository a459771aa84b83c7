"""The history of all results: one SQLite file that several notebooks may use at once."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import datetime
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.core import home
from workbench.core.bundle.bundle import Bundle, pack_record, unpack_record
from workbench.core.bundle.container import unpack
from workbench.core.bundle.database import reading, writing
from workbench.core.bundle.entries import (
    COLUMNS,
    PIN,
    Entry,
    EntryFilter,
    entry_from,
    entry_of,
    moment,
    storable,
)
from workbench.core.bundle.kinds import COMPARISONS, Kinds, Part
from workbench.core.bundle.origin import Origin
from workbench.core.errors import BundleError, HistoryError, StorageError
from workbench.core.html_table import html_table
from workbench.core.text import counted, one_line

_PATIENCE_S = 30.0  # how long to wait for another writer; a write takes about ten milliseconds
_LAST = "\U0010ffff"  # no id has a letter behind this one
_IN_CONSOLE = 10  # rows in the repr
_SHOWN = 20  # rows in a cell; to_frame() returns all


class RecordHistory:
    """The records stored in `path`. Each call opens and closes the file, so threads may share the object."""

    kinds: Kinds = COMPARISONS

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, patience_s: float = _PATIENCE_S
    ) -> None:
        try:
            self.path = (_own_file() if path is None else Path(path).expanduser()).resolve()
        except StorageError as error:
            raise HistoryError(f"There is no folder for the history: {error.problem}.", error.fix) from error
        except (OSError, RuntimeError) as error:
            raise HistoryError(
                f"There is no folder for the history: {error}.",
                "Set WORKBENCH_HOME to a folder that you may write to.",
            ) from error
        self._patience_s = patience_s

    def add(
        self,
        record: object,
        structure: bytes | None = None,
        *,
        note: str = "",
        about: Origin | None = None,
        parts: tuple[Part, ...] = (),
    ) -> str:
        """Store `record` and return its id. Adding the same record again changes nothing."""
        blob = pack_record(record, structure, private=True, about=about, parts=parts, kinds=self.kinds)
        kind = self.kinds.of(record, "").name
        entry = entry_of(record, kind, self.kinds.about(record, about), note, len(blob))
        with self._writing() as connection:
            stored = connection.execute("SELECT bundle FROM records WHERE id = ?", (entry.id,)).fetchone()
            if stored is None:
                marks = ", ".join("?" * (len(COLUMNS) + 1))
                values = (*(getattr(entry, name) for name in COLUMNS), blob)
                connection.execute(
                    f"INSERT INTO records ({', '.join(COLUMNS)}, bundle) VALUES ({marks})", values
                )
            elif not _same_content(stored[0], blob):
                raise HistoryError(
                    f"The history already has another record {entry.id!r}.",
                    f"Delete that one first: wb.history().delete({entry.id!r}).",
                )
        return entry.id

    def update(
        self,
        record: object,
        structure: bytes | None = None,
        *,
        about: Origin | None = None,
        parts: tuple[Part, ...] = (),
    ) -> bool:
        """Store the later parts of a record; return False if the record is not in the history.

        A comparison may be there inside another result, under the same id, which stays as it is.
        """
        identity, kind = self.kinds.about(record, about).id, self.kinds.of(record, "").name
        if not self._rows("SELECT 1 FROM records WHERE id = ? AND kind = ?", identity, kind):
            return False
        blob = pack_record(record, structure, private=True, about=about, parts=parts, kinds=self.kinds)
        with self._writing() as connection:
            query = "UPDATE records SET bundle = ?, bundle_bytes = ? WHERE id = ?"
            return connection.execute(query, (blob, len(blob), identity)).rowcount > 0

    def entries(
        self,
        model: str | None = None,
        kind: str | None = None,
        since: str | datetime | None = None,
        text: str | None = None,
        *,
        note: str | None = None,
        most: int | None = None,
        skip: int = 0,
    ) -> list[Entry]:
        """Return entries, latest first, at most `most` of them after the first `skip`.

        `model`: part of its name or prefix of its hash; `text`: anywhere; `note`: the start of the note.
        """
        wanted = EntryFilter(model, kind, None if since is None else moment(since), text, note)
        limit = -1 if most is None or wanted else most + skip
        condition, values = wanted.condition()
        query = (
            f"SELECT {', '.join(COLUMNS)} FROM records WHERE {condition} "
            f"ORDER BY created_utc DESC, rowid DESC LIMIT {limit:d}"
        )
        with self._reading() as connection:
            rows: Iterable[Any] = () if connection is None else connection.execute(query, values)
            entries = map(entry_from, rows)
            taken = filter(wanted.takes, entries) if wanted else entries
            return list(islice(taken, skip, None if most is None else skip + most))

    def span(self) -> tuple[str, str] | None:
        """Return the times of the oldest and the newest record, or None if there is no record."""
        rows = [row for order in ("ASC", "DESC") for row in self._rows(
            f"SELECT {', '.join(COLUMNS)} FROM records ORDER BY created_utc {order} LIMIT 1"
        )]  # fmt: skip
        times = [entry_from(row).created_utc for row in rows]
        return (times[0], times[-1]) if times else None

    def open(self, id_or_prefix: str) -> object:
        """Return the record with this id, or with the only id that has this prefix."""
        return self.bundle(id_or_prefix).record

    def bundle(self, id_or_prefix: str) -> Bundle:
        """Return the record together with the graph's structure, if stored."""
        identity = self._resolve(id_or_prefix)
        rows = self._rows("SELECT bundle FROM records WHERE id = ?", identity)
        if not rows:
            raise self._missing(identity, [])
        try:
            return unpack_record(rows[0][0], self.kinds, own=True)
        except BundleError as error:
            problem = f"The record {identity!r} cannot be read: {error.problem}"
            raise HistoryError(problem, "Delete it, or open the bundle if you saved one.") from error

    def annotate(self, id_or_prefix: str, note: str) -> None:
        """Replace the note of a record; one that is pinned stays so."""
        identity = self._resolve(id_or_prefix)
        new = f"CASE WHEN note LIKE '{PIN}%' THEN trim('{PIN} ' || ltrim(:note, '{PIN} ')) ELSE :note END"
        with self._writing() as connection:
            values = {"note": storable(note).strip(), "id": identity}
            connection.execute(f"UPDATE records SET note = {new} WHERE id = :id", values)

    def pin(self, *ids_or_prefixes: str, pinned: bool = True) -> None:
        """Keep records on top of the list in the panels, or no longer; their notes begin with a star."""
        mark = f"{PIN} " if pinned else ""
        marked = [{"mark": mark, "id": self._resolve(asked)} for asked in ids_or_prefixes]
        new = f"trim(:mark || ltrim(note, '{PIN} '))"
        with self._writing() as connection:
            connection.executemany(f"UPDATE records SET note = {new} WHERE id = :id", marked)

    def delete(self, *ids_or_prefixes: str) -> None:
        """Delete records permanently: all of them, or none if one cannot be found."""
        identities = [(self._resolve(asked),) for asked in ids_or_prefixes]
        with self._writing() as connection:
            connection.executemany("DELETE FROM records WHERE id = ?", identities)

    def compact(self) -> None:
        """Return the space of deleted records to the disk."""
        with reading(self.path, self._patience_s) as connection:
            if connection is not None:
                connection.execute("PRAGMA query_only = OFF")
                connection.executescript("PRAGMA incremental_vacuum")  # execute() frees one page

    def start_afresh(self) -> Path:
        """Rename an unusable file and its journal; return the new path. Nothing is deleted."""
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        target = self.path.with_name(f"{self.path.name}.aside-{stamp}-{time.time_ns() % 10**9:09d}")
        try:
            self.path.rename(target)
            for suffix in ("-journal", "-wal", "-shm"):  # the last two of earlier versions
                journal = self.path.with_name(self.path.name + suffix)
                if journal.exists():
                    journal.rename(target.with_name(target.name + suffix))
        except OSError as error:
            raise HistoryError(
                f"{str(self.path)!r} cannot be moved aside: {error}.",
                "Check that it is there and that you may write to its folder.",
            ) from error
        return target

    def __len__(self) -> int:
        rows = self._rows("SELECT count(*) FROM records")
        return rows[0][0] if rows else 0

    def __bool__(self) -> bool:
        return True  # an empty history is still a history

    def __repr__(self) -> str:
        """Return the newest records, one per line."""
        entries, total = self.entries(most=_IN_CONSOLE), len(self)
        if not entries:
            return f"History: no record yet in {self.path}"
        lines = [
            f"  {entry.id}  {one_line(entry.model, 24):<24}  {entry.kind:<12}  {entry.verdict or ''}"
            + (f" ({entry.factor})" if entry.factor else "")
            for entry in entries
        ]
        more = f", the newest {_IN_CONSOLE} of them:" if total > _IN_CONSOLE else ":"
        count = counted(total, "record")
        rows = "\n".join(line.rstrip() for line in lines)
        return f"History: {count} in {self.path}{more}\n{rows}\nwb.history().open(id) gives one of them."

    def _repr_html_(self) -> str:
        total = len(self)
        heads = ("id", "time (UTC)", "kind", "model", "verdict", "ratio", "CPU", "note")
        rows = [
            (
                entry.id,
                entry.created_utc,
                entry.kind,
                entry.model,
                entry.verdict or "",
                entry.factor,
                entry.cpu,
                entry.note,
            )
            for entry in self.entries(most=_SHOWN)
        ]
        more = f", the newest {_SHOWN} of them below" if total > _SHOWN else ""
        return html_table(heads, rows, f"{total} records{more}")

    def _reading(self) -> AbstractContextManager[sqlite3.Connection | None]:
        return reading(self.path, self._patience_s)

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        return writing(self.path, self._patience_s)

    def _rows(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query; none if no history exists yet."""
        with self._reading() as connection:
            return [] if connection is None else connection.execute(query, values).fetchall()

    def _resolve(self, id_or_prefix: str) -> str:
        """Return the only id with this prefix."""
        if not isinstance(id_or_prefix, str) or not id_or_prefix:
            raise HistoryError(f"{id_or_prefix!r} is not an id.", "Take one from wb.history().to_frame().id.")
        query = "SELECT id FROM records WHERE id >= ? AND id < ? ORDER BY created_utc DESC, rowid DESC"
        ids = [identity for (identity,) in self._rows(query, id_or_prefix, id_or_prefix + _LAST)]
        if id_or_prefix in ids:
            return id_or_prefix
        if len(ids) != 1:
            raise self._missing(id_or_prefix, ids)
        return str(ids[0])

    def _missing(self, asked: str, ids: list[str]) -> HistoryError:
        if ids:
            return HistoryError(
                f"{asked!r} is the start of {len(ids)} ids: {', '.join(ids[:5])}.", "Give more of it."
            )
        return HistoryError(
            f"The history has no record {asked[:80]!r}.",
            "`workbench history` and wb.history().to_frame() list all ids.",
        )


def _same_content(stored: bytes, new: bytes) -> bool:
    """Return whether two bundles hold the same members: their zips depend on the version of zlib."""
    try:
        return stored == new or unpack(BytesIO(stored)) == unpack(BytesIO(new))
    except BundleError:  # a damaged record is another one
        return False


def _own_file() -> Path:
    """Return the file of this user; make its folder unless the file exists, perhaps on a read-only disk."""
    file = home.places()[0] / "history.sqlite"
    return file if file.exists() else home.data_folder() / file.name
