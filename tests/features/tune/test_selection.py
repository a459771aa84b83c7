"""Studies in simulated worlds with a known truth: the choice is good, and noise is never crowned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.amount import amount
from tests.features.tune.worlds import SIZES, SPACE, TRUTHS, World, study
from workbench.core.config import Config, DynamicInt8
from workbench.features.tune.selection import Selection
from workbench.features.tune.space import Space

pytestmark = pytest.mark.thorough
TRIES = amount(40)
DEFAULTS = Config()


@pytest.mark.parametrize("scatter", [0.01, 0.04])
@pytest.mark.parametrize("name", TRUTHS)
def test_the_regret_is_at_most_2_percent_in_9_of_10_tries(name: str, scatter: float) -> None:
    space, truth = TRUTHS[name]
    outcomes = [study(space, truth, scatter=scatter, budget_s=120.0, seed=seed) for seed in range(TRIES)]
    assert sum(outcome.regret <= 0.02 for outcome in outcomes) >= 0.9 * TRIES
    assert all(outcome.gain >= 1.0 for outcome in outcomes)
    assert all(outcome.spent_s <= outcome.exhaustive_s / 5 for outcome in outcomes)


def every_change_costs(config: Config) -> float:
    """Every change costs 1 %, so that whatever is chosen is a false promotion."""
    return 1.0 + 0.01 * (config != DEFAULTS)


@pytest.mark.parametrize("scatter", [0.02, 0.1])
def test_a_config_that_is_slower_than_the_default_is_hardly_ever_chosen(scatter: float) -> None:
    outcomes = [
        study(SPACE, every_change_costs, scatter=scatter, budget_s=90.0, seed=seed)
        for seed in range(amount(300))
    ]
    assert sum(outcome.gain < 1.0 for outcome in outcomes) <= 0.02 * len(outcomes)


def test_a_busy_machine_with_more_time_still_finds_a_good_config() -> None:
    space, truth = TRUTHS["encoder"]
    outcomes = [study(space, truth, scatter=0.1, budget_s=300.0, seed=seed) for seed in range(TRIES)]
    assert sum(outcome.regret <= 0.02 for outcome in outcomes) >= 0.9 * TRIES
    assert all(outcome.gain >= 1.0 for outcome in outcomes)


def test_interacting_changes_that_lose_alone_are_found_together() -> None:
    space, truth = TRUTHS["interacting"]
    outcome = study(space, truth, scatter=0.005, budget_s=120.0, seed=1)
    assert outcome.best.free_dimensions
    assert outcome.best.disabled_passes == ("SkipLayerNormFusion",)
    assert isinstance(outcome.best.precision, DynamicInt8)


def worth_less_together(config: Config) -> float:
    """Each pass saves 5 % alone, and 0.2 % of an int8 run."""
    saved = 0.002 if config.precision is not None else 0.05
    share = (0.5 if isinstance(config.precision, DynamicInt8) else 1.0) + 0.2 * bool(config.level)
    return share * (1 - saved) ** len(config.disabled_passes) * (1 + bool(config.intra_op_threads))


def test_the_winner_has_no_change_that_is_worth_nothing_on_it() -> None:
    outcomes = [
        study(SPACE, worth_less_together, scatter=0.005, budget_s=200.0, seed=seed) for seed in range(40)
    ]
    assert {outcome.best for outcome in outcomes} == {Config(precision=DynamicInt8())}


def test_changes_that_start_together_are_proven_one_by_one() -> None:
    space = Space(SPACE.axes, (Config(free_dimensions=SIZES, spinning=False),))
    world = World(lambda config: 0.8 if config.spinning is False else 1.0, 0.002, 300.0)
    winner = Selection(space, Config(), world).run()
    assert world.configs[winner] == Config(spinning=False)


def test_a_small_space_is_tried_as_a_whole() -> None:
    space = Space.of(level=("basic", "disabled"), intra_op_threads=(1, 2))
    world = World(lambda _: 1.0, 0.01, 500.0)
    Selection(space, Config(), world).run()
    assert {*world.configs.values()} == {*space.configs()}


def test_a_failing_candidate_ends_nothing() -> None:
    space, truth = TRUTHS["encoder"]
    int8 = Config(precision=DynamicInt8())
    world = World(truth, 0.005, 200.0, failing=frozenset([int8]))
    winner = Selection(space, Config(), world).run()
    assert world.configs[winner] != int8
    assert truth(world.configs[winner]) < 0.6


def test_without_time_the_default_wins() -> None:
    space, truth = TRUTHS["encoder"]
    assert Selection(space, Config(), World(truth, 0.01, 0.1)).run() == "A"


def test_a_default_that_breaks_a_limit_does_not_win() -> None:
    space = Space.of(level=("basic",))
    world = World(lambda config: 1.0 + 0.3 * (config != Config()), 0.01, 100.0)
    del world.drawn["A"]
    winner = Selection(space, Config(), world).run()
    assert world.configs[winner] == Config(level="basic")


def test_suggestions_of_a_sampler_race_too() -> None:
    space = replace(SPACE, starts=())
    wanted = Config(precision=DynamicInt8(), disabled_passes=("BiasGeluFusion",), intra_op_threads=1)
    world = World(lambda config: 0.2 if config == wanted else 1.0, 0.005, 400.0)
    winner = Selection(space, Config(), world, lambda _, __, count: [wanted][:count]).run()
    assert world.configs[winner] == wanted
