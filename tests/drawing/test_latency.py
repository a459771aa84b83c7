"""The latency figure: it renders, shows what the data say, and takes a stranger's text for text."""

from __future__ import annotations

import json
import math

import plotly.graph_objects as go
import pytest

from tests.factories.comparisons import comparison, drawn_run, failed, ordinary, run
from workbench.drawing.latency import latency_figure, latency_table
from workbench.drawing.palette import TEXT
from workbench.drawing.strips import latency_data
from workbench.drawing.titles import MORE_MARK


def texts(figure: go.Figure) -> list[str]:
    """Return the labels beside the rows, and what is written in them."""
    marks = [mark.text for mark in figure.layout.annotations if mark.name != MORE_MARK]
    return [*figure.layout.yaxis.ticktext, *marks]


def more(figure: go.Figure) -> str:
    return " ".join(figure.layout.meta["title"][2:])


def drawn(figure: go.Figure, *groups: str) -> list[go.Scatter]:
    return [trace for trace in figure.data if trace.legendgroup in groups]


def test_a_row_a_run_with_every_sample_and_the_marks() -> None:
    figure = latency_figure(ordinary())
    assert [len(trace.x) for trace in drawn(figure, "sample")] == [800, 760]
    assert [len(trace.x) for trace in drawn(figure, "aside")] == [40]
    for group in ("density", "median", "interval"):
        assert len(drawn(figure, group)) == 2
    assert [trace.text[1] for trace in drawn(figure, "median")] == ["<b>1.99 ms</b>", "<b>1.10 ms</b>"]
    assert figure.layout.title.text.startswith("<b>B is 1.83× faster (95 % CI 1.79 to 1.88)</b>")
    assert figure.layout.xaxis.title.text == "latency of one run (ms)"
    assert texts(figure)[0].endswith("<b>A</b></span><br>ORT defaults")
    assert "hollow samples are excluded" in more(figure)


def test_below_a_banner_it_needs_no_verdict_of_its_own() -> None:
    titled, bare = latency_figure(ordinary()), latency_figure(ordinary(), titled=False)
    assert "faster" not in bare.layout.title.text
    assert bare.layout.height < titled.layout.height
    assert bare.data == titled.data


def test_samples_are_told_apart_without_colour() -> None:
    first, aside, second = [
        trace.marker.symbol for trace in drawn(latency_figure(ordinary()), "sample", "aside")
    ]
    assert len({first, aside, second}) == 3
    assert aside == f"{second}-open"


def test_the_density_stands_above_its_samples() -> None:
    figure = latency_figure(ordinary())
    for row, (curve, samples) in enumerate(
        zip(drawn(figure, "density"), drawn(figure, "sample"), strict=True)
    ):
        assert min(curve.y) >= -row > max(samples.y)


def test_a_failed_run_is_a_row_that_says_so() -> None:
    figure = latency_figure(comparison(drawn_run("A", 0.002), failed("B", "no such kernel")))
    assert texts(figure)[-1] == "failed"
    assert "B failed at load: no such kernel" in more(figure)
    assert len(drawn(figure, "sample")) == 1


def test_too_few_samples_have_dots_and_no_density() -> None:
    record = comparison(run("A", [[[0.001] * 5]]), run("B", [[[0.001] * 5]]))
    figure = latency_figure(record)
    assert not drawn(figure, "interval", "density")
    assert "1.00 ms" in drawn(figure, "median")[0].text[1]


def test_far_apart_means_logarithmic_with_plain_ticks() -> None:
    axis = latency_figure(comparison(drawn_run("A", 0.050), drawn_run("B", 0.001))).layout.xaxis
    assert axis.type == "log"
    assert {"1", "10", "50"} <= set(axis.ticktext)


def test_a_run_without_a_clean_sample_is_grey_and_says_so() -> None:
    figure = latency_figure(comparison(drawn_run("A", 0.002), drawn_run("B", 0.002, aside=range(40))))
    assert "all samples of B were disturbed by other work" in more(figure)
    assert drawn(figure, "aside")[0].marker.color == TEXT
    assert drawn(figure, "median")[1].line.color == TEXT


def test_ten_thousand_points_at_most_and_it_says_so() -> None:
    record = comparison(drawn_run("A", 0.002, samples=300), drawn_run("B", 0.001, samples=20))
    figure = latency_figure(record)
    assert sum(len(trace.x) for trace in drawn(figure, "sample", "aside")) == 10_000
    assert "10,000 of 12,800 samples are drawn" in more(figure)


def test_the_figure_is_small_enough_to_live_in_a_notebook() -> None:
    record = comparison(drawn_run("A", 0.002, samples=300), drawn_run("B", 0.001, samples=300))
    text = latency_figure(record).to_json()
    assert len(text) < 400_000
    assert "bdata" not in text  # older viewers cannot read it
    json.loads(text)


def test_the_table_has_the_numbers_of_the_figure() -> None:
    record = comparison(drawn_run("A", 0.002), drawn_run("B", 0.001, samples=2, aside=(1,)), failed("C"))
    table = latency_table(record).set_index("label")
    data = latency_data(record)
    assert list(table.index) == ["A", "B", "C"]
    assert table.loc["A", "p50_ms"] == pytest.approx(data.rows[0].median.value * 1e3)
    assert table.loc["A", "p50_low_ms"] < table.loc["A", "p50_ms"] < table.loc["A", "p50_high_ms"]
    assert table.loc["B", "samples_excluded"] == 2
    assert math.isnan(table.loc["B", "p99_ms"])
    assert "p99: not enough samples: 78 of 662" in table.loc["B", "note"]
    assert math.isnan(table.loc["C", "p50_ms"])
    assert table.loc["C", "note"].startswith("failed at load: ORT refused the model")
