"""The figures of one config that must be known before its measurement ends."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.bundle.run import Run
from workbench.core.errors import ConfigError
from workbench.core.measure.percentiles import percentiles, samples_needed
from workbench.core.text import quoted

LEAST_ROUNDS = 5  # fewer sessions agree by chance: an interval that ends measuring needs them
LONGEST_SAMPLING_S = 2.0  # per round: a new session says more than a longer one
MOST_PERCENTILES = 20


@dataclass(frozen=True, slots=True)
class PrecisionGoal:
    """Percentiles, and the largest half width of their intervals as a share of the value."""

    percentiles: tuple[float, ...]
    precision: float
    patience: float = 1.0  # times the default budget

    def is_reached(self, run: Run) -> bool:
        """Return whether every percentile is known this precisely."""
        if len(run.processes) < LEAST_ROUNDS:
            return False
        return all(
            estimate.precision is not None and estimate.precision <= self.precision
            for estimate in percentiles(run, self.percentiles)
        )

    def sampling_s(self, run: Run, least_s: float) -> float:
        """Return the time to sample per round, so that few rounds bring enough samples."""
        run_s = run.latency.median_s
        if run_s is None:
            return least_s
        wanted_s = run_s * max(map(samples_needed, self.percentiles)) / LEAST_ROUNDS
        return min(max(wanted_s, least_s), LONGEST_SAMPLING_S)


def check_percentiles(percentiles: object) -> tuple[float, ...]:
    """Return percentiles as numbers; refuse what is none."""
    values = tuple(percentiles) if isinstance(percentiles, tuple | list) else (percentiles,)
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 100
        if not number:
            raise ConfigError(
                f"percentiles={quoted(value)} is no percentile",
                "give numbers between 0 and 100: percentiles=(50, 99)",
            )
    if not 0 < len(values) <= MOST_PERCENTILES:
        raise ConfigError(
            f"{len(values)} percentiles were asked for", f"give 1 to {MOST_PERCENTILES}: percentiles=(50, 99)"
        )
    return tuple(sorted({float(value) for value in values}))
