"""The history's rows, which need no opened record, and their filters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench.errors import HistoryError
from workbench.records.comparison import ComparisonRecord
from workbench.records.origin import Origin


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


SETTLED = ("faster", "slower", "tie")  # verdicts whose ratio is valid; other kinds refuse a ratio
COLUMNS = tuple(Entry.__dataclass_fields__)


def entry_of(record: object, kind: str, about: Origin, note: str, bundle_bytes: int) -> Entry:
    """Return the row of `record`; only a comparison has a verdict."""
    verdict = record.verdict if isinstance(record, ComparisonRecord) else None
    settled = verdict if verdict is not None and verdict.kind in SETTLED else None
    model, machine = about.model, about.machine
    return Entry(
        id=about.id,
        created_utc=about.created_utc,
        kind=kind,
        model="" if model is None else storable(model.name),
        model_sha256="" if model is None else model.sha256,
        verdict=None if verdict is None else verdict.kind,
        ratio=None if settled is None else _present(settled.ratio),
        low=None if settled is None else _present(settled.low),
        high=None if settled is None else _present(settled.high),
        cpu="" if machine is None else storable(machine.cpu),
        note=storable(note),
        bundle_bytes=bundle_bytes,
    )


def narrowed(
    entries: Iterable[Entry],
    *,
    model: str | None = None,
    kind: str | None = None,
    since: str | datetime | None = None,
    text: str | None = None,
) -> list[Entry]:
    """Return the entries that match a part of the model's name or a prefix of its hash, a kind, an earliest
    time, and a text anywhere in the entry.
    """
    start = None if since is None else _moment(since)
    return [
        entry
        for entry in entries
        if (model is None or _folds(model, entry.model) or (model and entry.model_sha256.startswith(model)))
        and (kind is None or entry.kind == kind)
        and (start is None or _moment(entry.created_utc) >= start)
        and (text is None or any(_folds(text, part) for part in _texts(entry)))
    ]


def _texts(entry: Entry) -> tuple[str, ...]:
    return (entry.id, entry.kind, entry.model, entry.model_sha256, entry.verdict or "", entry.cpu, entry.note)


def _folds(part: str, whole: str) -> bool:
    return part.casefold() in whole.casefold()


def _moment(value: str | datetime) -> datetime:
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise HistoryError(
            f"{value!r} is not a time.", "Give a datetime, or a text like 2026-01-31 or 2026-01-31T12:00:00."
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _present(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def storable(text: str) -> str:
    """Return a text without what UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
