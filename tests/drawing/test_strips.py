"""What the latency figure shows, by equality."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories.comparisons import comparison, drawn_run, failed, ordinary, run, with_sample
from workbench.core.config import Config, DynamicInt8, PreparedModel
from workbench.core.measure.percentiles import Figure
from workbench.core.measure.wording import sentence
from workbench.drawing.scale import Scale
from workbench.drawing.strips import LatencyData, Strip, config_text, density, latency_data


def test_everything_by_equality() -> None:
    baseline = run("A", [[[0.003, 0.001], [0.002, 0.004]], [[0.005], [0.009]]], aside=[3])
    record = comparison(baseline, failed("B", "no such kernel"))
    assert latency_data(record) == LatencyData(
        title=(sentence(record, record.verdict),),
        model="tiny",
        scale=Scale("ms", 1e3, False),
        span_s=(0.001, 0.009),
        view_s=(0.001, 0.005),  # the clean samples up to their 99th percentile
        rows=(
            Strip(
                label="A",
                text="ORT defaults",
                samples_s=(0.001, 0.002, 0.003, 0.004, 0.005),
                aside_s=(0.009,),
                measured=5,
                measured_aside=1,
                estimates=(
                    Figure(0.003, None, None, "p50", "no interval from 2 processes"),
                    Figure(None, None, None, "p90", "not enough samples: 5 of 64"),
                    Figure(None, None, None, "p99", "not enough samples: 5 of 662"),
                ),
                beyond=1,
                most_s=0.009,
                failure=None,
            ),
            Strip(
                label="B",
                text="the same config as A",
                samples_s=(),
                aside_s=(),
                measured=0,
                measured_aside=0,
                estimates=(
                    Figure(None, None, None, "p50", "not enough samples: 0 of 5"),
                    Figure(None, None, None, "p90", "not enough samples: 0 of 64"),
                    Figure(None, None, None, "p99", "not enough samples: 0 of 662"),
                ),
                beyond=0,
                most_s=None,
                failure="failed at load: no such kernel",
            ),
        ),
    )


def test_model_files_are_named_and_their_settings_follow() -> None:
    files = [PreparedModel("/cache/wide.onnx", compare_outputs=False), PreparedModel("bert-base-sdpa")]
    configs = [
        Config(),
        *(Config(precision=file) for file in files),
        Config(level="basic", precision=files[1]),
    ]
    runs = tuple(
        replace(drawn_run("A", 0.002), label=label, config=config)
        for label, config in zip("ABCD", configs, strict=True)
    )
    record = replace(ordinary(), runs=runs)
    texts = ["tiny", "wide", "bert-base-sdpa", "bert-base-sdpa, level basic"]
    assert [config_text(record, run) for run in runs] == texts
    int8 = Config(precision=PreparedModel("wide.onnx", precision=DynamicInt8()))
    assert config_text(record, replace(runs[1], config=int8)) == "wide, precision dynamic int8"


def test_a_run_of_which_nothing_was_clean_is_told_as_such() -> None:
    row = latency_data(comparison(drawn_run("A", 0.002), drawn_run("B", 0.002, aside=range(40)))).rows[1]
    assert row.all_aside
    assert (row.measured, row.measured_aside) == (0, 800)
    assert row.most_s == max(row.aside_s)


def test_configs_far_apart_get_a_logarithmic_axis_with_everything_in_view() -> None:
    data = latency_data(comparison(drawn_run("A", 0.050), drawn_run("B", 0.001)))
    assert data.scale == Scale("ms", 1e3, True)
    assert data.view_s is None


def test_a_far_sample_does_not_squeeze_the_rest_and_is_counted() -> None:
    far = with_sample(drawn_run("B", 0.001), 0.5)
    data = latency_data(comparison(drawn_run("A", 0.001), far))
    assert data.view_s is not None
    assert data.view_s[1] < 0.002
    assert all(1 <= row.beyond <= 0.01 * row.measured + 1 for row in data.rows)
    assert data.rows[1].most_s == 0.5
    assert data.rows[1].samples_s[-1] == 0.5  # drawn all the same


def test_the_density_of_a_wide_run_begins_at_0() -> None:
    wide = [0.001 * at for at in range(1, 30)]
    (first, height), *_ = density(wide)
    assert first == 0.0
    assert height > 0.1
    assert density([1 + second for second in wide])[0][0] > 0.9
    assert density(wide, log=True)[0][0] > 0.0


@pytest.mark.parametrize("most", [0, 1, 2, 11, 999, 1100, 3000])
def test_no_more_points_than_asked_for_and_the_note_says_so(most: int) -> None:
    data = latency_data(THINNED, most)
    drawn = sum(row.drawn for row in data.rows)
    assert drawn == min(most, 1100)
    assert data.left_out == ("" if drawn == 1100 else f"{drawn:,} of 1,100 samples are drawn, evenly chosen")
    if most >= 10:
        assert data.rows[0].samples_s[0] == min(FIRST.latency.samples_s)
        assert data.rows[0].samples_s[-1] == max(FIRST.latency.samples_s)


FIRST = drawn_run("A", 0.002)
THINNED = comparison(FIRST, drawn_run("B", 0.002, blocks=3, aside=(1,)))
