"""The exercises on convolutional nets: right and wrong answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.factories import comparisons, results
from workbench.apps import course
from workbench.apps.course.convolution_lesson import NOISE, WANTED_GAIN
from workbench.apps.course.exercise import OverBudget, problem_of_speed, wrong
from workbench.features.compare.result import Comparison
from workbench.features.profile.roofline.node_limits import NodeLimit


def roofline() -> wb.Roofline:
    nodes = (
        NodeLimit("wide", "Conv", 1.0, 0.003, 8_000_000, 1000, 0.002, "compute"),
        NodeLimit("deep", "Conv", 2.0, 0.004, 1_000_000, 9000, 0.001, "memory"),
        NodeLimit("add", "Add", 1.0, 0.001, None, None, None, None),
    )
    peaks = replace(results.roofline().peaks, float32_flops=1e9)
    return wb.Roofline(replace(results.roofline(), nodes=nodes, peaks=peaks), results.about())


def test_the_node_with_most_to_gain_is_accepted() -> None:
    assert course.check("4.a", "deep", roofline=roofline()).passed
    assert "computes most" in course.check("4.a", "wide", roofline=roofline()).text
    assert "Another node" in course.check("4.a", "add", roofline=roofline()).text
    assert "no node" in course.check("4.a", "Conv", roofline=roofline()).text


def test_without_a_known_limit_no_node_is_accepted() -> None:
    known = roofline().record
    unknown = wb.Roofline(replace(known, nodes=tuple(replace(node, limit_s=None) for node in known.nodes)))
    assert "No node's limit is known" in course.check("4.a", "add", roofline=unknown).text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (10.0, "right"),
        (8.5, "right"),
        (5.0, "two operations"),
        (0.01, "in seconds"),
        (20.0, "too high"),
        (1.0, "too low"),
        (True, "no number"),
        (10**400, "no number"),
        ("10", "no number"),
    ],
)
def test_the_least_time_is_operations_over_the_peak(answer: object, words: str) -> None:
    assert words in course.check("4.c", answer, roofline=roofline()).text


def test_a_peak_that_was_not_measured_is_named() -> None:
    known = roofline().record
    unmeasured = wb.Roofline(replace(known, peaks=replace(known.peaks, float32_flops=None)))
    assert "not measured" in course.check("4.c", 10.0, roofline=unmeasured).text


def gained(comparison: Comparison) -> str | None:
    """What the check of exercise 4.b says of the comparison that it makes."""
    return problem_of_speed(comparison, NOISE * WANTED_GAIN, wrong("4.b", "asked", gain=WANTED_GAIN))


@pytest.mark.parametrize(
    ("high", "sqnr_db", "words"),
    [
        (1.6, 90.0, None),
        (1.1, 90.0, None),  # a loaded machine shows less than the 1.24 of a quiet one
        (None, 90.0, None),
        (1.05, 90.0, "at most 1.05 times as fast; 1.2 times was asked"),
        (1.6, 40.0, "60 dB"),
    ],
)
def test_a_gain_that_is_not_excluded_counts(high: float | None, sqnr_db: float, words: str | None) -> None:
    record = comparisons.ordinary()
    verdict = replace(record.verdict, high=high)
    agreement = tuple(replace(row, sqnr_db=sqnr_db) for row in record.agreement)
    problem = gained(Comparison(replace(record, verdicts=(verdict,), agreement=agreement)))
    assert problem is None if words is None else words in str(problem)
    assert isinstance(problem, OverBudget) is (high == 1.05)


def test_a_config_that_did_not_run_is_not_faster() -> None:
    record = comparisons.comparison(comparisons.drawn_run("A", 0.002), comparisons.failed("B", "no kernel"))
    problem = gained(Comparison(replace(record, agreement=())))
    assert problem == "This config did not run: no kernel."
    assert not isinstance(problem, OverBudget)


@pytest.mark.parametrize("answer", ["channels-padded", wb.Config(precision=wb.DynamicInt8())])
def test_what_is_no_config_of_the_same_precision_is_refused(answer: object) -> None:
    assert not course.check("4.b", answer, model=None).passed


@pytest.mark.slow
@pytest.mark.real
def test_padded_channels_are_accepted_and_the_default_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_BUDGET", "short")
    model = course.conv_net(29)
    assert "no more than before" in course.check("4.b", wb.Config(), model=model).text
    assert course.check("4.b", wb.Config(rewrites=("channels-padded",)), model=model).passed
