"""One config measured alone: measuring ends when the percentiles are known, or with the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.core.measure.fakes import World
from workbench.core.errors import ConfigError, RunFailed
from workbench.core.measure.goal import LEAST_ROUNDS, PrecisionGoal, check_percentiles
from workbench.core.measure.percentiles import percentiles


def test_the_median_of_a_steady_config_is_known_after_five_rounds(tmp_path: Path) -> None:
    measuring = World({"A": 0.001}).compare(tmp_path, budget_s=60.0, goal=PrecisionGoal((50.0,), 0.05))
    assert measuring.rounds == LEAST_ROUNDS
    assert measuring.verdicts == ()
    assert [run.label for run in measuring.evidence.runs()] == ["A"]


def test_sessions_that_scatter_take_more_rounds(tmp_path: Path) -> None:
    goal = PrecisionGoal((50.0,), 0.02)
    measuring = World({"A": 0.001}, scatter=0.05).compare(tmp_path, budget_s=300.0, goal=goal)
    assert measuring.rounds > LEAST_ROUNDS
    (middle,) = percentiles(measuring.evidence.run("A"), (50.0,))
    assert middle.precision is not None
    assert middle.precision <= 0.02


def test_the_budget_ends_what_is_not_known(tmp_path: Path) -> None:
    goal = PrecisionGoal((50.0,), 0.001)
    measuring = World({"A": 0.001}, scatter=0.2).compare(tmp_path, budget_s=8.0, goal=goal)
    assert not goal.is_reached(measuring.evidence.run("A"))
    assert measuring.elapsed_s <= 8.0


def test_the_samples_of_a_far_percentile_come_in_few_rounds(tmp_path: Path) -> None:
    """A run of 20 ms brings 13 samples in a quarter of a second: p99 needs 662."""
    measuring = World({"A": 0.02}).compare(tmp_path, budget_s=300.0, goal=PrecisionGoal((99.0,), 0.05))
    assert measuring.rounds <= 2 * LEAST_ROUNDS


def test_by_default_a_patient_goal_may_take_longer(tmp_path: Path) -> None:
    world = World({"A": 0.001}, scatter=0.3)
    quick = world.compare(tmp_path, goal=PrecisionGoal((50.0,), 0.001))
    patient = World({"A": 0.001}, scatter=0.3).compare(
        tmp_path, goal=PrecisionGoal((50.0,), 0.001, patience=3.0)
    )
    assert patient.budget_s == 3 * quick.budget_s
    assert patient.rounds > 1.5 * quick.rounds


def test_a_config_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="no kernel"):
        World({"A": 0.001}, failing=frozenset("A")).compare(tmp_path, goal=PrecisionGoal((50.0,), 0.05))


def test_a_busy_machine_counts_all_blocks(tmp_path: Path) -> None:
    world = World({"A": 0.001}, others_cores=1.0)
    measuring = world.compare(tmp_path, budget_s=30.0, goal=PrecisionGoal((50.0,), 0.05))
    assert {run.population for run in measuring.evidence.runs()} == {"all"}


@pytest.mark.parametrize("given", [0, 100, -1, "p99", None, True, float("nan"), (50, 100), (), [50] * 21])
def test_what_is_no_percentile_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError, match="percentile"):
        check_percentiles(given)


def test_percentiles_are_sorted_and_counted_once() -> None:
    assert check_percentiles([99, 50, 99.0]) == (50.0, 99.0)
    assert check_percentiles(99) == (99.0,)
