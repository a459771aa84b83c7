"""The points of a sweep: axes, configs, sizes, and each config at each point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from workbench.judge.measured import MeasuredConfig
from workbench.judge.percentiles import Estimate
from workbench.models.sizes import is_batch
from workbench.records.comparison import ComparisonRecord
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
class SweepRow(MeasuredConfig):
    """One config at one point."""

    point: SweepPoint
    series: SweepSeries
    wins: bool

    @property
    def places(self) -> dict[str, str]:
        """Return the value on each axis, in words."""
        return {**{name: str(size) for name, size in self.point.sizes}, **dict(self.series.knobs)}

    def rate(self) -> Estimate:
        """Return the items a second of consecutive runs."""
        return MeasuredConfig.rate(self).times(self.point.items)


def size_text(sizes: tuple[tuple[str, int], ...]) -> str:
    """Return sizes in words."""
    return ", ".join(f"{shorten(name)} {size}" for name, size in sizes) or "the default sizes"
