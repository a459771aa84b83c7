"""False claims and power of the whole ending rule, simulated: looks, an early end, and measuring on."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable

import pytest

from tests.amount import amount
from workbench.judge.pairs import Pair
from workbench.judge.verdict import Criteria, is_enough, judge
from workbench.records.run import Population

pytestmark = pytest.mark.thorough

Draw = Callable[[random.Random], float]


def normal(scatter: float) -> Draw:
    return lambda rng: rng.gauss(0, scatter)


def bursts(rng: random.Random) -> float:
    """A busy machine: most rounds are close, every fifth is far off."""
    return rng.gauss(0, 0.4 if rng.random() < 0.2 else 0.03)


def stuck(rng: random.Random) -> float:
    """Two threads on two cores, one of them kept busy: every tenth process runs both on one core."""
    return rng.gauss(0, 0.02) + math.log(2) * ((rng.random() < 0.1) - (rng.random() < 0.1))


def concluded(
    rng: random.Random, draw: Draw, effect: float, finals: tuple[int, ...], population: Population
) -> str:
    """The last verdict of a comparison that ends by itself or after these rounds, and then goes on."""
    pairs: list[Pair] = []
    looks: tuple[int, ...] = ()
    for final in finals:
        criteria = Criteria(looks=looks, population=population)
        while len(pairs) < final:
            ratio = effect + draw(rng)
            pairs.append(Pair(len(pairs) + 1, ratio, ratio, 3, 3))
            if is_enough(pairs, criteria):
                break
        verdict = judge("B", pairs, (), criteria, final=True)
        if verdict.kind in ("faster", "slower"):
            return verdict.kind
        looks = (*looks, len(pairs))
    return verdict.kind


def counts(
    draw: Draw,
    effect: float,
    finals: tuple[int, ...],
    repeats: int,
    population: Population = "undisturbed",
) -> Counter[str]:
    rng = random.Random(0)
    return Counter(concluded(rng, draw, effect, finals, population) for _ in range(repeats))


@pytest.mark.parametrize("finals", [(7,), (12,), (4, 9, 14, 20)], ids=str)
@pytest.mark.parametrize(
    ("draw", "population"),
    [
        (normal(0.005), "undisturbed"),
        (normal(0.02), "undisturbed"),
        (normal(0.02), "all"),
        (normal(0.2), "all"),
        (bursts, "all"),
        (stuck, "all"),
    ],
)
def test_equal_configs_are_called_different_in_at_most_one_in_a_hundred(
    draw: Draw, population: Population, finals: tuple[int, ...]
) -> None:
    tries = amount(400)
    verdicts = counts(draw, 0.0, finals, tries, population)
    assert verdicts["faster"] + verdicts["slower"] <= max(1, tries // 100)


@pytest.mark.parametrize(
    ("effect", "scatter", "least"), [(0.03, 0.01, 0.95), (0.02, 0.008, 0.85), (0.7, 0.2, 0.95)]
)
def test_effects_are_found(effect: float, scatter: float, least: float) -> None:
    population: Population = "all" if scatter > 0.1 else "undisturbed"
    tries = amount(200)
    verdicts = counts(normal(scatter), effect, (12,), tries, population)
    assert verdicts["faster"] >= least * tries
    assert verdicts["slower"] == 0


def test_rounds_in_which_a_process_was_stuck_do_not_hide_a_tenth() -> None:
    tries = amount(200)
    verdicts = counts(stuck, 0.1, (12,), tries, "all")
    assert verdicts["faster"] >= 0.7 * tries
    assert verdicts["slower"] == 0


def test_equal_configs_tie() -> None:
    tries = amount(200)
    assert counts(normal(0.01), 0.0, (12,), tries)["tie"] >= 0.9 * tries
