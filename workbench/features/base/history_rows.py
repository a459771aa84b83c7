"""The rows of the history tab: when, of which model, what was compared, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.entries import PIN, Entry, moment, split_note
from workbench.core.errors import WorkbenchError
from workbench.core.text import one_line
from workbench.features.base.history import History

SHOWN_COLUMNS = ("when", "ago", "model", "what", "verdict", "ratio", "pin", "note", "id")
_MOST_LETTERS = 70  # of the words for one config
AGES = (  # seconds up to which an age is said in a unit, the seconds of that unit, its name
    (60, 1, "s"), (3_600, 60, "min"), (86_400, 3_600, "h"), (float("inf"), 86_400, "days"),
)  # fmt: skip


def rows_of(
    entries: Iterable[Entry], words: Mapping[str, str], now: datetime | None = None
) -> list[list[object]]:
    """Return a row for each entry, pinned ones first; `words` says what was compared, by id."""
    return [row_of(entry, words.get(entry.id, ""), now) for entry in nested(list(entries))]


def row_of(entry: Entry, words: str, now: datetime | None = None) -> list[object]:
    """Return the row of one entry."""
    made, (pinned, note) = moment(entry.created_utc).astimezone(), split_note(entry.note)
    return [
        f"{made:%Y-%m-%d %H:%M}",
        ago((now or datetime.now().astimezone()) - made),
        entry.model or None,
        words if entry.kind == "comparison" else f"└ {entry.kind}",
        "not settled" if entry.verdict == "unknown" else entry.verdict,
        entry.factor or None,
        PIN if pinned else "",
        note,
        entry.id,
    ]


def nested(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries, pinned and newest first, with other results below the comparison of their model."""
    comparisons = [entry for entry in entries if entry.kind == "comparison"]
    below: dict[str | None, list[Entry]] = {}
    for entry in entries:
        if entry.kind != "comparison":
            below.setdefault(_owner(entry, comparisons), []).append(entry)
    alone = below.get(None, [])
    ordered = sorted([*comparisons, *alone], key=lambda entry: entry.created_utc, reverse=True)
    ordered.sort(key=lambda entry: not split_note(entry.note)[0])
    return [item for entry in ordered for item in (entry, *below.get(entry.id, ()))]


def _owner(entry: Entry, comparisons: Sequence[Entry]) -> str | None:
    """Return the id of the last comparison of the same model before an entry, else of the first after it."""
    same = [other for other in comparisons if entry.model_sha256 and other.model_sha256 == entry.model_sha256]
    before = [other for other in same if other.created_utc <= entry.created_utc]
    return before[0].id if before else same[-1].id if same else None


def ago(passed: timedelta) -> str:
    """Return how long ago something was, in its largest unit."""
    seconds = max(0.0, passed.total_seconds())
    _, unit_s, unit = next(age for age in AGES if seconds < age[0])
    count = int(seconds / unit_s)
    return f"{count} {'day' if unit == 'days' and count == 1 else unit} ago"


def read_words(kept: History, ids: Iterable[str]) -> dict[str, str]:
    """Return the configs of each of these comparisons in words: "ORT defaults → level basic"."""
    words = {}
    for identity in ids:
        try:
            configs = [config_in_words(run.config) for run in kept.open(identity).runs]
            words[identity] = " → ".join(one_line(config, _MOST_LETTERS) for config in configs)
        except WorkbenchError:
            words[identity] = "cannot be read"
    return words
