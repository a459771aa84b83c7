"""The latency figure: it renders, shows what the data say, and takes a stranger's text for text."""

from __future__ import annotations

import json
import math

import plotly.graph_objects as go
import pytest

from tests.factories.comparisons import HOSTILE, comparison, drawn_run, failed, ordinary, run
from workbench.figures.latency import latency_data, latency_figure, latency_table
from workbench.figures.palette import TEXT


def texts(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def test_a_row_a_run_with_every_sample_and_the_marks() -> None:
    figure = latency_figure(ordinary())
    points = {
        (trace.legendgroup, trace.yaxis): len(trace.x)
        for trace in figure.data
        if trace.legendgroup in ("sample", "aside") and trace.x != (None,)
    }
    assert points == {("sample", "y"): 800, ("sample", "y2"): 760, ("aside", "y2"): 40}
    for group in ("median", "interval", "p90", "p99"):
        assert sum(trace.legendgroup == group and trace.x[0] is not None for trace in figure.data) == 2
    assert figure.layout.title.text.startswith("<b>B is 1.83× faster (95 % CI 1.79 to 1.88)</b>")
    assert figure.layout.xaxis.title.text == "latency of one run (ms)"
    assert texts(figure)[1].split("<br>")[0] == "<b>B</b> intra-op threads (1 instead of ORT's choice)"
    assert "40 of 800 samples set aside" in texts(figure)[1]


def test_below_a_banner_it_needs_no_verdict_of_its_own() -> None:
    titled, bare = latency_figure(ordinary()), latency_figure(ordinary(), titled=False)
    assert "faster" not in bare.layout.title.text
    assert bare.layout.height < titled.layout.height
    assert bare.data == titled.data


def test_drawing_twice_gives_the_same_picture() -> None:
    assert latency_figure(ordinary()).to_json() == latency_figure(ordinary()).to_json()


def test_samples_are_told_apart_without_colour() -> None:
    symbols = {
        (trace.legendgroup, trace.yaxis): trace.marker.symbol
        for trace in latency_figure(ordinary()).data
        if trace.legendgroup in ("sample", "aside") and trace.x != (None,)
    }
    assert len(set(symbols.values())) == 3
    assert symbols["aside", "y2"].endswith("-open")


def test_a_failed_run_is_a_row_that_says_so() -> None:
    figure = latency_figure(comparison(drawn_run("A", 0.002), failed("B", "no such kernel")))
    assert "<b>failed at load: no such kernel</b>" in texts(figure)[1]
    assert {trace.yaxis for trace in figure.data} == {"y"}


def test_a_percentile_without_enough_samples_is_told_and_not_drawn() -> None:
    figure = latency_figure(comparison(drawn_run("A", 0.002, blocks=2), drawn_run("B", 0.002, blocks=2)))
    assert "p99 unknown, not enough samples: 200 of 662" in texts(figure)[0]
    assert not any(trace.legendgroup == "p99" for trace in figure.data)


def test_too_few_processes_give_a_median_without_an_interval() -> None:
    one = run("A", [[[0.001] * 5]])
    figure = latency_figure(comparison(one, run("B", [[[0.001] * 5]])))
    assert "median 1.000 ms<br>" in texts(figure)[0]
    assert not any(trace.legendgroup == "interval" for trace in figure.data)


def test_far_apart_means_logarithmic_with_plain_ticks() -> None:
    axis = latency_figure(comparison(drawn_run("A", 0.050), drawn_run("B", 0.001))).layout.xaxis
    assert axis.type == "log"
    assert {"1", "10", "50"} <= set(axis.ticktext)


def test_a_run_without_a_clean_sample_is_grey_and_says_so() -> None:
    figure = latency_figure(comparison(drawn_run("A", 0.002), drawn_run("B", 0.002, aside=range(40))))
    assert "all 800 samples were disturbed by other work" in texts(figure)[1]
    grey = {trace.marker.color for trace in figure.data if trace.yaxis == "y2" and trace.mode == "markers"}
    assert grey == {TEXT}


def test_everything_failed() -> None:
    figure = latency_figure(comparison(failed("A"), failed("B")))
    assert len(texts(figure)) == 2
    assert figure.layout.xaxis.visible is False


def test_a_strangers_text_stays_text() -> None:
    record = comparison(drawn_run("A", 0.002), failed("B", HOSTILE), model=HOSTILE)
    figure = latency_figure(record)
    shown = [figure.layout.title.text, *texts(figure)]
    for text in shown:
        bare = text
        for ours in ("<b>", "</b>", "<br>", "<span style='font-size:12px'>", "</span>"):
            bare = bare.replace(ours, "")
        assert "<" not in bare
        assert "$" not in bare
    assert any("&lt;/script&gt;" in text for text in shown)


def test_ten_thousand_points_at_most_and_it_says_so() -> None:
    record = comparison(drawn_run("A", 0.002, samples=300), drawn_run("B", 0.001, samples=20))
    figure = latency_figure(record)
    drawn = sum(len(trace.x) for trace in figure.data if trace.legendgroup in ("sample", "aside")) - 1
    assert drawn == 10_000
    assert "10,000 of 12,800 samples are drawn" in figure.layout.title.text


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
    assert table.loc["B", "samples_set_aside"] == 2
    assert math.isnan(table.loc["B", "p99_ms"])
    assert "p99: not enough samples: 78 of 662" in table.loc["B", "note"]
    assert math.isnan(table.loc["C", "p50_ms"])
    assert table.loc["C", "note"].startswith("failed at load: ORT refused the model")
