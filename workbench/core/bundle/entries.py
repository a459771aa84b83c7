"""The history's rows, which need no opened record, and their filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import NoneType
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord, verdict_cells
from workbench.core.bundle.origin import Origin
from workbench.core.errors import HistoryError
from workbench.core.text import bounded, factor


@dataclass(frozen=True, slots=True)
class Entry:
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

    def matches(self, model: str | None, kind: str | None, start: datetime | None, text: str | None) -> bool:
        """Return whether a part of the model's name or a prefix of its hash, the kind, the time from `start`
        on, and a text anywhere in the entry are as asked; None: any.
        """
        texts = (self.id, self.kind, self.model, self.model_sha256, self.verdict or "", self.cpu, self.note)
        return bool(
            (model is None or _folds(model, self.model) or (model and self.model_sha256.startswith(model)))
            and (kind is None or self.kind == kind)
            and (start is None or moment(self.created_utc) >= start)
            and (text is None or any(_folds(text, part) for part in texts))
        )


_NO_TIME = "1970-01-01T00:00:00+00:00"  # of a damaged row, so that it comes last
_NUMBER = (int, float, NoneType)
_TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "created_utc", "kind", "model", "model_sha256", "cpu", "note"), str),
    **dict.fromkeys(("ratio", "low", "high"), _NUMBER),
    "verdict": (str, NoneType),
    "bundle_bytes": int,
}
COLUMNS = tuple(Entry.__dataclass_fields__)


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
    entry = Entry(*row)
    try:
        moment(entry.created_utc)
        if all(isinstance(getattr(entry, name), types) for name, types in _TYPES.items()):
            return entry
    except HistoryError:
        pass
    identity = str(entry.id)
    note = f"this row is damaged: wb.history().delete({identity!r}) removes it"
    return Entry(identity, _NO_TIME, "damaged", "", "", None, None, None, None, "", note, 0)


def _folds(part: str, whole: str) -> bool:
    return part.casefold() in whole.casefold()


def moment(value: str | datetime) -> datetime:
    """Return a time, which is UTC if it names no zone."""
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise HistoryError(
            f"{value!r} is not a time.", "Give a datetime, or a text like 2026-01-31 or 2026-01-31T12:00:00."
        ) from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def storable(text: str) -> str:
    """Return a text without what UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
