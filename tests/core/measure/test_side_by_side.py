"""The table of quantizations: what stands in it, and who is on the edge."""

from dataclasses import replace

import pytest

from tests.drawing.test_accuracy import fidelity
from tests.drawing.test_accuracy import record as accuracy_record
from tests.factories.records import comparison
from workbench.core.measure.percentiles import percentiles
from workbench.features.compare.side_by_side import (
    EVALUATED,
    TIMED,
    precision_figure,
    precision_frame,
    standings,
)


def measured(kind="faster", ratio=2.0, sqnr_db=30.0):
    """Two runs, B with that verdict."""
    base = comparison()
    verdict = replace(base.verdicts[0], label="B", kind=kind, ratio=ratio, low=ratio * 0.9, high=ratio * 1.1)
    runs = tuple(replace(run, label=label) for run, label in zip(base.runs[:2], "AB", strict=True))
    agreement = tuple(
        replace(row, label="B", sqnr_db=sqnr_db, max_abs_error=0.1) for row in base.agreement[:1]
    )
    return replace(base, runs=runs, verdicts=(verdict,), agreement=agreement)


def two(**scores):
    told = accuracy_record()
    return replace(
        told,
        labels=("A", "B"),
        configs=("a", "b"),
        scores=told.scores[:2],
        fidelity=(fidelity("B"),),
        **scores,
    )


def test_without_an_evaluation_the_error_is_of_the_timed_inputs():
    first, second = standings(measured(), None)
    assert (first.speedup.value, first.verdict, first.error) == (1.0, None, None)
    assert (second.speedup.value, second.error_from) == (2.0, TIMED)
    assert second.error == pytest.approx(10 ** (-30 / 20))


def test_with_one_accuracy_and_error_are_its():
    _, second = standings(measured(), two())
    assert (second.accuracy.value, second.error, second.error_from) == (0.97, 0.1, EVALUATED)
    assert (second.lost.value, second.lost.low) == (-0.02, -0.04)


@pytest.mark.parametrize(
    ("kind", "ratio", "edge"),
    [("faster", 2.0, [True, True]), ("slower", 0.5, [True, False]), ("unknown", 2.0, [True, False])],
)
def test_the_edge_holds_what_nothing_beats_and_nothing_unsettled(kind, ratio, edge):
    assert [one.best for one in standings(measured(kind, ratio), two())] == edge


def test_no_speed_up_is_shown_where_outputs_differ():
    _, second = standings(measured("outputs differ"), None)
    assert (second.speedup.value, second.speedup.low, second.verdict) == (None, None, "outputs differ")
    assert len(precision_figure(measured("outputs differ")).data) == 2  # the edge, and A


def test_latency_has_its_interval():
    record = measured()
    row = standings(record, two())[0]
    (middle,) = percentiles(record.runs[0], (50.0,))
    assert (row.median_s.low, row.median_s.high) == (middle.low, middle.high)


def test_the_frame_has_units_in_its_names():
    frame = precision_frame(measured(), two())
    assert list(frame.columns[:5]) == ["label", "config", "median_ms", "median_low_ms", "median_high_ms"]
    assert {
        "speedup_low",
        "file_bytes",
        "peak_rss_bytes",
        "accuracy_low",
        "lost_high",
        "error",
        "best",
    } <= set(frame)
