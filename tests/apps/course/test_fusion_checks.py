"""The lesson on fusions: its nets, its table, its checkers against right and wrong answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.factories import comparisons, graphs, results
from workbench.apps import course
from workbench.apps.course.article_cells import NOT_FIRED
from workbench.apps.course.exercise import OverBudget, problem_of_speed, wrong
from workbench.apps.course.fusion_lesson import MOST_SLOWER
from workbench.core.bundle.estimate import Estimate
from workbench.features.compare.result import Comparison
from workbench.features.explain.passes.missed import Missed
from workbench.features.explain.result import Explanation


def ablation(*effects: tuple[str, str, float], asked_s: float = 60.0) -> wb.Ablation:
    record = results.ablation()
    rows = tuple(
        replace(record.rows[0], name=name, effect=effect, ratio=Estimate(1 / (1 + worth)))  # type: ignore[arg-type]
        for name, effect, worth in effects
    )
    comparison = record.comparison
    protocol = replace(comparison.protocol, budget_s=asked_s)
    return wb.Ablation(replace(record, rows=rows, comparison=replace(comparison, protocol=protocol)))


def test_the_pass_that_costs_most_is_accepted() -> None:
    measured = ablation(("Gelu", "helps", 0.05), ("Skip", "hurts", -0.2), ("Bias", "hurts", -0.05))
    assert course.check("3.a", "Skip", ablation=measured).passed
    assert "another one gains more" in course.check("3.a", "Bias", ablation=measured).text
    assert "not wholly on the side" in course.check("3.a", "Gelu", ablation=measured).text
    assert "neither" in course.check("3.a", "Softmax", ablation=measured).text


def test_none_is_the_answer_where_no_pass_is_settled_to_hurt() -> None:
    measured = ablation(("Gelu", "helps", 0.05), ("Skip", "unknown", -0.2))
    assert course.check("3.a", "none", ablation=measured).passed
    assert "none is settled" in course.check("3.a", "Skip", ablation=measured).text
    hurting = ablation(("Skip", "hurts", -0.2))
    assert not course.check("3.a", "none", ablation=hurting).passed


def test_an_ablation_of_more_than_a_minute_is_beyond_the_budget() -> None:
    result = course.check("3.a", "Skip", ablation=ablation(("Skip", "hurts", -0.2), asked_s=90.0))
    assert (result.correct, result.within_budget) == (True, False)
    assert "took 90 s of at most 60 s" in result.text


def slowed(high: float | None, sqnr_db: float = 90.0) -> Comparison:
    record = comparisons.ordinary()
    agreement = tuple(replace(row, sqnr_db=sqnr_db) for row in record.agreement)
    verdict = replace(record.verdict, high=high)
    return Comparison(replace(record, verdicts=(verdict,), agreement=agreement))


def at_no_cost(comparison: Comparison) -> str | None:
    """What the check of exercise 3.b says of the comparison that it makes."""
    return problem_of_speed(comparison, MOST_SLOWER, wrong("3.b", "asked"))


@pytest.mark.parametrize("high", [1.2, 0.95, None])
def test_a_fused_gelu_that_is_not_settled_to_be_slower_counts(high: float | None) -> None:
    assert at_no_cost(slowed(high)) is None


def test_a_fused_gelu_that_costs_time_is_beyond_the_budget() -> None:
    problem = at_no_cost(slowed(0.8))
    assert isinstance(problem, OverBudget)
    assert "at most 0.80 times as fast" in problem
    differing = at_no_cost(slowed(1.2, 40.0))
    assert not isinstance(differing, OverBudget)
    assert "not within 60 dB" in str(differing)


def test_a_config_that_did_not_run_is_refused() -> None:
    record = comparisons.comparison(comparisons.drawn_run("A", 0.002), comparisons.failed("B", "no kernel"))
    problem = at_no_cost(Comparison(replace(record, agreement=())))
    assert problem == "This config did not run: no kernel."


def test_a_config_is_wanted_for_the_gelu() -> None:
    assert "no wb.Config" in course.check("3.b", "gelu-to-one-node", model=None).text


def unfolded(reason: str) -> Explanation:
    place = Missed("conv + batch norm", ("c", "b"), ("c", "b"), ("ConvBNFusion",), reason, "the graph")
    explained = graphs.fused()
    return Explanation(replace(explained, passes=replace(explained.passes, missed=(place,))))


def test_the_reason_of_the_explanation_is_the_answer() -> None:
    explanation = unfolded("the weight of c is no constant")
    assert course.check("3.c", "the weight", explanation=explanation).passed
    assert "belongs to the basic level" in course.check("3.c", "the level", explanation=explanation).text
    assert "names something else" in course.check("3.c", "the order", explanation=explanation).text
    assert "none of" in course.check("3.c", "a bug", explanation=explanation).text
    assert not course.check("3.c", "the weight", explanation=unfolded("c has 2 readers")).passed
    folded = Explanation(graphs.fused())
    assert "was folded" in course.check("3.c", "the weight", explanation=folded).text


def test_each_fusion_of_the_article_has_its_level_or_did_not_fire() -> None:
    explained = graphs.fused()
    step = explained.passes.fired[0]
    fired = (replace(step, name="ConvBNFusion", level=1), replace(step, name="AttentionFusion", level=2))
    explanation = Explanation(replace(explained, passes=replace(explained.passes, fired=fired)))
    levels = course.fusion_levels(explanation)
    assert levels["fusion-patterns/Conv + BatchNorm/article_level"] == "basic: ConvBNFusion"
    assert levels["fusion-patterns/Casts removed/article_level"] == NOT_FIRED
    rows = course.compare_with_article("fusion-patterns", levels).rows
    assert len(rows) == 10
    assert all("no recorded run" not in row.recorded for row in rows)


@pytest.mark.slow
@pytest.mark.real
def test_the_planted_gelu_is_missed_until_it_is_rewritten() -> None:
    model = course.encoder(half_first=True)
    assert "still run as 5 nodes" in course.check("3.b", wb.Config(), model=model).text
    assert course.check("3.b", wb.Config(rewrites=("gelu-to-one-node",)), model=model).passed


@pytest.mark.real
def test_the_nets_hold_what_the_lesson_plants() -> None:
    passes = wb.explain(course.encoder(), keep=False).passes
    assert "SkipLayerNormFusion" in passes.names
    assert not [place for place in passes.missed if place.pattern == "gelu"]
    planted = wb.explain(course.conv_net(batch_norm=True, weights_as_inputs=True), keep=False)
    assert course.check("3.c", "the weight", explanation=planted).passed
    assert not wb.explain(course.conv_net(batch_norm=True), keep=False).passes.missed
