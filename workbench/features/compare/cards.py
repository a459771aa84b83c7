"""The cards of a comparison: latency, outputs, memory and load."""

from __future__ import annotations

from functools import partial

import numpy as np

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import frame_of
from workbench.drawing.card import Card, Held, figure_card
from workbench.drawing.ecdf import ecdf_table
from workbench.drawing.latency import latency_figure, latency_table
from workbench.drawing.numbers import numbers_table
from workbench.drawing.page.banner import numbers_html
from workbench.drawing.timeline import timeline_table

_RESIDENT = ("label", "load_s", "first_run_s", "peak_rss_bytes")
_CHECKED = ("label", "output", "agrees", "reason", "max_abs_error", "relative_error", "sqnr_db", "nan_count",
            "inf_count")  # fmt: skip


def cards(held: Held) -> list[Card]:
    """Return the cards with the views in which they stand."""
    result, record = held.result, held.result.record
    card = partial(figure_card, source="result", made=result)
    timed, checked = partial(card, view="Timing"), partial(frame_of, result.agreement, _CHECKED)
    shown = [
        timed(
            "samples", method="latency_figure", table=partial(latency_table, record),
            draw=partial(latency_figure, record, titled=False),  # the answer above has the verdict
            draw_alone=result.latency_figure, heading=spread_words(record),
            below=lambda: numbers_html(numbers_table(record)),
        ),
        timed("cumulative", method="ecdf_figure", table=partial(ecdf_table, record)),
        timed("over time", method="timeline_figure", table=partial(timeline_table, record)),
        card("error", method="agreement_figure", table=checked, view="Outputs"),
        card("peak and load", method="resources_figure", view="Memory and start",
             table=lambda: result.to_frame().filter(items=_RESIDENT)),
    ]  # fmt: skip
    return [made for made in shown if made.title != "error" or result.agreement]


def spread_words(record: ComparisonRecord) -> str:
    """Return how the runs of the first candidate lie beside those of A, in a sentence."""
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
