"""The distribution of the clean samples."""

from __future__ import annotations

import math

from tests.factories.comparisons import comparison, drawn_run, failed, run
from workbench.drawing.ecdf import Distribution, EcdfData, ecdf_data, ecdf_figure, ecdf_table
from workbench.drawing.scale import Scale


def test_everything_by_equality() -> None:
    record = comparison(run("A", [[[0.003, 0.001], [0.002, 0.004]], [[9.0]]], aside=[2]), failed("B", "why"))
    assert ecdf_data(record) == EcdfData(
        scale=Scale("ms", 1e3, False),
        view_s=None,
        model="tiny",
        runs=(
            Distribution("A", (0.001, 0.002, 0.003, 0.004), (0.25, 0.5, 0.75, 1.0), 4, False, None),
            Distribution("B", (), (), 0, False, "failed at load: why"),
        ),
    )


def test_thinned_steps_lie_on_the_full_ones() -> None:
    record = comparison(drawn_run("A", 0.001), drawn_run("B", 0.001))
    full, thinned = ecdf_data(record).runs[0], ecdf_data(record, most=100).runs[0]
    assert len(thinned.share) == 50
    assert set(zip(thinned.latency_s, thinned.share, strict=True)) <= set(
        zip(full.latency_s, full.share, strict=True)
    )
    assert (thinned.share[-1], thinned.measured) == (1.0, 800)


def test_one_slow_sample_does_not_squeeze_the_rest() -> None:
    slow = run("B", [[[0.001 + at / 1e6 for at in range(200)] + [2.0]]])
    data = ecdf_data(comparison(drawn_run("A", 0.001), slow))
    assert data.view_s is not None
    assert data.view_s[1] < 0.002
    assert data.runs[1].latency_s[-1] == 2.0
    assert ecdf_figure(comparison(drawn_run("A", 0.001), slow)).layout.xaxis.range[1] < 2


def test_a_line_a_run_told_apart_without_colour_and_absent_is_told() -> None:
    disturbed = drawn_run("B", 0.002, aside=range(40))
    figure = ecdf_figure(comparison(drawn_run("A", 0.001), disturbed, failed("C")))
    assert [trace.name for trace in figure.data] == [
        "A",
        "B: all samples disturbed",
        "C: nothing was measured",
    ]
    assert len({trace.line.dash for trace in figure.data}) == 3
    assert figure.data[0].y[-1] == 100
    assert figure.layout.yaxis.title.text == "share of runs (%)"


def test_the_table_tells_no_percentile_without_the_samples() -> None:
    table = ecdf_table(comparison(drawn_run("A", 0.001), failed("B"))).set_index(["label", "percent"])
    assert table.loc[("A", 99.0), "latency_ms"] > table.loc[("A", 50.0), "latency_ms"]
    assert math.isnan(table.loc[("A", 99.9), "latency_ms"])
    assert table.loc[("A", 99.9), "note"] == "not enough samples: 800 of 6,636"
    assert table.loc["B", "latency_ms"].isna().all()
