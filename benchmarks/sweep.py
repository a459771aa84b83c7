"""The time of a sweep against that of as many comparisons: `python -m benchmarks.sweep`.

Both measure the same configs at the same sizes with the same budget for each point. The table has the
seconds, how many points are settled, and the time that was sampling.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

import workbench as wb
from benchmarks.frame import table as markdown
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.features.grid.winner import winner_of

BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32)
THREADS = (1, 2)


@dataclass(frozen=True, slots=True)
class Row:
    """One way to measure all points."""

    way: str
    points: int
    elapsed_s: float
    sampling_s: float
    settled: int  # points with a winner or a tie


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both ways and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.sweep", description=__doc__)
    parser.add_argument("--model", default="digits-conv")
    parser.add_argument("--budget", type=float, default=4.0, help="seconds a point")
    options = parser.parse_args(arguments)
    rows = [way(options.model, BATCHES, options.budget) for way in (swept, compared)]
    print(table(rows, os.getloadavg()[0]))


def swept(model: str, batches: Sequence[int], budget_s: float) -> Row:
    """Measure all points in one sweep."""
    began = time.perf_counter()
    result = wb.sweep(
        model, *configs(), batch=tuple(batches), budget_s=budget_s * len(batches), progress=False, keep=False
    )
    records = [point.measured for point in result.points if point.measured is not None]
    return _row("one sweep", records, time.perf_counter() - began)


def compared(model: str, batches: Sequence[int], budget_s: float) -> Row:
    """Measure each point by a comparison of its own, from the model's name on."""
    began, records = time.perf_counter(), []
    for batch in batches:
        loaded = wb.load(model)
        inputs = loaded.inputs(batch=batch)
        result = wb.compare(loaded, *configs(), inputs=inputs, budget_s=budget_s, progress=False, keep=False)
        records.append(result.record)
    return _row("comparisons", records, time.perf_counter() - began)


def configs() -> tuple[wb.Config, ...]:
    """Return the configs of each point."""
    return tuple(wb.Config(intra_op_threads=count) for count in THREADS)


def table(rows: Sequence[Row], load: float) -> str:
    """Return the rows as a table in Markdown."""
    lines = [
        (row.way, row.points, f"{row.elapsed_s:.1f} s", f"{row.sampling_s:.1f} s", row.settled)
        for row in rows
    ]
    return f"load {load:.1f}\n\n{markdown(('way', 'points', 'time', 'sampling', 'settled'), lines)}"


def _row(way: str, records: Sequence[ComparisonRecord], elapsed_s: float) -> Row:
    settled = sum(winner_of(record).standing in ("clear", "tie") for record in records)
    sampling_s = sum(record.protocol.sampling_s for record in records)
    return Row(way, len(records), elapsed_s, sampling_s, settled)


if __name__ == "__main__":
    main()
