"""One config measured alone: latency percentiles, throughput, load, first run and memory, with intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, config_in_words, data_frame
from workbench.core.bundle.run import Run
from workbench.core.measure.goal import PrecisionGoal
from workbench.core.measure.percentiles import Figure, mean, over_processes, percentiles, throughput
from workbench.core.measure.wording import fallback_in_words, report
from workbench.core.text import in_digits, shorten

UNITS = {"throughput": ("runs/s", 1.0), "peak memory": ("MiB", 1.0 / (1 << 20))}
MILLISECONDS = ("ms", 1e3)


@dataclass(frozen=True, slots=True)
class MeasurementRecord:
    """The figures that were asked for, and what was measured: one run, no verdict."""

    percentiles: tuple[float, ...]
    precision: float  # the half width, as a share of the value, at which a percentile is known
    until_settled: bool  # whether measuring went on until each percentile was known, within its budget
    measured: ComparisonRecord

    @property
    def run(self) -> Run:
        """Return the run of the config."""
        return self.measured.runs[0]

    @property
    def goal(self) -> PrecisionGoal:
        """Return what had to be known before measuring ended by itself."""
        return PrecisionGoal(self.percentiles, self.precision)

    @property
    def unsettled(self) -> tuple[Figure, ...]:
        """Return the percentiles that are less precise than asked for, or not known."""
        return tuple(
            estimate
            for estimate in percentiles(self.run, self.percentiles)
            if estimate.precision is None or estimate.precision > self.precision
        )

    def estimates(self) -> tuple[Figure, ...]:
        """Return every figure in seconds, runs a second or bytes, with its interval."""
        estimates, failure = tuple(figures_of(self.run, self.percentiles)), self.run.failure
        if failure is None:
            return estimates
        note = f"failed at {failure.stage}: {failure.problem}"
        return tuple(row if row.value is not None else replace(row, note=note) for row in estimates)

    def to_frame(self) -> DataFrame:
        """Return one row per figure: figure, value, low, high, unit, note."""
        rows = []
        for estimate in self.estimates():
            unit, factor = unit_of(estimate)
            rows.append((estimate.name, *estimate.times(factor).ends, unit, estimate.note))
        frame = data_frame(rows, columns=["figure", "value", "low", "high", "unit", "note"])
        return frame.astype(dict.fromkeys(("value", "low", "high"), "float64"))

    @property
    def headline(self) -> str:
        """Return the figures in one sentence."""
        subject = f"{shorten(self.measured.model.name)}, {shorten(config_in_words(self.run.config), 200)}"
        if not self.run.processes:
            failure = self.run.failure
            return f"{subject}: nothing was measured{'' if failure is None else f': {failure.problem}'}"
        parts = (fallback_in_words(self.run), *map(in_words, self.estimates()))
        return f"{subject}: {'; '.join(part for part in parts if part)}"

    def __str__(self) -> str:
        lines = [self.headline]
        if self.until_settled:
            lines += [
                f"  {estimate.name} is not settled: {_shortfall(estimate)}" for estimate in self.unsettled
            ]
        doubts = report(self.measured)
        return "\n".join([*lines, doubts] if doubts else lines)


def figures_of(run: Run, wanted: tuple[float, ...]) -> Iterator[Figure]:
    """Yield mean, percentiles, throughput, first run, load and memory of a run."""
    yield mean(run)
    yield from percentiles(run, wanted)
    yield throughput(run)
    yield over_processes("first run", [process.first_run_s for process in run.processes])
    yield over_processes("load", [process.load_s for process in run.processes])
    peaks = [process.peak_rss_bytes for process in run.processes]
    yield over_processes("peak memory", [float(peak) for peak in peaks if peak is not None])


def unit_of(estimate: Figure) -> tuple[str, float]:
    """Return the unit in which people read a figure, and the factor to it."""
    return UNITS.get(estimate.name, MILLISECONDS)


def in_words(estimate: Figure) -> str:
    """Return a figure with its interval, or why it is not known."""
    unit, factor = unit_of(estimate)
    value, low, high = estimate.times(factor).ends
    if value is None:
        return f"{estimate.name} not known ({estimate.note})"
    interval = estimate.note if low is None or high is None else f"{in_digits(low)} to {in_digits(high)}"
    return f"{estimate.name} {in_digits(value)} {unit} ({interval})"


def _shortfall(estimate: Figure) -> str:
    if estimate.precision is None:
        return estimate.note
    return f"known to ±{estimate.precision * 100:.1f} % only"
