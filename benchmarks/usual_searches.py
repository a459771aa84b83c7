"""Two usual ways to search a space, beside which `benchmarks.tune` sets our studies.

Optuna's TPE with one measurement of 50 runs a config, and the best of random configs by the mean of 20 runs,
as Olive measures. Each config is measured by itself, at a moment of its own and in one process.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from workbench.core.config import Config
from workbench.features.tune.entries import BASELINE, Standings
from workbench.features.tune.optuna_trials import Sampler
from workbench.features.tune.space import Space

TPE = "TPE, 50 runs"
RUNS = {TPE: 50, "best mean of 20 runs": 20}  # by title
TRIALS = 40
REFUSED = -20.0  # the log speed of a config that may not be used
Measured = Callable[[Config], float]  # the log speed of a config


def search(title: str, space: Space, measured: Measured, seed: int, trials: int = TRIALS) -> Config:
    """Return the config that a usual way finds."""
    way = tpe if title == TPE else at_random
    return way(space, measured, seed, trials)


def tpe(space: Space, measured: Measured, seed: int, trials: int = TRIALS) -> Config:
    """Return what plain TPE finds: the config with the best single measurement."""
    sampler, configs = Sampler(space, Config(), seed), {"A": Config()}
    gains = {"A": {1: measured(Config())}}
    while len(configs) < trials and (suggested := sampler(configs, [gains], 4)):
        for config in suggested:
            label = f"L{len(configs)}"
            configs[label], gains[label] = config, {1: measured(config)}
    return configs[max(gains, key=lambda label: gains[label][1])]


def sampled(space: Space, bench: Any, finalists: int = 4, share: float = 0.7) -> str:
    """Return what Optuna alone finds in our rounds: it suggests for a share of the time to select.

    Its best configs then race for the rest of that time, as the finalists of a study do.
    """
    sampler = Sampler(space, Config())
    while bench.affords(4, share):
        labels = [
            label
            for config in sampler(bench.configs, [bench.gains()], 4)
            if (label := bench.admit(config, "sampled")) is not None
        ]
        if not labels:
            break
        bench.measure(labels)
    while True:
        standings = Standings(bench.gains())
        ranked = sorted(bench.gains(), key=standings.gain, reverse=True)
        leading = [label for label in ranked if label != BASELINE][:finalists]
        if not leading or not bench.affords(len(leading)):
            return ranked[0]
        bench.measure(leading)


def at_random(space: Space, measured: Measured, seed: int, trials: int = TRIALS) -> Config:
    """Return the config with the best mean among some that were drawn."""
    every = [config for config in space.configs() if config != Config()]
    drawn = [Config(), *random.Random(seed).sample(every, min(trials, len(every)))]
    return max(drawn, key=measured)


def replay(
    title: str,
    space: Space,
    means_s: Mapping[str, Sequence[float]],
    key: Callable[[Config], str],
    usable: Iterable[str],
    seed: int,
) -> Config:
    """Return what a usual way chooses if each config is measured as one of its recorded processes was.

    `means_s` are the mean times of the recorded processes by `key`; what is not `usable` is refused.
    """
    rng = random.Random(seed)
    speeds = {name: -math.log(rng.choice(means_s[name])) for name in usable if means_s.get(name)}

    def measured(config: Config) -> float:
        return speeds.get(key(config), REFUSED)

    return search(title, space, measured, seed)
