"""The latency tab: one figure with a switch, and the numbers of every config below it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card
from workbench.apps.panels.tabs.tab import Tab
from workbench.drawing.page.banner import numbers_html

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord


def cards(state: BenchState) -> list[Card]:
    """Return three views of what the comparison measured."""
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
            partial(latency_figure, record, titled=False),  # the banner above has the verdict
            partial(latency_table, record), draw_alone=result.latency_figure, below=partial(numbers, record),
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


def numbers(record: ComparisonRecord) -> str:
    """Return a row of numbers for each config."""
    from workbench.drawing.numbers import numbers_table

    return numbers_html(numbers_table(record))


LATENCY = Tab(
    "latency", "Press Compare: the latency distribution of A and B stands here.", cards, has_limits=True
)
