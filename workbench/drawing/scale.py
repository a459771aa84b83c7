"""The unit and the kind of a latency axis, chosen for its values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

LOG_FROM = 20.0  # medians further apart than this share no linear axis
MOST_DECADES = 3
_UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))


@dataclass(frozen=True, slots=True)
class Scale:
    """Seconds times `per_s` are in `unit`."""

    unit: str
    per_s: float
    log: bool

    def of(self, seconds: float) -> float:
        """Return the number to draw; six digits are more than a screen has."""
        return float(f"{seconds * self.per_s:.6g}")

    def text(self, seconds: float, digits: int = 4) -> str:
        """Return a text with the unit."""
        return f"{self.number(seconds, digits)} {self.unit}"

    def number(self, seconds: float, digits: int = 4) -> str:
        """Return that many digits and no exponent: 21.00 beside 20.48."""
        value = seconds * self.per_s
        if not value or abs(value) >= 10 ** (digits - 1):
            return f"{value:,.0f}"
        text = f"{value:#.{digits}g}".rstrip(".")
        return f"{Decimal(text):f}" if "e" in text else text


def scale_of(medians_s: Sequence[float | None]) -> Scale:
    """Return the largest unit in which the largest median is at least 1; logarithmic for distant medians."""
    known = [seconds for seconds in medians_s if seconds is not None and seconds > 0]
    least, most = min(known, default=1e-3), max(known, default=1e-3)
    unit, per_s = next(((name, per) for name, per in _UNITS if most * per >= 1), _UNITS[-1])
    return Scale(unit, per_s, most > LOG_FROM * least)


def tick_text(tick: float) -> str:
    """Return the number at a tick, without an exponent where a float knows every digit."""
    return f"{tick:,.0f}" if 1e6 <= abs(tick) < 1e15 else f"{tick:,.6g}"


def log_ticks(least: float, most: float) -> tuple[float, ...]:
    """Return 1, 2 and 5 of each decade around the two, or only the 1 of many decades."""
    most = most if most > 0 else 1.0
    least = least if least > 0 else most / 10**MOST_DECADES
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    steps = (1, 2, 5) if last - first <= MOST_DECADES else (1,)
    return tuple(float(f"{step}e{decade}") for decade in range(first, last + 1) for step in steps)
