"""A comparison request: the configs, the inputs, and the time budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.bundle.comparison import ComparisonRecord, InputsRecord, ModelRecord
from workbench.core.bundle.limits import INTEGER
from workbench.core.bundle.run import labels_of
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.measure.agreement import TOLERANCE
from workbench.core.measure.goal import PrecisionGoal
from workbench.core.measure.limits import Limits
from workbench.core.measure.pairs import Clock
from workbench.core.models.inputs import Inputs
from workbench.core.models.model import Model
from workbench.core.worker.values import Feed

SMALL_RUN_S = 0.001
SMALL_BUDGET_S = 9.5  # of a model of up to 1 ms
DEFAULT_BUDGET_S = 12.0
DEFAULT_ROUNDS = 6  # rounds in the budget of a large model
DEFAULT_MOST_S = 120.0  # maximum of that budget
DEFAULT_LEAST_ROUNDS = 3  # guaranteed beyond that maximum: an interval needs them
LONGER_S = 60.0  # an answer that is open after the default budget may take this long: in all, or more
LONGER_IN_ALL_RUN_S = 0.010  # for models whose runs take no longer it is the time in all
SAMPLING_S = 0.5  # per round and config: with less a round rests on a moment, with more there are few rounds
# Before anything of a model was measured, its weights are read from the disk once, from memory in each run.
_LOADED_BYTES_PER_S, _READ_BYTES_PER_S = 0.5e9, 5e9
_PROCESS_S, _SAMPLED_RUNS = 0.5, 8  # of a config in a round: to start it; the least runs of a slow model
MOST_EFFECT = 1.0  # twice as fast; a larger smallest effect would call almost everything a tie
STEP_PREPARE, STEP_CHECK, STEP_MEASURE = "preparing", "loading, checking outputs", "measuring"


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """One comparison, or the measurement of one config, as the user requested it."""

    model: Path
    model_name: str
    model_bytes: int
    model_record: Callable[[], ModelRecord]  # called at the end: it may wait for the hash of a large file
    configs: tuple[Config, ...]
    feeds: Sequence[Feed]
    inputs: InputsRecord
    budget_s: float | None = None
    until_decided: bool = False  # the default budget grows while the answer is open
    smallest_effect: float = 0.01
    pacing_s: float | None = None
    tolerance: float = TOLERANCE
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    source: Model | None = None  # the opened model, if a config needs preparation
    least_sqnr_db: float | None = None  # the user's own; None: the default of the precisions
    calibration: Any = None  # the `calibration` argument of wb.prepare
    clock: Clock = "wall"
    allow_fallback: bool = False  # measure a config whose providers took no node
    goal: PrecisionGoal | None = None  # what must be known of a single config; None: a comparison
    earlier: ComparisonRecord | None = None  # measuring continues from these rounds
    slow_downs: tuple[float, ...] = ()  # set by benchmarks.honesty
    began: float = field(default_factory=time.perf_counter)

    @classmethod
    def of(cls, model: Model, configs: Sequence[Config], inputs: Inputs, /, **options: Any) -> CompareRequest:
        """Return a request about configs of an opened model; `options` are further fields."""
        return cls(
            **{
                "model": model.path,
                "source": model.with_inputs(inputs),
                "model_name": model.name,
                "model_bytes": model.file_bytes,
                "model_record": model.record,
                "configs": tuple(configs),
                "feeds": inputs.feeds,
                "inputs": inputs.record(),
                **options,
            }
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the label of each config."""
        return labels_of(len(self.configs))

    @property
    def steps(self) -> tuple[str, ...]:
        """Return the steps of this measurement: the outputs are checked once, in the first round."""
        prepares = any(config.changes_model for config in self.configs)
        checks = self.earlier is None and len(self.configs) > 1
        return (*([STEP_PREPARE] if prepares else []), *([STEP_CHECK] if checks else []), STEP_MEASURE)

    def step_in_words(self, step: str) -> str:
        """Return which of the steps this is: "step 2 of 3, measuring"; empty where there is no other."""
        if step not in self.steps or len(self.steps) == 1:
            return ""
        return f"step {self.steps.index(step) + 1} of {len(self.steps)}, {step}"


def check(request: CompareRequest) -> None:
    """Refuse an invalid request before a worker starts."""
    if not request.configs or (len(request.configs) < 2 and request.goal is None):
        raise ConfigError(
            "one config is no comparison",
            "give at least two: wb.compare(model, a, b); or measure one alone: wb.measure(model, a)",
        )
    if not request.feeds:
        raise ConfigError(
            "there are no inputs", "give at least one feed, or leave inputs out to have them made"
        )
    if request.budget_s is not None:
        check_number("budget_s", request.budget_s, "give seconds above 0, like 10.0, or None", most=INTEGER)
    if request.pacing_s is not None:
        check_number("pacing_s", request.pacing_s, "give seconds above 0, like 0.01, or None", most=INTEGER)
    allowed = f"give a number above 0 and up to {MOST_EFFECT:g}: 0.01 is 1 %"
    check_number("smallest_effect", request.smallest_effect, allowed, most=MOST_EFFECT)
    check_number("tolerance", request.tolerance, "give a number from 0 up, like 0.001", least=0, most=INTEGER)
    if (least_db := request.least_sqnr_db) is not None:
        allowed = "give decibels from 0 up, like 20.0, or None"
        check_number("least_sqnr_db", least_db, allowed, least=0, most=INTEGER)
    check_seed(request.seed)


def check_seed(seed: object) -> None:
    """Refuse a seed that no generator accepts or no record can store."""
    allowed = "give a whole number from 0 to 2**63 - 1"
    check_number("seed", seed, allowed, least=0, most=INTEGER, whole=True)


def default_budget_s(run_s: float | None, round_s: float) -> float:
    """Return the default budget from the times of one run and of one round."""
    least_s = DEFAULT_LEAST_ROUNDS * round_s  # even a small model may load slowly
    if run_s is not None and run_s <= SMALL_RUN_S:
        return max(SMALL_BUDGET_S, least_s)
    return max(DEFAULT_BUDGET_S, least_s, min(DEFAULT_ROUNDS * round_s, DEFAULT_MOST_S))


def expected_budget_s(size_bytes: int, configs: int, load_s: float | None, run_s: float | None) -> float:
    """Return the default budget from what was measured of the model, else from its size."""
    load_s = size_bytes / _LOADED_BYTES_PER_S if load_s is None else load_s
    run_s = size_bytes / _READ_BYTES_PER_S if run_s is None else run_s
    sampled_s = max(SAMPLING_S, _SAMPLED_RUNS * run_s)
    return default_budget_s(run_s, configs * (_PROCESS_S + load_s + sampled_s))


def longest_s(default_s: float, run_s: float | None) -> float:
    """Return the seconds after which measuring ends although an answer is open."""
    in_all = run_s is not None and run_s <= LONGER_IN_ALL_RUN_S
    return max(default_s, LONGER_S) if in_all else default_s + LONGER_S
