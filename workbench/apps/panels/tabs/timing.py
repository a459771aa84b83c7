"""The views timing, and memory and start: what the comparison measured."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card
from workbench.apps.panels.tabs.tab import Tab
from workbench.drawing.page.banner import numbers_html

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord

_RESIDENT = ["label", "load_s", "first_run_s", "peak_rss_bytes"]


def cards(state: BenchState) -> list[Card]:
    """Return three figures of what the comparison measured."""
    result = state.result
    if result is None:
        return []
    from workbench.drawing.ecdf import ecdf_table
    from workbench.drawing.latency import latency_figure, latency_table
    from workbench.drawing.timeline import timeline_table

    summary, record = str(result), result.record
    return [
        Card(
            "samples", "result.latency_figure()", summary,
            partial(latency_figure, record, titled=False),  # the answer above has the verdict
            partial(latency_table, record), draw_alone=result.latency_figure, below=partial(numbers, record),
            heading=spread_words(record),
        ),
        Card(
            "cumulative", "result.ecdf_figure()", summary, result.ecdf_figure,
            partial(ecdf_table, record),
        ),
        Card(
            "over time", "result.timeline_figure()", summary, result.timeline_figure,
            partial(timeline_table, record),
        ),
    ]  # fmt: skip


def spread_words(record: ComparisonRecord) -> str:
    """Return how the runs of the first candidate lie beside those of A, in a sentence."""
    import numpy as np

    measured = [(run.label, np.asarray(run.latency.samples_s)) for run in record.runs[:2]]
    if len(measured) < 2 or not all(len(samples) for _, samples in measured):
        return "Latency of every run"
    (base, before), (label, after) = measured
    if after.max() < before.min():
        return f"Every one of {label}'s runs is faster than {base}'s fastest"
    if after.min() > before.max():
        return f"Every one of {label}'s runs is slower than {base}'s slowest"
    share = float((after < np.median(before)).mean())
    return f"{share * 100:.0f} % of {label}'s runs are faster than {base}'s median"


def numbers(record: ComparisonRecord) -> str:
    """Return a row of numbers for each config."""
    from workbench.drawing.numbers import numbers_table

    return numbers_html(numbers_table(record))


def memory_cards(state: BenchState) -> list[Card]:
    """Return the peak memory and the load time of the comparison."""
    result = state.result
    if result is None:
        return []
    draw, table = result.resources_figure, partial(resident, result)
    return [Card("peak and load", "result.resources_figure()", str(result), draw, table)]


def resident(result: Any) -> Any:
    """Return the columns of the runs that are about memory and loading."""
    return result.to_frame().filter(items=_RESIDENT)


TIMING = Tab(
    "Timing", "Compare measures both configs in turns; every run stands here.", cards, has_limits=True
)
MEMORY_AND_START = Tab("Memory and start", "Peak memory and load time come with Compare.", memory_cards)
