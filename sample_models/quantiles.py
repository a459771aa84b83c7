"""Tables that turn sixteen random bits into one weight, the same weight on every machine.

A library's normal generator may change between releases, and calls log and exp, whose last bits differ
between C libraries. Here a distribution is the table of its 65,536 mid-quantiles, made only with +, -, * and
sqrt on IEEE doubles, which are exact everywhere.
"""

from __future__ import annotations

from functools import cache
from math import pi, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEVEL_COUNT = 1 << 16


@cache
def uniform() -> NDArray[np.float64]:
    """Return mid-quantiles of the uniform distribution over -1 to 1."""
    import numpy as np

    return _frozen((np.arange(LEVEL_COUNT, dtype=np.float64) * 2 + (1 - LEVEL_COUNT)) / LEVEL_COUNT)


@cache
def normal() -> NDArray[np.float64]:
    """Return mid-quantiles of the standard normal distribution.

    The quantile function z(p) and its slope w(p) solve z' = w, w' = z w², from z(½) = 0 and w(½) = √(2π).
    Classical Runge-Kutta steps walk from the middle outwards; the lower half mirrors the upper one.
    """
    import numpy as np

    upper = []
    z, w = _step(0.0, sqrt(2 * pi), 0.5 / LEVEL_COUNT)
    for _ in range(LEVEL_COUNT // 2):
        upper.append(z)
        z, w = _step(z, w, 1.0 / LEVEL_COUNT)
    half = np.array(upper, dtype=np.float64)
    return _frozen(np.concatenate([-half[::-1], half]))


def _step(z: float, w: float, h: float) -> tuple[float, float]:
    """Take one Runge-Kutta step of length `h` in p."""
    z1, w1 = w, z * w * w
    z2, w2 = w + h / 2 * w1, (z + h / 2 * z1) * (w + h / 2 * w1) * (w + h / 2 * w1)
    z3, w3 = w + h / 2 * w2, (z + h / 2 * z2) * (w + h / 2 * w2) * (w + h / 2 * w2)
    z4, w4 = w + h * w3, (z + h * z3) * (w + h * w3) * (w + h * w3)
    return z + h / 6 * (z1 + 2 * z2 + 2 * z3 + z4), w + h / 6 * (w1 + 2 * w2 + 2 * w3 + w4)


def _frozen(table: NDArray[np.float64]) -> NDArray[np.float64]:
    table.flags.writeable = False
    return table
