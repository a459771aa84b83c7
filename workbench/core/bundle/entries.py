"""The history's rows, which need no opened record, and their filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from types import NoneType
from typing import Any, NamedTuple

from workbench.core.bundle.comparison import ComparisonRecord, verdict_cells
from workbench.core.bundle.origin import Origin
from workbench.core.errors import HistoryError
from workbench.core.text import bounded, factor

PIN = "★"  # begins the note of a pinned entry


class Entry(NamedTuple):  # a dataclass takes seven times as long to make, and a history lists 100,000
    """One record of the history as a row. Texts are untrusted."""

    id: str
    created_utc: str
    kind: str
    model: str
    model_sha256: str
    verdict: str | None  # ratio, low and high of the first candidate
    ratio: float | None  # None also if the verdict refuses a ratio
    low: float | None
    high: float | None
    cpu: str
    note: str
    bundle_bytes: int

    @property
    def factor(self) -> str:
        """Return the ratio in words, or of a large effect the end that it has at least; or nothing."""
        return bounded(self.low, self.high) if self.ratio is None else factor(self.ratio, self.low, self.high)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """What entries are wanted; None: any."""

    model: str | None = None  # a part of its name, or the start of its hash
    kind: str | None = None
    start: datetime | None = None
    text: str | None = None  # anywhere in the entry
    note: str | None = None  # the start of the note

    def __bool__(self) -> bool:
        return self != _ANY

    def condition(self) -> tuple[str, dict[str, str]]:
        """Return an SQL condition that all wanted rows meet, and its values: SQLite folds ASCII alone, so
        that a row with other letters, or of another zone, is left to `takes`.
        """
        parts = {
            "kind = ?": self.kind,
            "substr(note, 1, length(?)) = ?": self.note,
            "created_utc >= ?": None if self.start is None else _days_before(self.start),
            _holding("model", "model_sha256"): None if self.model is None else self.model.casefold(),
            _holding(*_SEARCHED): None if self.text is None else self.text.casefold(),
        }
        wanted = {part: value for part, value in parts.items() if value is not None}
        named = [part.replace("?", f":wanted{at}") for at, part in enumerate(wanted)]
        return " AND ".join(named) or "1", {f"wanted{at}": value for at, value in enumerate(wanted.values())}

    def takes(self, entry: Entry) -> bool:
        """Return whether an entry is wanted."""
        return (
            (self.kind is None or entry.kind == self.kind)
            and (self.note is None or entry.note.startswith(self.note))
            and (self.start is None or moment(entry.created_utc) >= self.start)
            and (self.model is None or _is_model(entry, self.model))
            and (self.text is None or _has_text(entry, self.text.casefold()))
        )


_ANY = EntryFilter()
_SEARCHED = ("id", "kind", "model", "model_sha256", "verdict", "cpu", "note")


def _holding(*columns: str) -> str:
    """Return the condition that one of the columns holds a folded text, or that SQLite cannot tell."""
    joined = " || char(10) || ".join(f"ifnull({column}, '')" for column in columns)
    return f"(instr(lower({joined}), ?) OR length(CAST({joined} AS BLOB)) > length({joined}))"


def _days_before(start: datetime) -> str | None:
    """Return a date safely before a time in any zone; None where no record can be older."""
    return f"{start - timedelta(days=2):%Y-%m-%d}" if start.year > 1970 else None


def _is_model(entry: Entry, model: str) -> bool:
    same = bool(model) and entry.model_sha256.startswith(model)
    return same or model.casefold() in entry.model.casefold()


def _has_text(entry: Entry, folded: str) -> bool:
    return any(folded in (getattr(entry, name) or "").casefold() for name in _SEARCHED)


_NO_TIME = "1970-01-01T00:00:00+00:00"  # of a damaged row, so that it comes last
_NUMBER = (int, float, NoneType)
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("id", "created_utc", "kind", "model", "model_sha256", "cpu", "note"), (str,)),
    **dict.fromkeys(("ratio", "low", "high"), _NUMBER),
    "verdict": (str, NoneType),
    "bundle_bytes": (int,),
}
COLUMNS = Entry._fields
_ROWS = frozenset(product(*(_TYPES[name] for name in COLUMNS)))  # the types of a row that is not damaged


def entry_of(record: object, kind: str, about: Origin, note: str, bundle_bytes: int) -> Entry:
    """Return the row of `record`; only a comparison has a verdict."""
    verdict = record.verdict if isinstance(record, ComparisonRecord) else None
    settled = verdict if verdict is not None and verdict.is_settled else None
    model, machine = about.model, about.machine
    return Entry(
        id=about.id,
        created_utc=about.created_utc,
        kind=kind,
        model="" if model is None else storable(model.name),
        model_sha256="" if model is None else model.sha256,
        **{**verdict_cells(settled), "verdict": None if verdict is None else verdict.kind},
        cpu="" if machine is None else storable(machine.cpu),
        note=storable(note),
        bundle_bytes=bundle_bytes,
    )


def entry_from(row: Sequence[Any]) -> Entry:
    """Return the entry of a row of the file; of a damaged row one that is listed and can be deleted."""
    try:
        if tuple(map(type, row)) in _ROWS and datetime.fromisoformat(row[COLUMNS.index("created_utc")]):
            return Entry._make(row)
    except ValueError:  # no time
        pass
    identity = str(row[COLUMNS.index("id")])
    note = f"this row is damaged: wb.history().delete({identity!r}) removes it"
    return Entry(identity, _NO_TIME, "damaged", "", "", None, None, None, None, "", note, 0)


def moment(value: str | datetime) -> datetime:
    """Return a time, which is UTC if it names no zone."""
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise HistoryError(
            f"{value!r} is not a time.", "Give a datetime, or a text like 2026-01-31 or 2026-01-31T12:00:00."
        ) from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def clock_text(created_utc: str, now: datetime | None = None) -> str:
    """Return the local time of a moment; its day too, if that is not today."""
    made, today = moment(created_utc).astimezone(), (now or datetime.now().astimezone()).date()
    return f"{made:%H:%M}" if made.date() == today else f"{made:%Y-%m-%d %H:%M}"


def split_note(note: str) -> tuple[bool, str]:
    """Return whether an entry is pinned, and its note."""
    return note.startswith(PIN), note.removeprefix(PIN).strip()


def storable(text: str) -> str:
    """Return a text without what UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
