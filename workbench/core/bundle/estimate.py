"""A figure with its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from workbench.core import text


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval. None: the figure is not known, or an end is open."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, source: object) -> Self:
        """Return the ratio of a verdict, or the value of a mean, with its interval; of None, nothing."""
        value = getattr(source, "ratio", getattr(source, "value", None))
        return cls(value, getattr(source, "low", None), getattr(source, "high", None))

    @property
    def is_closed(self) -> bool:
        """Return whether the figure and both ends are known."""
        return None not in self.ends

    @property
    def ends(self) -> tuple[float | None, float | None, float | None]:
        """Return the figure and its ends."""
        return self.value, self.low, self.high

    @property
    def known(self) -> float | None:
        """Return the figure or, of a large effect whose size is open, the end that is known alone."""
        return next((end for end in self.ends if end is not None), None)

    @property
    def precision(self) -> float | None:
        """Return half the width of the interval as a share of the figure; None without an interval."""
        if self.value is None or self.low is None or self.high is None or self.value <= 0:
            return None
        return (self.high - self.low) / 2 / self.value

    def rising(self, function: Callable[[float], float | None]) -> Self:
        """Return a function of the figure that grows with it."""
        value, low, high = (None if end is None else function(end) for end in self.ends)
        return replace(self, value=value, low=low, high=high)

    def falling(self, function: Callable[[float], float | None]) -> Self:
        """Return a function of the figure that falls where the figure grows: its ends change places."""
        rising = self.rising(function)
        return replace(rising, low=rising.high, high=rising.low)

    def times(self, factor: float) -> Self:
        """Return the figure in another unit."""
        return self.rising(lambda end: end * factor)

    def cells(self, name: str, unit: str = "") -> dict[str, float | None]:
        """Return the cells of the figure in a table, by column."""
        return {f"{name}{unit}": self.value, f"{name}_low{unit}": self.low, f"{name}_high{unit}": self.high}

    @property
    def factor(self) -> str:
        """Return a known ratio in words, "1.83×", or the end that is known alone, "at least 2.7×"."""
        if self.value is None:
            return text.bounded(self.low, self.high)
        return text.factor(self.value, self.low, self.high)

    def words(self, form: str, unit: str = "") -> str:
        """Return the figure with its interval: "1.83 s (1.80 to 1.86)"."""
        ends = text.in_brackets(self.low, self.high, form)
        return "" if self.value is None else f"{self.value:{form}}{unit}{ends}"
