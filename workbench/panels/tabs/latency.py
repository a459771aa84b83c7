"""The latency tab: samples, distribution, percentiles, the order in time."""

from __future__ import annotations

from functools import partial

from workbench.panels.state import BenchState
from workbench.panels.tabs.card import Card
from workbench.panels.tabs.tab import Tab


def cards(state: BenchState) -> list[Card]:
    """Return what the comparison itself measured."""
    result = state.result
    if result is None:
        return []
    from workbench.figures.ecdf import ecdf_table
    from workbench.figures.latency import latency_figure, latency_table
    from workbench.figures.timeline import timeline_table

    summary, record = str(result), result.record
    return [
        Card(
            "every sample", "result.latency_figure()", summary,
            partial(latency_figure, record, titled=False),  # the banner above has the verdict
            partial(latency_table, record), draw_alone=result.latency_figure,
        ),
        Card("percentiles", "result.percentiles()", summary, None, result.percentiles),
        Card(
            "in time order", "result.timeline_figure()", summary, result.timeline_figure,
            partial(timeline_table, record),
        ),
        Card(
            "distribution", "result.ecdf_figure()", summary, result.ecdf_figure,
            partial(ecdf_table, record),
        ),
        Card("runs", "result.to_frame()", summary, None, result.to_frame),
    ]  # fmt: skip


LATENCY = Tab("latency", "Press Compare: every sample of A and B stands here.", cards)
