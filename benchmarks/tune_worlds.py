"""Searches in simulated worlds with recorded effects: what `benchmarks.tune --worlds` prints."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from statistics import fmean

from benchmarks.usual_searches import RUNS, sampled, search
from tests.features.tune.worlds import LARGE_TRUTHS, TRUTHS, Outcome, Truth, World, select, study
from workbench.core.config import Config
from workbench.features.tune.optuna_trials import Sampler
from workbench.features.tune.selection import Selection
from workbench.features.tune.space import Space

LARGE_TRIES = 16  # studies of each way in a large world
DRIFT = 0.05  # log scatter between moments: what measurements one after the other do not share
RUN_SCATTER = 0.15  # log scatter of a single run within its process


def simulate(tries: int) -> None:
    """Print our studies beside two usual ways to search, in the same worlds."""
    for name, (space, truth) in TRUTHS.items():
        best = min(truth(config) for config in (*space.configs(), *space.starts))
        for scatter in (0.01, 0.04):
            ours = [study(space, truth, scatter=scatter, budget_s=120.0, seed=seed) for seed in range(tries)]
            print(f"{name}, {scatter:.0%}: wb.tune {rates(ours)}")
            for title, runs in RUNS.items():
                chosen = [
                    search(title, space, noisy(truth, scatter, runs, random.Random(seed)), seed)
                    for seed in range(max(10, tries // 5))
                ]
                outcomes = [Outcome(c, truth(c) / best - 1, 1 / truth(c), 0.0, 0.0) for c in chosen]
                print(f"{name}, {scatter:.0%}: {title} {rates(outcomes)}")


def both(space: Space, world: World) -> str:
    """Choose by selection, with what Optuna suggests after it."""
    return Selection(space, Config(), world, Sampler(space, Config(), world.seed)).run()


def simulate_large() -> None:
    """Print what our selection and Optuna find in large spaces, each alone and one after the other.

    Optuna takes seconds to suggest what a study measures, so this takes half an hour and more.
    """
    ways = {"the selection alone": select, "Optuna alone": sampled, "the selection, then Optuna": both}
    for name, (space, truth) in LARGE_TRUTHS.items():
        for budget_s in (120.0, 300.0):
            for scatter in (0.01, 0.04):
                for title, choose in ways.items():
                    outcomes = [
                        study(space, truth, scatter=scatter, budget_s=budget_s, seed=seed, choose=choose)
                        for seed in range(LARGE_TRIES)
                    ]
                    print(f"{name}, {scatter:.0%}, {budget_s:.0f} s: {title} {rates(outcomes)}", flush=True)


def rates(outcomes: list[Outcome]) -> str:
    """Return the rates of some searches in words."""
    good = sum(outcome.regret <= 0.02 for outcome in outcomes) / len(outcomes)
    false = sum(outcome.gain < 1.0 for outcome in outcomes) / len(outcomes)
    mean = math.exp(fmean(math.log(outcome.gain) for outcome in outcomes))
    return f"regret at most 2 % in {good:.0%}, {false:.0%} false promotions, gain {mean:.2f}×"


def noisy(truth: Truth, scatter: float, runs: int, rng: random.Random) -> Callable[[Config], float]:
    """Return one measurement of a config by itself: the mean of some runs of one process at some moment."""

    def measured(config: Config) -> float:
        moment, process = rng.gauss(0, DRIFT), rng.gauss(0, scatter / math.sqrt(2))
        run = rng.gauss(0, RUN_SCATTER / math.sqrt(runs))
        return -math.log(truth(config)) + moment + process + run

    return measured
