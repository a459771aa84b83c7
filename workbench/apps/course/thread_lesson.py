"""The exercises of the lesson on threads and callers."""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench.apps.course.exercise import ANSWERS, NONE, OverBudget, exercise, wrong
from workbench.apps.course.measuring_lesson import verdict_in_words

_CLOSE = 0.05  # of the best latency


@exercise("5.a", answers=float, limit="at most 5 % above the best latency", evidence="thread scaling")
def enough_threads(answer: float, *, threads: wb.Threads) -> str | None:
    """Check for a thread count whose latency is within 5 % of the best."""
    latency_s = threads.record.latency_by_threads()
    if answer not in latency_s:
        return wrong("5.a", "not measured", answer=answer, measured=", ".join(map(str, latency_s)))
    times = latency_s[int(answer)] / min(latency_s.values())
    return None if times <= 1 + _CLOSE else OverBudget(wrong("5.a", "slower", answer=answer, times=times))


@exercise("5.b", budget_s=90.0, limit="99 of 100 requests within the goal")
def most_throughput(answer: Any, *, load: wb.LoadTest, callers: int, p99_s: float) -> str | None:
    """Check for the label with the most throughput of those that keep the p99; "none" where none does."""
    rows = [row for row in load.points if row.point.callers == callers]
    if answer not in (NONE, *(row.run.label for row in rows)):
        return wrong("5.b", "no label")
    rates = {
        row.run.label: row.throughput.value or 0.0
        for row in rows
        if row.p99.value is not None and row.p99.value <= p99_s
    }
    if answer == max(rates, key=rates.__getitem__, default=NONE):
        return None
    if not rates or answer == NONE:
        return wrong("5.b", "one keeps" if rates else "none keeps")
    if answer not in rates:
        return OverBudget(wrong("5.b", "too late", answer=answer, callers=callers))
    return wrong("5.b", "less", answer=answer)


exercise("5.c", answers=ANSWERS, budget_s=20.0, evidence="comparison")(verdict_in_words)
