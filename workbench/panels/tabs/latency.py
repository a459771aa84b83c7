"""The latency tab: every sample, the distribution, the order in time, the percentiles."""

from __future__ import annotations

from workbench.panels.bench import Bench
from workbench.panels.tabs.card import Piece
from workbench.panels.tabs.tab import Tab


def pieces(bench: Bench) -> list[Piece]:
    """What the comparison itself shows."""
    result = bench.state.result
    if result is None:
        return []
    from workbench.figures.ecdf import ecdf_table
    from workbench.figures.latency import latency_figure, latency_table
    from workbench.figures.timeline import timeline_table

    said, record = str(result), result.record
    return [
        Piece(
            "every sample",
            "result.latency_figure()",
            said,
            lambda: latency_figure(record, titled=False),  # the banner above says it
            lambda: latency_table(record),
            alone=result.latency_figure,
        ),
        Piece("percentiles", "result.percentiles()", said, None, result.percentiles),
        Piece(
            "in time order",
            "result.timeline_figure()",
            said,
            result.timeline_figure,
            lambda: timeline_table(record),
        ),
        Piece("distribution", "result.ecdf_figure()", said, result.ecdf_figure, lambda: ecdf_table(record)),
        Piece("runs", "result.to_frame()", said, None, result.to_frame),
    ]


LATENCY = Tab("latency", "Press Compare: every sample of A and B stands here.", pieces)
