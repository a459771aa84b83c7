"""The lesson on transformers: its checkers against right and wrong answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.executed import solved
from tests.factories import comparisons, results
from workbench.apps import course
from workbench.apps.course.transformer_lesson import accepted_ms, line_ms
from workbench.core.bundle.comparison import Kind
from workbench.core.measure.percentiles import Figure
from workbench.features.compare.result import Comparison


def compared(*verdicts: tuple[Kind, float | None, float, float | None], budget_s: float = 60.0) -> Comparison:
    """A and one candidate for each verdict: kind, ratio, low, high."""
    runs = [comparisons.drawn_run(label, 0.002) for label in "ABCD"[: len(verdicts) + 1]]
    record = comparisons.comparison(*runs)
    made = tuple(
        replace(verdict, kind=kind, ratio=ratio, low=low, high=high)
        for verdict, (kind, ratio, low, high) in zip(record.verdicts, verdicts, strict=True)
    )
    protocol = replace(record.protocol, budget_s=budget_s)
    return Comparison(replace(record, verdicts=made, protocol=protocol))


def test_the_fastest_file_is_the_answer_and_a_tie_with_it_counts() -> None:
    three = compared(("faster", 1.3, 1.25, 1.35), ("faster", 1.28, 1.2, 1.33), ("faster", 1.1, 1.05, 1.15))
    for answer in ("B", "C"):
        assert course.check("6.b", answer, comparison=three).passed
    assert "faster still" in course.check("6.b", "D", comparison=three).text
    assert "faster than A" in course.check("6.b", "A", comparison=three).text
    assert "B is settled" in course.check("6.b", "not settled", comparison=three).text
    assert "none of" in course.check("6.b", "bert-base", comparison=three).text


def test_a_file_that_is_at_least_so_much_faster_is_the_answer() -> None:
    large = compared(("faster", 1.3, 1.25, 1.35), ("faster", None, 2.7, None))
    assert course.check("6.b", "C", comparison=large).passed
    assert "faster still" in course.check("6.b", "B", comparison=large).text
    assert solved("06_transformers", "b-solution", course=course, comparison=large).passed


def test_without_a_faster_file_the_baseline_or_not_settled_is_right() -> None:
    both = compared(("slower", 0.8, 0.7, 0.9), ("unknown", 1.02, 0.9, 1.2))
    for answer in ("A", "C", "not settled"):
        assert course.check("6.b", answer, comparison=both).passed
    assert "slower than A" in course.check("6.b", "B", comparison=both).text


def test_too_long_a_measurement_exceeds_the_budget() -> None:
    result = course.check("6.b", "B", comparison=compared(("faster", 1.3, 1.2, 1.4), budget_s=300))
    assert result.within_budget is False
    assert not result.passed


def test_a_foreseen_latency_is_near_the_measured_one() -> None:
    sweep = wb.Sweep(results.sweep(), results.about())
    estimate = next(iter(sweep.record.all_cells())).latency()
    assert estimate.value is not None
    right_ms = 1e3 * estimate.value

    def text(answer: object, size: int = 1) -> str:
        return course.check("6.c", answer, sweep=sweep, axis="batch", size=size).text

    assert text(right_ms) == text(1.2 * right_ms) == "The answer is right."
    assert "takes less" in text(3 * right_ms)
    assert "takes more" in text(right_ms / 3)
    assert "measured nothing" in text(right_ms, size=32)
    assert "no number" in text("2 ms")


def test_a_line_through_two_sizes_foresees_a_third() -> None:
    assert line_ms({32: 0.010, 64: 0.018, 128: 0.5}, 128) == pytest.approx(34.0)
    assert line_ms({64: 0.018, 128: 0.5}, 128) is None


def test_a_latency_without_an_interval_is_known_to_a_factor_of_two() -> None:
    assert accepted_ms(Figure(0.01, None, None, "p50", ""), 0.01) == pytest.approx((5.0, 20.0))
    assert accepted_ms(Figure(0.01, 0.008, 0.012, "p50", ""), 0.01) == pytest.approx((6.0, 15.0))


@pytest.mark.parametrize("answer", [None, "bert", wb.Config(), wb.TransformerFusion()])
def test_a_config_with_a_fusion_is_wanted(answer: object) -> None:
    assert not course.check("6.a", answer, model=None).passed


@pytest.mark.real
def test_each_attention_becomes_one_operator_with_the_right_type() -> None:
    model = course.encoder()
    plain = course.check("6.a", wb.Config(fusion=wb.TransformerFusion()), model=model)
    assert "0 of 3 attentions" in plain.text
    assert "The record says" in plain.text
    assert course.check("6.a", wb.Config(fusion=wb.TransformerFusion(model_type="bert")), model=model).passed
    rewritten_first = wb.Config(
        fusion=wb.TransformerFusion(model_type="bert"), rewrites=("unused-weights-removed",)
    )
    assert course.check("6.a", rewritten_first, model=model).passed
    nothing = course.check(
        "6.a", wb.Config(fusion=wb.TransformerFusion(model_type="unet")), model=course.conv_net()
    )
    assert not nothing.passed
