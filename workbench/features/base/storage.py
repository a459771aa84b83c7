"""What the workbench keeps on disk: how much, how old, and how to remove it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from workbench.core import home
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.errors import ConfigError
from workbench.core.prepare import cache
from workbench.core.stored_files import StoredFile, stored_files
from workbench.core.text import bytes_text, counted, did_you_mean
from workbench.drawing.exportable import Exportable
from workbench.features.base.history import History

DAY_S = 24 * 3600.0
_AGAIN = "made again when needed"


@dataclass(frozen=True, slots=True)
class Store:
    """One folder of ours, or one file and what SQLite keeps beside it; `remove` removes one entry."""

    place: str  # below the folder of kept data or of what can be made again
    what: str
    renewable: bool = True  # it can be made or fetched again
    remove: Callable[[StoredFile], None] = StoredFile.remove


STORES = {
    "samples": Store("cache/samples", f"samples with their weights; {_AGAIN}"),
    "downloads": Store("cache/downloads", "models from the network; fetched again when needed"),
    "models": Store("cache/models", "models that were given as bytes or ModelProto"),
    "uploads": Store("cache/uploads", "models uploaded in the panels"),
    "caught": Store("cache/caught", "inputs of sessions that `%%workbench` or `workbench run` caught"),
    "prepared": Store(
        "cache/prepared",
        f"quantized, fused and pre-optimized models; {_AGAIN}",
        remove=lambda entry: cache.remove(entry.path),
    ),
    "named": Store("cache/named", f"copies of models whose nodes have no names; {_AGAIN}"),
    "hashes": Store("cache/hashes", f"hashes of model files; {_AGAIN}"),
    "peaks": Store("cache/peaks", "what this machine can do at most, for rooflines; measured again"),
    "engines": Store("cache/tensorrt", f"TensorRT engines; {_AGAIN}"),
    "folders": Store("cache/folders", f"indexes of shared folders of bundles; {_AGAIN}"),
    "versions": Store("cache/versions", f"environments of ONNX Runtime by version; {_AGAIN}"),
    "published": Store(
        "data/published", "files laid out for Netron and speedscope; they expire after a week"
    ),
    "optuna": Store("data/optuna.sqlite", "studies as Optuna's storage; made again from the history"),
    "history": Store("data/history.sqlite", "results of every comparison", renewable=False),
}


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """One kind of kept files. Times are in seconds since the epoch, None where there is no entry."""

    name: str
    what: str
    entry_count: int
    size_bytes: int
    oldest_s: float | None
    newest_s: float | None


class Storage:
    """What the workbench keeps on disk. Made by `wb.storage`.

    >>> import workbench as wb
    >>> wb.storage().to_frame().columns[0]
    'name'
    """

    @property
    def rows(self) -> tuple[StoreSummary, ...]:
        """One row per kind of files, as they are now."""
        return tuple(_summary(name) for name in STORES)

    def remove(self, *names: str, older_than_days: float = 0.0) -> int:
        """Remove what was not used for that many days; return the bytes that became free.

        Without names everything is removed that can be made again. The history is removed by its name only.
        """
        for name in names:
            if name not in STORES:
                raise ConfigError(
                    f"{name!r} is nothing that is kept",
                    f"{did_you_mean(name, STORES)}choose from: {', '.join(STORES)}",
                )
        before = sum(row.size_bytes for row in self.rows)
        limit_s = time.time() - older_than_days * DAY_S
        for name in names or [name for name, store in STORES.items() if store.renewable]:
            if name == "history":
                _forget_results(limit_s)
                continue
            for entry in _entries(name):
                if entry.used_s <= limit_s:
                    STORES[name].remove(entry)
        return before - sum(row.size_bytes for row in self.rows)

    def to_frame(self) -> DataFrame:
        """Return one row per kind of files: name, entries, bytes, oldest, newest, what."""
        rows = [
            (row.name, row.entry_count, row.size_bytes, _utc(row.oldest_s), _utc(row.newest_s), row.what)
            for row in self.rows
        ]
        return data_frame(rows, columns=["name", "entries", "bytes", "oldest", "newest", "what"])

    def __str__(self) -> str:
        lines = [
            f"{row.name:<10} {bytes_text(row.size_bytes):>9}  {counted(row.entry_count, 'entry', 'entries')}"
            + ("" if row.newest_s is None else f", last used {_days_ago(row.newest_s)}")
            + f": {row.what}"
            for row in self.rows
        ]
        total = bytes_text(sum(row.size_bytes for row in self.rows))
        folders = " and ".join(str(place) for place in home.places())
        return "\n".join([f"{total} in {folders}", *lines])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _entries(name: str) -> Iterable[StoredFile]:
    data, made_again = home.places()
    kind, _, inside = STORES[name].place.partition("/")
    place = (data if kind == "data" else made_again) / inside
    if place.is_file():
        return [entry for entry in stored_files(place.parent) if entry.path.name.startswith(place.name)]
    return stored_files(place)


def _summary(name: str) -> StoreSummary:
    store = STORES[name]
    if name == "history":
        path = home.places()[0] / "history.sqlite"
        kept = History(path)
        count = len(kept)
        times = [datetime.fromisoformat(when).timestamp() for when in kept.span() or ()]
        size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
    else:
        stored = list(_entries(name))
        count = len(stored)
        times, size = [entry.used_s for entry in stored], sum(entry.size_bytes for entry in stored)
    return StoreSummary(name, store.what, count, size, min(times, default=None), max(times, default=None))


def _forget_results(limit_s: float) -> None:
    history = History()
    old = [
        entry.id
        for entry in history.entries()
        if datetime.fromisoformat(entry.created_utc).timestamp() <= limit_s
    ]
    if old:
        history.delete(*old)
        history.compact()


def _utc(seconds: float | None) -> str | None:
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"


def _days_ago(seconds: float) -> str:
    days = int((time.time() - seconds) / DAY_S)
    return "today" if days <= 0 else f"{counted(days, 'day')} ago"


def export_html(
    result: Exportable, path: str | os.PathLike[str], *, cancel: threading.Event | None = None
) -> Path:
    """Write a result as one HTML file that opens offline and asks for nothing, in light and in dark.

    `cancel` ends it with a Cancelled; a file that stood at `path` is left as it was.
    """
    return result.export_html(path, cancel=cancel)


def storage() -> Storage:
    """List what the workbench keeps on disk: how much, how old, and `.remove(…)`.

    >>> import workbench as wb
    >>> [row.name for row in wb.storage().rows][:2]
    ['samples', 'downloads']
    """
    return Storage()
