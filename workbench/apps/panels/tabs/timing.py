"""What the comparison measured: the views timing, outputs, and memory and start."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card, figure_card
from workbench.apps.panels.tabs.tab import Tab
from workbench.core.bundle.display import frame_of
from workbench.drawing.page.banner import numbers_html

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord

_RESIDENT = ("label", "load_s", "first_run_s", "peak_rss_bytes")
_CHECKED = ("label", "output", "agrees", "reason", "max_abs_error", "relative_error", "sqnr_db", "nan_count",
            "inf_count")  # fmt: skip


def cards(state: BenchState) -> list[Card]:
    """Return three figures of the latency."""
    if state.result is None:
        return []
    from workbench.drawing.ecdf import ecdf_table
    from workbench.drawing.latency import latency_figure, latency_table
    from workbench.drawing.timeline import timeline_table

    result, record = state.result, state.result.record
    card = partial(figure_card, source="result", made=result)
    return [
        card(
            "samples", method="latency_figure", table=partial(latency_table, record),
            draw=partial(latency_figure, record, titled=False),  # the answer above has the verdict
            draw_alone=result.latency_figure, below=partial(numbers, record), heading=spread_words(record),
        ),
        card("cumulative", method="ecdf_figure", table=partial(ecdf_table, record)),
        card("over time", method="timeline_figure", table=partial(timeline_table, record)),
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


def output_cards(state: BenchState) -> list[Card]:
    """Return the evaluation, then the outputs that the comparison checked."""
    shown, table, result = list[Card](), state.whole_part("accuracy"), state.result
    if table is not None:
        evaluated = partial(figure_card, source="result.accuracy()", made=table, part="accuracy")
        shown += [
            evaluated("accuracy", method="figure", table=table.to_frame),
            evaluated("each output", method="fidelity_frame", table=table.fidelity_frame, draw=None),
        ]
    if result is not None and result.agreement:
        checked = partial(frame_of, result.agreement, _CHECKED)
        shown.append(figure_card("error", "result", result, "agreement_figure", checked))
    return shown


def memory_cards(state: BenchState) -> list[Card]:
    """Return the peak memory and the load time of the comparison."""
    result = state.result
    if result is None:
        return []
    return [
        figure_card(
            "peak and load", "result", result, "resources_figure",
            lambda: result.to_frame().filter(items=_RESIDENT),
        )
    ]  # fmt: skip


TIMING = Tab(
    "Timing", "Compare measures both configs in turns; every run stands here.", cards, has_limits=True
)
OUTPUTS = Tab("Outputs", cards=output_cards, own={"accuracy": "accuracy"})
MEMORY_AND_START = Tab("Memory and start", "Peak memory and load time come with Compare.", memory_cards)
