"""The history of this machine, whose entries open as results with their methods."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from workbench.core import home
from workbench.core.bundle.bundle import Bundle, read_bundle
from workbench.core.bundle.database import reading, writing
from workbench.core.bundle.display import DataFrame, config_in_words
from workbench.core.bundle.entries import COLUMNS, Entry, entry_of
from workbench.core.bundle.history import RecordHistory
from workbench.core.config import Config
from workbench.core.config.literals import text_literal
from workbench.core.errors import BundleError, HistoryError
from workbench.core.stored_files import expanded
from workbench.core.text import one_line, path_text
from workbench.features.base.folder import configs_of
from workbench.features.base.registry import KINDS

_FLOATS = ("ratio", "low", "high")


class History(RecordHistory):
    """The history file; `open` returns a result instead of its record."""

    kinds = KINDS
    source = "wb.history()"  # the code that opens it

    def to_frame(
        self,
        model: str | None = None,
        kind: str | None = None,
        since: str | datetime | None = None,
        text: str | None = None,
        *,
        most: int | None = None,
        configs: bool = False,
    ) -> DataFrame:
        """Return one row per result, newest first, at most `most`, filtered like `entries`.

        With `configs`, a column for each run says its config, `config_A`, `config_B`…; that opens every
        result.
        """
        import pandas as pd

        entries = self.entries(model, kind, since, text, most=most)
        frame = pd.DataFrame(entries, columns=COLUMNS).astype(dict.fromkeys(_FLOATS, "float64"))
        if not configs:
            return frame
        words = [
            {f"config_{label}": config_in_words(config) for label, config in self._configs(identity).items()}
            for identity in frame["id"]
        ]
        for column in sorted({column for row in words for column in row}):
            frame[column] = [row.get(column) for row in words]
        return frame

    def _configs(self, identity: str) -> dict[str, Config]:
        """Return the configs of an entry; none of a damaged one, which `open` explains."""
        try:
            return configs_of(self.bundle(identity).record)
        except (BundleError, HistoryError):  # the former of a file in a shared folder
            return {}

    def open(self, id_or_prefix: str) -> Any:
        """Return the result with this id, or with the only id that begins so."""
        return KINDS.result(self.bundle(id_or_prefix))


_SUFFIX = ".ortbench"
_DAMAGED = "damaged"  # kind of the row of a bundle that cannot be read
_AT_ONCE = 500  # bundles that are read before their rows are written: all that a kill can lose
_MOST_LETTERS = 200  # of the reason why a bundle cannot be read


class FolderHistory(History):
    """The bundles of a folder. Each file is an entry, whose row is read once and kept in an index here."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = expanded(folder).resolve()
        self.source = f"wb.history({text_literal(os.fspath(folder))})"
        if not self.folder.is_dir():
            raise HistoryError(
                f"{path_text(self.folder)} is no folder.",
                "Give the folder that your team saves bundles into.",
            )
        name = sha256(os.fsencode(self.folder)).hexdigest()[:32]
        indexes = home.cache_folder() / "folders"
        indexes.mkdir(exist_ok=True)
        super().__init__(indexes / f"{name}.sqlite")
        self._listed: set[bytes] = set()  # the bundles that the index was last brought up to
        self._unreadable: set[bytes] = set()  # bundles that could not be read: some may still be being copied

    def bundle(self, id_or_prefix: str) -> Bundle:
        """Return the bundle of an entry, read from the folder as any stranger's file."""
        identity = self._resolve(id_or_prefix)
        rows = self._rows("SELECT bundle FROM records WHERE id = ?", identity)
        if not rows:
            raise self._missing(identity, [])
        return read_bundle(self.folder / _name(rows[0][0]), self.kinds)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        self._refresh()
        with super()._reading() as connection:
            yield connection

    def _writing(self) -> NoReturn:
        raise HistoryError(
            f"The history of {path_text(self.folder)} is only read.",
            "Save a bundle there, result.save(…), or remove its file.",
        )

    def _refresh(self) -> None:
        """Bring the index up to what lies in the folder."""
        try:
            there = set(_stamps(self.folder))
        except OSError as error:
            raise HistoryError(
                f"{path_text(self.folder)} cannot be listed: {error.strerror or error}.",
                "Check that the folder is still there and that you may read it, then try again.",
            ) from error
        if there == self._listed and not self._unreadable:
            return
        self._unreadable &= there
        with reading(self.path, self._patience_s) as connection:
            rows = () if connection is None else connection.execute("SELECT bundle, kind FROM records")
            known = dict(rows)
        # What an earlier version of the workbench could not read is tried again once.
        again = {stamp for stamp, kind in known.items() if kind == _DAMAGED} - self._unreadable
        if gone := (known.keys() - there) | again:
            with writing(self.path, self._patience_s) as connection:
                connection.executemany("DELETE FROM records WHERE bundle = ?", ((stamp,) for stamp in gone))
        unread = iter(there - (known.keys() - gone))
        while stamps := list(islice(unread, _AT_ONCE)):
            self._index(stamps)
        self._listed = there

    def _index(self, stamps: Sequence[bytes]) -> None:
        entries = [(self._entry(stamp), stamp) for stamp in stamps]
        self._unreadable |= {stamp for entry, stamp in entries if entry.kind == _DAMAGED}
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        with writing(self.path, self._patience_s) as connection:
            for entry, stamp in entries:
                same = connection.execute("SELECT bundle FROM records WHERE id = ?", (entry.id,)).fetchone()
                if same not in (None, (stamp,)):  # a copy of the bundle under another name
                    entry = entry._replace(id=f"{entry.id} ({_name(stamp)})")
                connection.execute(
                    f"INSERT OR REPLACE INTO records ({', '.join(COLUMNS)}, bundle) VALUES ({marks})",
                    (*(getattr(entry, name) for name in COLUMNS), stamp),
                )

    def _entry(self, stamp: bytes) -> Entry:
        """Return the row of a bundle; of one that cannot be read, a row that says why."""
        changed_ns, size, name = int(stamp.split(b" ")[0]), int(stamp.split(b" ")[1]), _name(stamp)
        try:
            bundle = read_bundle(self.folder / name, self.kinds)
        except BundleError as error:
            when = datetime.fromtimestamp(changed_ns / 1e9, UTC).isoformat(timespec="seconds")
            reason = one_line(error.problem, _MOST_LETTERS)
            return Entry(name, when, _DAMAGED, "", "", None, None, None, None, "", reason, size)
        return entry_of(bundle.record, bundle.kind, bundle.about, "", size)


def _stamps(folder: Path) -> Iterator[bytes]:
    """Yield the time of its last change, the size and the name of each bundle; no links."""
    with os.scandir(folder) as files:
        for file in files:
            if (
                file.name.endswith(_SUFFIX)
                and file.name.isprintable()
                and file.is_file(follow_symlinks=False)
            ):
                status = file.stat()
                yield f"{status.st_mtime_ns} {status.st_size} {file.name}".encode()


def _name(stamp: bytes) -> str:
    return stamp.split(b" ", 2)[2].decode()
