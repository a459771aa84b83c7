"""A world with a known truth: how fast each config is, how much a round scatters; no process, no clock."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

from workbench.core.config import Config, DynamicInt8, StaticInt8
from workbench.core.measure.pairs import Pair
from workbench.core.measure.verdict import Criteria, is_enough, judge
from workbench.features.tune.entries import BASELINE, Gains
from workbench.features.tune.record import Stage
from workbench.features.tune.selection import Selection
from workbench.features.tune.space import Space

Truth = Callable[[Config], float]  # the share of the default's time that a run takes

SECONDS = 0.9  # of a round, per process
MOST_ROUNDS = 40


@dataclass
class World:
    """A bench whose rounds are drawn: the log gain of a config scatters around its truth."""

    truth: Truth
    scatter: float
    budget_s: float
    seed: int = 0
    failing: frozenset[Config] = frozenset()
    configs: dict[str, Config] = field(default_factory=dict)
    spent_s: float = 0.0
    rounds: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.drawn: dict[str, dict[int, float]] = {BASELINE: {}}
        self.configs[BASELINE] = Config()

    def admit(self, config: Config, stage: Stage) -> str | None:
        del stage
        label = f"L{len(self.configs)}"
        self.configs[label] = config
        if config in self.failing:
            return None
        self.drawn[label] = {}
        return label

    def measure(self, labels: Sequence[str]) -> None:
        self.rounds += 1
        self.spent_s += SECONDS * (len(labels) + 1)
        moment = self.rng.gauss(0, self.scatter / 2**0.5)  # of the default: all of a round share it
        for label in labels:
            self.drawn[label][self.rounds] = self.draw(self.configs[label], moment)

    def draw(self, config: Config, moment: float) -> float:
        from math import log

        return -log(self.truth(config)) + moment + self.rng.gauss(0, self.scatter / 2**0.5)

    objectives = 1

    def may_lead(self, label: str) -> bool:
        del label
        return True

    def gains(self, at: int = 0) -> Gains:
        assert at == 0
        return self.drawn

    def affords(self, count: int, share: float = 1.0) -> bool:
        return self.spent_s + SECONDS * (count + 1) <= share * 0.7 * self.budget_s


@dataclass(frozen=True)
class Outcome:
    """What a simulated study chose. Times are shares of the default's."""

    best: Config
    regret: float
    gain: float
    spent_s: float
    exhaustive_s: float


Choose = Callable[[Space, World], str]  # returns the label of the winner


def select(space: Space, world: World) -> str:
    """Choose as a study does."""
    return Selection(space, Config(), world).run()


def study(
    space: Space, truth: Truth, *, scatter: float, budget_s: float, seed: int, choose: Choose = select
) -> Outcome:
    """Choose and confirm as a study does, and compare the choice with the truth."""
    world = World(truth, scatter, budget_s, seed)
    winner = choose(space, world)
    config = world.configs[winner]
    if winner != BASELINE and not _is_confirmed(world, config):
        config = Config()
    best, count = _best(space, truth)
    return Outcome(
        config,
        truth(config) / best - 1,
        1 / truth(config),
        world.spent_s,
        3 * 8 * SECONDS * count,
    )


@cache
def _best(space: Space, truth: Truth) -> tuple[float, int]:
    """Return the share of the fastest config of a space, and how many configs it has."""
    every = [Config(), *space.configs(), *space.starts]
    return min(map(truth, every)), len(every)


def _is_confirmed(world: World, config: Config) -> bool:
    pairs: list[Pair] = []
    while world.spent_s + 2 * SECONDS <= world.budget_s and len(pairs) < MOST_ROUNDS:
        world.spent_s += 2 * SECONDS
        gain = world.draw(config, world.rng.gauss(0, world.scatter / 2**0.5))
        pairs.append(Pair(len(pairs) + 1, gain, gain, 3, 3))
        if is_enough(pairs, Criteria()):
            break
    return judge("B", pairs, (), Criteria(), final=True).kind == "faster"


def encoder(config: Config) -> float:
    """Recorded of an encoder: int8 1.89, without SkipLayerNormFusion 1.16, both 2.43; savings add up."""
    off = "SkipLayerNormFusion" in config.disabled_passes
    share = 0.529 if isinstance(config.precision, DynamicInt8) else 1.0
    share *= {None: 1.0, "basic": 0.94, "disabled": 0.926}.get(config.level, 1.0)
    if off and config.level is None:
        share -= 0.1175 if config.precision else 0.138
    share *= 1.04 if "GeluFusionL2" in config.disabled_passes else 1.0
    return share * {None: 1.0, 1: 1.7}.get(config.intra_op_threads, 1.0)


def convolutional(config: Config) -> float:
    """Recorded of a small convolutional net: static int8 2.24, less at lower levels, which cost as much."""
    share = {None: 1.0, "basic": 1.85, "disabled": 1.82}.get(config.level, 1.0)
    if isinstance(config.precision, StaticInt8):
        share *= 0.446
    if isinstance(config.precision, DynamicInt8):
        share *= 9.0
    return share * {None: 1.0, 1: 1.6}.get(config.intra_op_threads, 1.0)


def nothing_helps(config: Config) -> float:
    """Recorded of a small language model: the default is best."""
    share = 1.0
    if config.precision is not None:
        share = 1.6
    share *= {None: 1.0, "basic": 1.10, "disabled": 1.18}.get(config.level, 1.0)
    share *= 1.01 if config.disabled_passes else 1.0
    return share * {None: 1.0, 1: 1.4}.get(config.intra_op_threads, 1.0)


def interacting(config: Config) -> float:
    """Recorded of an encoder with free sizes: fixing them costs, unless that lets off a slow fusion."""
    fixed, off = bool(config.free_dimensions), "SkipLayerNormFusion" in config.disabled_passes
    share = {(False, False): 1.0, (True, False): 1.096, (False, True): 1.005, (True, True): 0.974}[fixed, off]
    if isinstance(config.precision, DynamicInt8):
        share = {(False, False): 0.503, (True, False): 0.585, (False, True): 0.503, (True, True): 0.457}[
            fixed, off
        ]
    return share * {None: 1.0, "basic": 1.05, "disabled": 1.08}.get(config.level, 1.0)


SPACE = Space.of(
    precision=(DynamicInt8(), StaticInt8()),
    intra_op_threads=(1,),
    level=("basic", "disabled"),
    disabled_passes=("SkipLayerNormFusion", "GeluFusionL2", "BiasGeluFusion"),
)
SIZES = (("s", 128),)
FREE_SPACE = Space(
    (*SPACE.axes, *Space.of(free_dimensions=(SIZES[0],)).axes),
    (Config(free_dimensions=SIZES, disabled_passes=("SkipLayerNormFusion",)),),
)
TRUTHS: dict[str, tuple[Space, Truth]] = {
    "encoder": (SPACE, encoder),
    "convolutional": (SPACE, convolutional),
    "nothing helps": (SPACE, nothing_helps),
    "interacting": (FREE_SPACE, interacting),
}


_OFF = ("SkipLayerNormFusion", "GeluFusionL2", "BiasGeluFusion", "LayerNormFusionL2", "MatMulAddFusion")
LARGE_SPACE = Space(
    Space.of(
        precision=(DynamicInt8(), StaticInt8()),
        intra_op_threads=(1, 2, 4),
        level=("basic", "disabled"),
        disabled_passes=(*_OFF, "AttentionFusion"),
        free_dimensions=(SIZES[0],),
        spinning=(False,),
    ).axes,
    FREE_SPACE.starts,
)
"""9,216 combinations of 16 changes, about as many as the default space of a transformer has on many cores."""
_THREADS = {None: 1.0, 1: 1.7, 2: 1.25, 4: 1.03}


def many_small(config: Config) -> float:
    """Savings of 1 to 4 % that multiply, beside int8 and a slow fusion."""
    share = encoder(config.replace(intra_op_threads=None)) * _THREADS[config.intra_op_threads]
    worth = dict(zip(_OFF[1:], (1.0, 0.96, 0.97, 0.985), strict=True)) | {"AttentionFusion": 1.05}
    for name in config.disabled_passes:
        share *= worth.get(name, 1.0)
    return share * (0.97 if config.spinning is False else 1.0) * (0.98 if config.free_dimensions else 1.0)


def of_int8_alone(config: Config) -> float:
    """As "interacting", and passes whose absence costs 2 % in float32 and saves 5 % of an int8 run."""
    share = interacting(config.replace(intra_op_threads=None)) * _THREADS[config.intra_op_threads]
    gone = {*config.disabled_passes} & {*_OFF[3:]}
    share *= (0.95 if isinstance(config.precision, DynamicInt8) else 1.02) ** len(gone)
    return share * (1.02 if config.spinning is False else 1.0)


def hidden_pair(config: Config) -> float:
    """Two passes whose absence costs 3 % each alone and saves 15 % together; no start says so."""
    gone = {*config.disabled_passes} & {"LayerNormFusionL2", "MatMulAddFusion"}
    share = {0: 1.0, 1: 1.03, 2: 0.85}[len(gone)] * _THREADS[config.intra_op_threads]
    share *= {None: 1.0, "basic": 1.05, "disabled": 1.08}.get(config.level, 1.0)
    share *= 0.53 if isinstance(config.precision, DynamicInt8) else 1.2 if config.precision else 1.0
    return share * (1.01 if config.spinning is False else 1.0) * (1.02 if config.free_dimensions else 1.0)


def nothing_helps_at_all(config: Config) -> float:
    """As "nothing helps", with more that may be tried in vain."""
    share = nothing_helps(config.replace(intra_op_threads=None)) * _THREADS[config.intra_op_threads]
    return share * 1.005 ** (len(config.disabled_passes) + bool(config.free_dimensions))


LARGE_TRUTHS: dict[str, tuple[Space, Truth]] = {
    "large, many small savings": (LARGE_SPACE, many_small),
    "large, savings of int8 alone": (LARGE_SPACE, of_int8_alone),
    "large, a pair that loses alone": (LARGE_SPACE, hidden_pair),
    "large, nothing helps": (LARGE_SPACE, nothing_helps_at_all),
}
