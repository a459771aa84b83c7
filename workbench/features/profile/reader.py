"""From a trace file to columns: `read_trace` takes what any version of ORT and any provider wrote."""

from __future__ import annotations

import gc
import math
import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from workbench.core.errors import ProfileError
from workbench.features.profile.chunks import ReadDamage, batches
from workbench.features.profile.trace import (
    NO_CODE,
    SCALARS,
    SHAPES,
    ArenaState,
    Interning,
    Scheduling,
    Trace,
    call_row,
    number,
    packed,
)

MAX_EVENTS = 8_000_000  # eight times ORT's own cap; about 600 MB of columns
TRUNCATED = "profile_truncated"
_EVENT = itemgetter("cat", "name", "pid", "tid", "ts", "dur", "args")
_ARENA = ("mem_bytes_in_use", "mem_in_use_delta", "mem_in_use_peak", "mem_arena_held", "mem_arena_held_delta")
_STATS = "thread_scheduling_stats"
_ALL = (_STATS, *SHAPES, *SCALARS, *_ARENA)
_COLUMNS = {
    **dict.fromkeys(("category", "name", "call", "arena", "args"), "i"),
    **dict.fromkeys(("pid", "tid"), "q"),
    **dict.fromkeys(("start_us", "duration_us"), "d"),
}


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read a trace as far as it goes; what is missing stands in its notes.

    Raises ProfileError when the file cannot be read, is no trace, or holds no event.
    """
    file, reading, build = Path(path), ReadDamage(), _Build()
    with _collector_paused():
        for events in batches(file, reading):
            build.add(events)
            if build.size >= MAX_EVENTS:
                reading.stopped.append(f"only the first {build.size:,} events were read")
                break
    if not build.size:
        raise ProfileError(
            f"{file} holds no event of a trace",
            "the file of a live session is written when session.end_profiling() is called: call it first",
        )
    return build.trace(reading)


class _Build:
    def __init__(self) -> None:
        self.size = 0
        self.odd = 0
        self.dropped: int | None = None
        self._categories, self._names, self._threads = Interning(), Interning(), Interning()
        self._calls, self._arenas, self._args = Interning(), Interning(), Interning()
        self._columns = {name: array(kind) for name, kind in _COLUMNS.items()}
        self._scheduling: list[Scheduling] = []

    def add(self, events: list[Any]) -> None:
        """Add a batch; put a batch with an unusual event into the usual form first."""
        if not events:
            return
        try:
            self._append(list(map(_EVENT, events)))
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
            self._append(self._usual(events))

    def _append(self, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        categories, names, pids, tids, starts, durations, args = zip(*rows, strict=True)
        new = {
            "category": array("i", map(self._categories.__getitem__, categories)),
            "name": array("i", map(self._names.__getitem__, names)),
            "pid": array("q", pids),
            "tid": array("q", tids),
            "start_us": array("d", starts),
            "duration_us": array("d", durations),
            **self._arguments(args),
        }
        for column, values in new.items():  # nothing was added so far: what raises, raises above
            self._columns[column].extend(values)
        self.size += len(rows)
        if TRUNCATED in names:
            for name, entry in zip(names, args, strict=True):
                if name == TRUNCATED and isinstance(entry, dict):
                    self.dropped = number(entry.get("dropped_event_count"))

    def _arguments(self, args: tuple[Any, ...]) -> dict[str, array[int]]:
        """Read arguments in whole columns: a loop over the events would cost more than decoding them."""
        is_node = ["provider" in entry and "op_name" in entry for entry in args]
        nodes = [index for index, yes in enumerate(is_node) if yes]
        others = [index for index, yes in enumerate(is_node) if not yes and args[index]]
        call, arena, other = (np.full(len(args), NO_CODE, np.int32) for _ in range(3))
        rows = [args[index] for index in nodes]
        if rows:
            stats, shapes, scalars, memory = self._columns_of(rows)
            keys = zip(*scalars, map(orjson.dumps, shapes), strict=True)
            call[nodes] = list(map(self._calls.__getitem__, keys))
            if memory:
                arena[nodes] = list(map(self._arenas.__getitem__, zip(*memory, strict=True)))
            shared = [index for index, entry in enumerate(stats) if entry and entry["main_thread"]["Run"]]
            self._scheduling += [_scheduling(self.size + nodes[index], stats[index]) for index in shared]
        for index in others:
            other[index] = self._args[orjson.dumps(args[index], option=orjson.OPT_SORT_KEYS).decode()]
        columns = {"call": call, "arena": arena, "args": other}
        return {name: array("i", column.tobytes()) for name, column in columns.items()}

    def _columns_of(self, rows: list[dict[str, Any]]) -> tuple[Any, Any, list[Any], list[Any]]:
        """Return scheduling, shapes, scalars of the calls, and the arena's state where it is recorded."""
        for keys in (_ALL, _ALL[: -len(_ARENA)]):  # with the arena off, the latter
            try:
                table: list[Any] = list(zip(*map(itemgetter(*keys), rows), strict=True))
                break
            except KeyError:
                continue
        else:
            table = [[row.get(key) for row in rows] for key in _ALL]
        stats, inputs, outputs, *rest = table
        return stats, zip(inputs, outputs, strict=True), rest[: len(SCALARS)], rest[len(SCALARS) :]

    def _usual(self, events: list[Any]) -> list[tuple[Any, ...]]:
        """Convert events of other writers: fill in absent fields, read numbers from texts, keep the rest."""
        rows: list[tuple[Any, ...]] = []
        for event in events:
            if not isinstance(event, dict):
                self.odd += 1
                continue
            raw = event.get("args")
            args = raw if isinstance(raw, dict) else ({} if raw is None else {"args": raw})
            if not all(_plain(args.get(key)) for key in (*SCALARS, *_ARENA)):
                args = {"args": args}
            if not _well_formed(args.get(_STATS)):
                args = {key: value for key, value in args.items() if key != _STATS}
            if not _can_be_written(args):
                self.odd += 1
                continue
            rows.append(
                (
                    str(event.get("cat", "")),
                    str(event.get("name", "")),
                    self._identity(event.get("pid")),
                    self._identity(event.get("tid")),
                    _real(event.get("ts")),
                    _real(event.get("dur")),
                    args,
                )
            )
        return rows

    def _identity(self, value: Any) -> int:
        """Return a thread or process number; named ones get negative numbers."""
        if isinstance(value, int) and abs(value) < 1 << 63:
            return value
        return -2 - self._threads[str(value)]

    def trace(self, reading: ReadDamage) -> Trace:
        notes = list(reading.stopped)
        damaged = reading.damaged + self.odd
        if damaged:
            notes.append(f"{damaged:,} parts of the file are no events and were left out")
        if TRUNCATED in self._names:
            count = "some" if self.dropped is None else f"{self.dropped:,}"
            notes.append(f"ORT reached its cap of events and dropped {count}: profile fewer runs")
        if not reading.ended and not reading.stopped:
            lost = f" ({reading.lost_bytes:,} bytes of an unfinished event)" if reading.lost_bytes else ""
            notes.append(
                f"the file ends before its closing bracket{lost}: cut off, or its session is still open"
            )
        return Trace(
            categories=tuple(map(_text, self._categories)),
            names=tuple(map(_text, self._names)),
            calls=tuple(map(call_row, self._calls)),
            arenas=tuple(ArenaState(*map(number, values)) for values in self._arenas),
            other_args=tuple(self._args),
            scheduling=tuple(self._scheduling),
            complete=not notes,
            notes=tuple(notes),
            **{name: packed(values) for name, values in self._columns.items()},
        )


def _text(value: Any) -> str:
    """Return a name as text, also where another writer used no text."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def _scheduling(event: int, stats: dict[str, Any]) -> Scheduling:
    main = stats["main_thread"]
    others = tuple(int(thread["num_run"]) for thread in stats["sub_threads"].values())
    distribute = int(main["Distribution"]) + int(main["DistributionEnqueue"])
    wait = int(main["Wait"]) + int(main["WaitRevoke"])
    return Scheduling(event, distribute, int(main["Run"]), wait, others)


def _well_formed(stats: Any) -> bool:
    if not stats:
        return True
    try:
        _scheduling(0, stats)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return False
    return True


def _can_be_written(args: dict[str, Any]) -> bool:
    """Return whether the arguments are nested no deeper than JSON is written: it is read deeper."""
    try:
        orjson.dumps(args)
    except TypeError:
        return False
    return True


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float | None)


def _real(value: Any) -> float:
    """Return a finite number, else NaN."""
    try:
        real = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        return math.nan
    return real if math.isfinite(real) and abs(real) < 1e15 else math.nan


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector: looking for cycles among millions of dicts costs more than decoding."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
