"""False claims and power of the whole ending rule, simulated: looks, an early end, and measuring on."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from tests.amount import amount, sample
from workbench.core.bundle.comparison import Kind
from workbench.core.bundle.run import Population
from workbench.core.measure.pairs import Pair, population_of
from workbench.core.measure.verdict import FAR_ROUNDS, Criteria, is_enough, judge

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


def two_humped(rng: random.Random) -> float:
    """Two threads share a core in every fourth process of either config, and take twice as long."""
    return rng.gauss(0, 0.02) + math.log(2) * ((rng.random() < 0.25) - (rng.random() < 0.25))


def heavy_tailed(scatter: float) -> Draw:
    """Student's t with three degrees of freedom: now and then a round is far off."""
    return lambda rng: scatter * rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1.5, 2) / 3)


def drifting(scatter: float, correlation: float = 0.3) -> Draw:
    """Rounds of which each resembles the one before: a machine that warms up, a load that comes and goes."""
    latest: list[float] = []

    def draw(rng: random.Random) -> float:
        step = rng.gauss(0, 1)
        latest[:] = [correlation * latest[0] + math.sqrt(1 - correlation**2) * step if latest else step]
        return scatter * latest[0]

    return draw


def measure(
    pairs: list[Pair],
    rng: random.Random,
    draw: Draw,
    effect: float,
    final: int,
    criteria: Criteria,
    *,
    narrow: bool = True,
) -> Kind:
    """Add rounds until the verdict is settled, this many at most, and return it."""
    while len(pairs) < final:
        ratio = effect + draw(rng)
        pairs.append(Pair(len(pairs) + 1, ratio, ratio, 3, 3))
        if is_enough(pairs, criteria, narrow=narrow):
            break
    return judge("B", pairs, (), criteria, final=True).kind


def concluded(
    rng: random.Random, draw: Draw, effect: float, finals: tuple[int, ...], population: Population
) -> Kind:
    """The last verdict of a comparison that ends by itself or after these rounds, and then goes on."""
    pairs: list[Pair] = []
    criteria = Criteria(population=population)
    for final in finals:
        kind = measure(pairs, rng, draw, effect, final, criteria)
        if kind in ("faster", "slower"):
            break
        criteria = replace(criteria, looks=(*criteria.looks, len(pairs)))
    return kind


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
        (two_humped, "all"),
        (two_humped, "undisturbed"),
    ],
)
def test_equal_configs_are_called_different_in_at_most_one_in_a_hundred(
    draw: Draw, population: Population, finals: tuple[int, ...]
) -> None:
    tries = amount(400)
    verdicts = counts(draw, 0.0, finals, tries, population)
    assert verdicts["faster"] + verdicts["slower"] <= max(1, tries // 100)


ROUNDS = [*product((heavy_tailed, drifting), (0.01, 0.03, 0.05, 0.2))]
ENDS = [*product(((8,), (12,), (27,), (4, 9, 14, 20)), ("undisturbed", "all"))]


@pytest.mark.parametrize(("finals", "population"), sample(ENDS, 4, "ends"), ids=str)
@pytest.mark.parametrize(("draw", "scatter"), sample(ROUNDS, 4, "rounds"))
def test_rounds_that_drift_or_have_heavy_tails_are_called_different_in_at_most_one_in_twenty(
    draw: Callable[[float], Draw], scatter: float, finals: tuple[int, ...], population: Population
) -> None:
    tries = amount(400, 100)
    verdicts = counts(draw(scatter), 0.0, finals, tries, population)
    assert verdicts["faster"] + verdicts["slower"] <= 0.05 * tries


@pytest.mark.parametrize(
    ("effect", "scatter", "least"), [(0.03, 0.01, 0.95), (0.02, 0.008, 0.85), (0.7, 0.2, 0.95)]
)
def test_effects_are_found(effect: float, scatter: float, least: float) -> None:
    population: Population = "all" if scatter > 0.1 else "undisturbed"
    tries = amount(200, 40)
    verdicts = counts(normal(scatter), effect, (12,), tries, population)
    assert verdicts["faster"] >= least * tries
    assert verdicts["slower"] == 0


def test_rounds_in_which_a_process_was_stuck_do_not_hide_a_tenth() -> None:
    tries = amount(200, 40)
    verdicts = counts(stuck, 0.1, (12,), tries, "all")
    assert verdicts["faster"] >= 0.7 * tries
    assert verdicts["slower"] == 0


@pytest.mark.parametrize("draw", [normal(0.6), stuck, two_humped, bursts])
@pytest.mark.parametrize("final", [5, 8])
def test_a_large_effect_needs_few_rounds(draw: Draw, final: int) -> None:
    tries = amount(200, 40)
    verdicts = counts(draw, math.log(8), (final,), tries, "all")
    assert verdicts["faster"] >= 0.9 * tries
    assert verdicts["slower"] == 0


@pytest.mark.parametrize("true", [1.0, 1.1, 1.5, 2.0, 3.0, 8.0])
@pytest.mark.parametrize("draw", [normal(0.2), normal(0.6), stuck, two_humped, bursts])
def test_at_least_is_more_than_the_truth_in_at_most_one_in_a_hundred(draw: Draw, true: float) -> None:
    """At the first look that allows it: later ones hold fewer claims that were not made before."""
    rng, tries, wrong = random.Random(0), amount(2_000), 0
    for _ in range(tries):
        ratios = [math.log(true) + draw(rng) for _ in range(FAR_ROUNDS)]
        least = Criteria(population="all").least(ratios)
        wrong += least is not None and not 0 < least <= math.log(true)
    assert wrong <= 0.01 * tries


def test_equal_configs_tie() -> None:
    tries = amount(200, 40)
    assert counts(normal(0.01), 0.0, (12,), tries)["tie"] >= 0.9 * tries


def core_and_tail(scatter: float) -> Draw:
    """Load that comes and goes: one round in three is off by several times the scatter of the others."""
    return lambda rng: rng.gauss(0, scatter * (5 if rng.random() < 1 / 3 else 1))


@pytest.mark.parametrize(
    ("draw", "population"),
    [
        *((draw, "undisturbed") for draw in (normal(0.02), drifting(0.02), heavy_tailed(0.02))),
        *((core_and_tail(scatter), "undisturbed") for scatter in (0.006, 0.01, 0.02)),
        *(
            (draw, "all")
            for draw in (normal(0.02), drifting(0.03), core_and_tail(0.01), stuck, two_humped, bursts)
        ),
    ],
)
def test_a_true_difference_is_called_a_tie_in_at_most_what_the_confidence_allows(
    draw: Draw, population: Population
) -> None:
    """Where it is as large as a tie may hide, in one of twenty; one half larger, in one of a hundred."""
    tries = amount(400)
    for effect, share in ((2 * math.log(1.01), 0.05), (3 * math.log(1.01), 0.01)):
        allowed = share * tries + 3 * math.sqrt(share * tries)
        assert taken_longer(draw, effect, 6, 27, tries, population)["tie"] <= allowed


def test_load_that_comes_and_goes_does_not_keep_equal_configs_open() -> None:
    tries = amount(200, 40)
    assert taken_longer(core_and_tail(0.01), 0.0, 6, 27, tries, "undisturbed")["tie"] >= 0.8 * tries
    assert taken_longer(core_and_tail(0.01), 0.0, 6, 27, tries)["tie"] >= 0.8 * tries


def in_bursts(rng: random.Random, draw: Draw, effect: float, share: float) -> tuple[Kind, int]:
    """The verdict of a machine that is quiet in this share of the rounds, in stretches; and the rounds."""
    pairs: list[Pair] = []
    looks: tuple[int, ...] = ()
    quiet = True
    for final, narrow in ((8, True), (32, False)):
        while len(pairs) < final:
            quiet = rng.random() < share if rng.random() < 0.6 else quiet
            ratio = effect + (rng.gauss(0, 0.01) if quiet else draw(rng))
            pairs.append(Pair(len(pairs) + 1, ratio if quiet else None, ratio, 3, 3 if quiet else 0))
            criteria = Criteria(population=population_of([pairs]), looks=looks)
            if is_enough(pairs, criteria, narrow=narrow):
                break
        kind = judge("B", pairs, (), criteria, final=True).kind
        if kind != "unknown":
            break
        looks = (len(criteria.ratios(pairs)),)
    return kind, len(pairs)


@pytest.mark.parametrize("draw", [normal(0.25), bursts, stuck, two_humped])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_bursts_are_answered_from_the_quiet_rounds_without_a_false_claim(draw: Draw, share: float) -> None:
    rng, tries = random.Random(0), amount(200, 40)
    equal = Counter(in_bursts(rng, draw, 0.0, share)[0] for _ in range(tries))
    tenth = Counter(in_bursts(rng, draw, 0.1, share)[0] for _ in range(tries))
    assert equal["faster"] + equal["slower"] <= max(1, tries // 100)
    assert equal["tie"] >= (0.5 if share < 0.5 else 0.85) * tries
    assert tenth["faster"] >= 0.85 * tries
    assert tenth["slower"] == 0


def taken_longer(
    draw: Draw, effect: float, default: int, longest: int, repeats: int, population: Population = "all"
) -> Counter[Kind]:
    """Verdicts, by default on a busy machine; those that the default rounds leave open take more of them."""
    rng, kinds = random.Random(0), Counter[Kind]()
    for _ in range(repeats):
        pairs: list[Pair] = []
        criteria = Criteria(population=population)
        kind = measure(pairs, rng, draw, effect, default, criteria)
        if kind == "unknown":
            criteria = replace(criteria, looks=(len(pairs),))
            kind = measure(pairs, rng, draw, effect, longest, criteria, narrow=False)
        kinds[kind] += 1
    return kinds


@pytest.mark.parametrize(("default", "longest"), [(5, 18), (6, 22), (8, 27)])
@pytest.mark.parametrize("draw", [normal(0.02), normal(0.25), bursts, stuck])
def test_taking_longer_calls_equal_configs_different_in_at_most_one_in_a_hundred(
    draw: Draw, default: int, longest: int
) -> None:
    """With three standard errors of room; `total_error` of these looks is simulated more exactly."""
    tries = amount(400)
    verdicts = taken_longer(draw, 0.0, default, longest, tries)
    assert verdicts["faster"] + verdicts["slower"] <= 0.01 * tries + 3 * math.sqrt(0.01 * tries)


@pytest.mark.parametrize(
    ("draw", "effect", "least"),
    [(stuck, 0.1, 0.8), (bursts, 0.1, 0.9), (stuck, math.log(2), 0.98), (normal(0.25), math.log(2), 0.98)],
)
def test_taking_longer_decides_what_the_default_budget_leaves_open(
    draw: Draw, effect: float, least: float
) -> None:
    tries = amount(200, 40)
    default, longer = (taken_longer(draw, effect, 6, longest, tries) for longest in (6, 22))
    assert longer["faster"] >= least * tries
    assert default["faster"] < longer["faster"]
    assert longer["slower"] == 0
