"""The points of a sweep: axes, configs, sizes, and each config at each point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from workbench.judge.percentiles import Estimate, percentiles, throughput
from workbench.models.sizes import is_batch
from workbench.records.comparison import ComparisonRecord, Verdict
from workbench.records.run import Run
from workbench.text import shorten


@dataclass(frozen=True, slots=True)
class SweepAxis:
    """One size or one knob that is swept, and its values in words."""

    name: str
    kind: Literal["size", "knob"]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepSeries:
    """One config at one value of each knob: a run of every point."""

    config: str  # the config that was given, in words
    knobs: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Return the config and its knobs in words."""
        return ", ".join([self.config, *(f"{shorten(name)} {value}" for name, value in self.knobs)])


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """The sizes of one point, and what was measured there; None: nothing, for the reason in `problem`."""

    sizes: tuple[tuple[str, int], ...]
    measured: ComparisonRecord | None
    problem: str | None

    @property
    def items(self) -> int:
        """Return the items of one run: the batch."""
        return math.prod(size for name, size in self.sizes if is_batch(name))

    @property
    def name(self) -> str:
        """Return the sizes in words."""
        return size_text(self.sizes)


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One config at one point. None: not measured, with the reason in `problem`."""

    point: SweepPoint
    label: str
    series: SweepSeries
    run: Run | None
    verdict: Verdict | None  # None: the baseline, or the only config
    wins: bool
    problem: str | None

    @property
    def places(self) -> dict[str, str]:
        """Return the value on each axis, in words."""
        return {**{name: str(size) for name, size in self.point.sizes}, **dict(self.series.knobs)}

    def latency(self) -> Estimate:
        """Return the median latency."""
        return self._estimate(50.0)

    def p99(self) -> Estimate:
        """Return the 99th percentile of the latency."""
        return self._estimate(99.0)

    def rate(self) -> Estimate:
        """Return the items a second of consecutive runs."""
        if self.run is None:
            return Estimate("throughput", None, None, None, self.problem or "")
        estimate, items = throughput(self.run), self.point.items
        value, low, high = (
            None if number is None else number * items
            for number in (estimate.value, estimate.low, estimate.high)
        )
        return Estimate("throughput", value, low, high, estimate.note)

    def _estimate(self, percent: float) -> Estimate:
        if self.run is None:
            return Estimate(f"p{percent:g}", None, None, None, self.problem or "")
        (estimate,) = percentiles(self.run, (percent,))
        return estimate


def size_text(sizes: tuple[tuple[str, int], ...]) -> str:
    """Return sizes in words."""
    return ", ".join(f"{shorten(name)} {size}" for name, size in sizes) or "the default sizes"
