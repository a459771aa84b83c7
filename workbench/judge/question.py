"""What is to be compared, with what, and how long it may take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.config import Config
from workbench.errors import ConfigError
from workbench.judge.agreement import TOLERANCE
from workbench.measure.limits import Limits
from workbench.records.comparison import InputsRecord, ModelRecord
from workbench.worker.values import Feed

SMALL_RUN_S = 0.001
SMALL_BUDGET_S = 9.5  # a model of up to 1 ms settles within 10 s
DEFAULT_BUDGET_S = 15.0
DEFAULT_ROUNDS = 6  # a large model gets time for this many rounds…
DEFAULT_MOST_S = 120.0  # …but not more than this, unless
DEFAULT_LEAST_ROUNDS = 3  # …that is too little for an interval


@dataclass(frozen=True, slots=True)
class Question:
    """One comparison, as asked."""

    model: Path
    model_record: ModelRecord
    configs: tuple[Config, ...]
    feeds: Sequence[Feed]
    inputs: InputsRecord
    budget_s: float | None = None
    smallest_effect: float = 0.01
    pacing_s: float | None = None
    tolerance: float = TOLERANCE
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    slow_downs: tuple[float, ...] = ()  # planted by benchmarks.honesty
    began: float = field(default_factory=time.perf_counter)

    @property
    def labels(self) -> tuple[str, ...]:
        """A, B, … Z, A1, B1, …"""
        return tuple(f"{chr(ord('A') + index % 26)}{index // 26 or ''}" for index in range(len(self.configs)))


def check(question: Question) -> None:
    """Refuse what cannot be measured before a worker starts."""
    if len(question.configs) < 2:
        raise ConfigError("one config is no comparison", "give at least two: wb.compare(model, a, b)")
    if not question.feeds:
        raise ConfigError(
            "there are no inputs", "give at least one feed, or leave inputs out to have them made"
        )
    for name, value, zero_too in (
        ("budget_s", question.budget_s, False),
        ("smallest_effect", question.smallest_effect, False),
        ("pacing_s", question.pacing_s, False),
        ("tolerance", question.tolerance, True),
    ):
        if value is not None and not (0 < value < float("inf") or (zero_too and value == 0)):
            least = "0 or more" if zero_too else "a number above 0"
            raise ConfigError(f"{name}={value!r} is no usable value", f"give {least}")


def default_budget_s(run_s: float | None, round_s: float) -> float:
    """How long a comparison may take when the user does not say, from what one run and one round take."""
    if run_s is not None and run_s <= SMALL_RUN_S:
        return SMALL_BUDGET_S
    enough_s = min(DEFAULT_ROUNDS * round_s, DEFAULT_MOST_S)
    return max(DEFAULT_BUDGET_S, enough_s, DEFAULT_LEAST_ROUNDS * round_s)
