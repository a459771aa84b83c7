"""What the measurement of one config says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories import results as examples
from tests.factories.comparisons import failed
from workbench.core.measure.measurement import MeasurementRecord


def test_every_figure_has_its_unit_and_its_interval() -> None:
    frame = examples.measurement().to_frame().set_index("figure")
    assert list(frame.index) == ["mean", "p50", "p99", "throughput", "first run", "load", "peak memory"]
    assert frame.loc["p50", "value"] == pytest.approx(2.0, rel=0.05)
    assert frame.loc["p50", "low"] < frame.loc["p50", "value"] < frame.loc["p50", "high"]
    assert frame.loc["throughput", "value"] == pytest.approx(1e3 / frame.loc["mean", "value"])
    assert list(frame["unit"]) == ["ms", "ms", "ms", "runs/s", "ms", "ms", "MiB"]
    assert "5 processes" in frame.loc["load", "note"]


def test_the_sentence_names_model_config_and_figures() -> None:
    text = str(examples.measurement())
    assert text.startswith("tiny, ORT defaults: mean 1.999 ms (")
    assert "runs/s" in text


def test_a_figure_without_an_interval_says_why() -> None:
    record = examples.measurement()
    (run,) = record.measured.runs
    measured = replace(record.measured, runs=(replace(run, processes=run.processes[:2]),))
    text = replace(record, measured=measured).headline
    assert text.count("(no interval from 2 processes)") >= 4
    for figure in text.split(": ", 1)[1].split("; "):
        assert figure.endswith(")"), figure


def test_a_percentile_without_enough_samples_says_so() -> None:
    record = replace(examples.measurement(), percentiles=(99.9,))
    (estimate,) = record.unsettled
    assert estimate.note == "not enough samples: 800 of 6,636"
    assert "p99.9 is not settled: not enough samples: 800 of 6,636" in str(record)
    assert "not settled" not in str(replace(record, until_settled=False))


def test_what_failed_is_absent_with_its_reason() -> None:
    measured = examples.measurement().measured
    record = MeasurementRecord((50.0,), 0.05, True, replace(measured, runs=(failed("A", "no such kernel"),)))
    frame = record.to_frame()
    assert frame["value"].isna().all()
    assert set(frame["note"]) == {"failed at load: no such kernel"}
    assert "nothing was measured: no such kernel" in str(record)
