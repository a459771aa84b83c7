"""The exercises of the lesson on threads and callers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.apps.course.exercise import ANSWERS, NONE, OverBudget, exercise, wrong
from workbench.apps.course.measuring_lesson import verdict_in_words

if TYPE_CHECKING:
    from workbench.features.load.result import LoadTest
    from workbench.features.variants.threads import Threads

_CLOSE = 0.05  # of the best latency


def latency_by_threads(threads: Threads) -> dict[int, float]:
    """Return the seconds of a run by the number of threads that spin, where one was measured."""
    return {
        point.threads: point.latency_s for point in threads.record.rows if point.spinning and point.latency_s
    }


@exercise("5.a", limit="at most 5 % above the best latency", evidence="thread scaling")
def enough_threads(answer: Any, *, threads: Threads) -> str | None:
    """Check for a thread count whose latency is within 5 % of the best."""
    if isinstance(answer, bool) or not isinstance(answer, int):
        return wrong("5.a", "no number")
    latency_s = latency_by_threads(threads)
    if answer not in latency_s:
        return wrong("5.a", "not measured", answer=answer, measured=", ".join(map(str, latency_s)))
    times = latency_s[answer] / min(latency_s.values())
    return None if times <= 1 + _CLOSE else OverBudget(wrong("5.a", "slower", answer=answer, times=times))


@exercise("5.b", budget_s=90.0, limit="99 of 100 requests within the goal")
def most_throughput(answer: Any, *, load: LoadTest, callers: int, p99_s: float) -> str | None:
    """Check for the label with the most throughput of those that keep the p99; "none" where none does."""
    rows = [row for row in load.points if row.point.callers == callers]
    if answer not in (NONE, *(row.run.label for row in rows)):
        return wrong("5.b", "no label")
    fine = [row for row in rows if row.p99.value is not None and row.p99.value <= p99_s]
    best = max(fine, key=lambda row: row.throughput.value or 0.0, default=None)
    if answer == (NONE if best is None else best.run.label):
        return None
    if best is None or answer == NONE:
        return wrong("5.b", "none keeps" if best is None else "one keeps")
    if answer not in [row.run.label for row in fine]:
        return OverBudget(wrong("5.b", "too late", answer=answer, callers=callers))
    return wrong("5.b", "less", answer=answer)


exercise("5.c", answers=ANSWERS, budget_s=20.0, evidence="comparison")(verdict_in_words)
