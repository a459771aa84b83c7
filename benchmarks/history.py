"""Seconds of each thing that one does with a history of many results: `python -m benchmarks.history`.

The results are made by hand (tests/factories), of twenty models in four kinds of bundle, and written into a
history of their own. Each row is the median of five calls in this process, after one that is not
counted; compacting, after hundreds of results were deleted, and the first listing are called once.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from tests.factories.comparisons import ordinary
from workbench.apps.panels.tabs.history import HistoryPage
from workbench.core.bundle.bundle import pack_record
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.database import writing
from workbench.core.bundle.entries import COLUMNS, entry_of
from workbench.core.bundle.kinds import about_comparison
from workbench.core.text import bytes_text
from workbench.features.compare.call import history

_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_MODELS = 20
_CALLS = 5
_BUNDLES = 2_000  # in the shared folder
FIRST = "list it for the first time"
ONCE = ("compact", FIRST)


def record(number: int) -> ComparisonRecord:
    """Return a comparison of one of the models, a minute after the one before it."""
    when = _FIRST + timedelta(minutes=number)
    base, model = ordinary(), number % _MODELS
    return replace(
        base,
        id=f"{when:%Y%m%d-%H%M%S}-{number:06x}",
        created_utc=when.isoformat(timespec="seconds"),
        model=replace(base.model, name=f"model-{model}", sha256=f"{model:064x}"),
    )


def fill(path: Path, count: int) -> None:
    """Write a history of this many results in one transaction."""
    blobs = [pack_record(record(model), None, private=True) for model in range(_MODELS)]
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    with writing(path, 60.0) as connection:
        for number in range(count):
            made, blob = record(number), blobs[number % _MODELS]
            entry = entry_of(made, "comparison", about_comparison(made), "", len(blob))
            values = (*(getattr(entry, name) for name in COLUMNS), blob)
            connection.execute(f"INSERT INTO records ({', '.join(COLUMNS)}, bundle) VALUES ({marks})", values)


def main() -> None:
    """Print one row per action."""
    parser = argparse.ArgumentParser(prog="benchmarks.history", description=__doc__)
    parser.add_argument("--results", type=int, default=100_000)
    chosen = parser.parse_args()
    count = chosen.results
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, WORKBENCH_HOME=folder):
        home = Path(folder)
        file = home / "data" / "history.sqlite"
        file.parent.mkdir()
        began = time.perf_counter()
        fill(file, count)
        made_s = time.perf_counter() - began
        print(f"{count:,} results in {bytes_text(file.stat().st_size)}, made in {made_s:.0f} s")
        print(f"load of the machine {os.getloadavg()[0]:.1f}\n\n| action | s | s of a core |\n|---|---|---|")
        for name, action in chain(_actions(count), _shared(home / "shared")):
            wall_s, core_s = _seconds(action, once=name in ONCE)
            print(f"| {name} | {wall_s:.3f} | {core_s:.3f} |", flush=True)


def _actions(count: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    kept = history()
    first, last = record(0).id, record(count - 1).id
    late = record(count - count // 100).created_utc
    yield "list all", kept.entries
    yield "list all as a DataFrame", kept.to_frame
    yield "print the history", lambda: repr(kept)
    yield "filter by model", lambda: kept.entries(model="model-7")
    yield "filter by text", lambda: kept.entries(text="model-7")
    yield "filter by kind and time", lambda: kept.entries(kind="comparison", since=late)
    yield "open by the start of an id", lambda: kept.open(first[:-1])
    yield "pin", lambda: kept.annotate(last, "★ kept")
    yield "open two, side by side", lambda: [kept.open(identity).to_frame() for identity in (first, last)]
    numbers = iter(range(count, count + 100))
    yield "add", lambda: kept.add(record(next(numbers)))
    import workbench as wb

    page = HistoryPage(wb.Workbench())
    yield "the page of the panels", page.show
    doomed = iter(range(0, count, max(1, count // 1000)))
    yield "delete 100 results", lambda: kept.delete(*(record(next(doomed)).id for _ in range(100)))
    kept.delete(*(record(next(doomed)).id for _ in range(100)))
    yield "compact", kept.compact


def _shared(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    folder.mkdir()
    for number in range(_BUNDLES):
        path = folder / f"{number:06}.ortbench"
        path.write_bytes(pack_record(record(number), None, private=False))
    print(f"| a shared folder of {_BUNDLES:,} bundles | | |")
    yield FIRST, lambda: history(folder).entries(most=20)
    yield "list it again", lambda: history(folder).entries(most=20)
    yield "open one of it", lambda: history(folder).open(record(_BUNDLES // 2).id)


def _seconds(action: Callable[[], Any], *, once: bool) -> tuple[float, float]:
    """Return how long a call takes by the clock and on a core."""
    took: list[tuple[float, float]] = []
    for _ in range(1 if once else _CALLS + 1):
        began, began_core = time.perf_counter(), time.process_time()
        action()
        took.append((time.perf_counter() - began, time.process_time() - began_core))
    counted = took[-_CALLS:]
    return median(wall_s for wall_s, _ in counted), median(core_s for _, core_s in counted)


if __name__ == "__main__":
    main()
