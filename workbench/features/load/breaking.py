"""At which load the latency budget breaks: where p99 passes it, with the interval of that load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.core.text import in_digits, in_ms
from workbench.features.load.points import PointSummary, in_words, summaries
from workbench.features.load.record import LoadRun, LoadTestRecord


@dataclass(frozen=True, slots=True)
class BudgetBreak:
    """The load at which p99 of one config passes the budget, by lines between the measured loads.

    `low` is where the upper end of the interval of p99 passes it, `high` where the lower end does. None: it
    does not within the loads that were measured, or p99 is not known there.
    """

    run: LoadRun
    max_p99_s: float
    unit: str  # callers, or requests/s
    least: float  # the smallest and the largest load that p99 is known at; 0: at none
    most: float
    load: float | None
    low: float | None
    high: float | None
    unsure: float | None  # the least load whose interval has no upper end; None: each has one

    def __str__(self) -> str:
        head = f"{self.run.label}: p99 of {in_ms(self.max_p99_s, 3)}"
        if not self.most:
            return f"{head} is not settled: p99 is not known at any load; measure longer"
        if self.load is None:
            kept = f"{head} is kept up to {self._in_words(self.most)}, the most measured"
            if self.low is not None:
                return f"{kept}; it may break from {self._in_words(self.low)} on (95 % CI)"
            return f"{kept} (no interval at {self._in_words(self.unsure)})" if self.unsure else kept
        if self.load <= self.least:
            return f"{head} breaks already at {self._in_words(self.least)}, the least measured"
        where = f"{head} breaks at {self._in_words(self.load)}"
        if self.low is None:
            return f"{where} (no interval)"
        high = "beyond the most measured" if self.high is None else in_digits(self.high, 3)
        return f"{where} (95 % CI {in_digits(self.low, 3)} to {high})"

    def _in_words(self, load: float) -> str:
        return f"{in_digits(load, 3)} {self.unit.removesuffix('s') if load == 1 else self.unit}"


def budget_breaks(record: LoadTestRecord, max_p99_s: float) -> tuple[BudgetBreak, ...]:
    """Return one for each config. Where rates were asked for, the load is the rate at the most callers."""
    rows = summaries(record)
    return tuple(_break(run, [row for row in rows if row.run is run], max_p99_s) for run in record.runs)


def whole_text(record: LoadTestRecord) -> str:
    """Return the text of the record, and at which load its budget breaks."""
    if record.max_p99_s is None:
        return in_words(record)
    return "\n".join([in_words(record), *map(str, budget_breaks(record, record.max_p99_s))])


def _break(run: LoadRun, rows: Sequence[PointSummary], budget_s: float) -> BudgetBreak:
    is_rate = any(row.point.rate_hz is not None for row in rows)
    if is_rate:
        most_callers = max(row.point.callers for row in rows if row.point.rate_hz is not None)
        rows = [row for row in rows if row.point.callers == most_callers]
    loads = [row.point.rate_hz if is_rate else row.point.callers for row in rows]
    known = sorted(
        (
            (float(load), row)
            for load, row in zip(loads, rows, strict=True)
            if load and row.p99.value is not None
        ),
        key=lambda pair: pair[0],
    )

    def passing(end: Callable[[PointSummary], float | None]) -> float | None:
        return _crossing([(load, value) for load, row in known if (value := end(row)) is not None], budget_s)

    return BudgetBreak(
        run=run,
        max_p99_s=budget_s,
        unit="requests/s" if is_rate else "callers",
        least=known[0][0] if known else 0.0,
        most=known[-1][0] if known else 0.0,
        load=passing(lambda row: row.p99.value),
        low=passing(lambda row: row.p99.high),
        high=passing(lambda row: row.p99.low),
        unsure=next((load for load, row in known if row.p99.high is None), None),
    )


def _crossing(curve: Sequence[tuple[float, float]], budget_s: float) -> float | None:
    """Return the first load at which a curve of (load, seconds) passes the budget; None: it does not."""
    if curve and curve[0][1] > budget_s:
        return curve[0][0]
    for (load, seconds), (more, later) in pairwise(curve):
        if later > budget_s >= seconds:
            return load + (more - load) * (budget_s - seconds) / (later - seconds)
    return None
