"""The error of an output by channel: a small channel beside large ones is judged on its own scale.

A detector's output can hold boxes (0 to 640) and scores (0 to 1). One integer scale for both is 2.5: every
score becomes 0, and the error is a thousandth of the output.

    channel   0    1    2    3  |  4    5    6      largest magnitude of each channel
            640  640  320  310  | 0.9 0.02 0.3      two groups: neighbours that differ 16-fold part them,
            ---- group 1 ------   -- group 2 --     and channels of probabilities stay together
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from workbench.core.text import share_of

Array: TypeAlias = np.ndarray[Any, Any]

UNLIKE = 16.0  # ratio of two neighbours' magnitudes: 4 of 8 bits of a common scale
LEAST_ELEMENTS = 16  # of a channel, over all runs: of fewer, being equal or small can be chance
MOST_CHANNELS = 4096  # of an axis that is looked at
_LEAST_SHARE = 1e-4  # of the output's largest magnitude; rounding of float32 sums reaches smaller channels
LEAST_VARIATION = 0.05  # of the own magnitude; below it, values count as constant
LEAST_PROBABILITY = 0.01  # a smaller one may become 0
EQUAL = 1e-6  # of the magnitude: rounding


@dataclass(frozen=True, slots=True)
class SliceError:
    """The worst part of an output: channels of an axis, or the whole output (axis None)."""

    axis: int | None
    first: int
    last: int
    constant: float | None  # the value that all elements have taken; None: they still vary
    low: float  # of the baseline's values
    high: float
    noise_share: float  # energy of the error over that of the baseline's values
    relative: float  # largest error over the largest magnitude

    @property
    def where(self) -> str:
        """Return the place in words."""
        if self.axis is None:
            return "the output"
        if self.first == self.last:
            return f"channel {self.first} of axis {self.axis}"
        return f"channels {self.first} to {self.last} of axis {self.axis}"

    @property
    def error(self) -> float:
        """Return the error as a share of the part; of one that has become constant, nothing is left."""
        return 1.0 if self.constant is not None else math.sqrt(self.noise_share)

    def __str__(self) -> str:
        many = self.axis is not None and self.first != self.last
        values = f"{self.low:.3g} to {self.high:.3g} in the baseline"
        if self.constant is not None:
            return f"{self.where} {'are' if many else 'is'} all {self.constant:.3g} ({values})"
        return f"error {share_of(self.error, self.where)} ({values})"


class SliceTally:
    """The figures of all channels of an output. `add` every run, then `ruined` and `groups`."""

    def __init__(self) -> None:
        self._axes: dict[int | None, _Axis] | None = None

    def add(self, expected: Array, actual: Array) -> None:
        """Add one run of both; values that are not finite count as 0."""
        if expected.dtype.kind == "c" or not expected.size:
            return
        finite = np.isfinite(expected) & np.isfinite(actual)
        if not finite.all():
            expected, actual = np.where(finite, expected, 0.0), np.where(finite, actual, 0.0)
        shape = expected.shape
        if self._axes is None:
            self._axes = {None: _Axis(1), **{axis: _Axis(shape[axis]) for axis in _channel_axes(shape)}}
        for axis in [*self._axes]:
            if axis is not None and (axis >= len(shape) or shape[axis] != self._axes[axis].count):
                del self._axes[axis]  # an axis of another size in each run holds no channels
            else:
                self._axes[axis].add(*(_rows(array, axis) for array in (expected, actual)))

    def ruined(self) -> SliceError | None:
        """Return the largest part that was not constant and has become so."""
        parts = [part for axis, figures in (self._axes or {}).items() for part in figures.ruined(axis)]
        return max(parts, key=lambda part: (part.axis is None, part.last - part.first), default=None)

    def groups(self) -> list[SliceError]:
        """Return the error of each group of neighbouring channels of like magnitude, if there are several."""
        return [part for axis, figures in (self._axes or {}).items() for part in figures.groups(axis)]

    def worst(self) -> SliceError | None:
        """Return what is ruined, else the group with the largest error."""
        return self.ruined() or max(self.groups(), key=lambda part: part.noise_share, default=None)


class _Axis:
    """The figures of the channels of one axis."""

    def __init__(self, count: int) -> None:
        self.count, self._elements = count, 0
        self._low, self._high = np.full(count, math.inf), np.full(count, -math.inf)
        self._new_low, self._new_high = self._low.copy(), self._high.copy()
        self._signal, self._noise, self._error = np.zeros(count), np.zeros(count), np.zeros(count)

    def add(self, expected: Array, actual: Array) -> None:
        """Add one run: a row for each channel."""
        with np.errstate(over="ignore", invalid="ignore"):
            gap = np.abs(actual - expected)
            self._signal += np.square(expected).sum(axis=1)
            self._noise += np.square(gap).sum(axis=1)
        self._low, self._high = (
            np.minimum(self._low, expected.min(axis=1)),
            np.maximum(self._high, expected.max(axis=1)),
        )
        self._new_low = np.minimum(self._new_low, actual.min(axis=1))
        self._new_high = np.maximum(self._new_high, actual.max(axis=1))
        self._error = np.maximum(self._error, gap.max(axis=1))
        self._elements += expected.shape[1]

    @np.errstate(over="ignore")  # the difference of the largest doubles exceeds the largest double
    def ruined(self, axis: int | None) -> list[SliceError]:
        """Return the runs of neighbouring channels that varied and have become the same constant."""
        if axis is not None and self._elements < LEAST_ELEMENTS:
            return []
        sizes, new = self._sizes(), np.maximum(np.abs(self._new_low), np.abs(self._new_high))
        varied = self._high - self._low > LEAST_VARIATION * sizes
        varied &= sizes > _LEAST_SHARE * sizes.max()
        varied &= ~self._probable() | (self._high >= LEAST_PROBABILITY)
        lost = np.flatnonzero(varied & (self._new_high - self._new_low <= EQUAL * new))
        constants = self._new_high[lost]
        apart = (np.diff(lost) > 1) | (np.abs(np.diff(constants)) > EQUAL * new[lost[1:]])
        return [
            self._part(axis, int(run[0]), int(run[-1]), constant=float(self._new_high[run[0]]))
            for run in np.split(lost, np.flatnonzero(apart) + 1)
            if run.size
        ]

    @np.errstate(over="ignore")
    def groups(self, axis: int | None) -> list[SliceError]:
        """Return the groups of channels; none where all are alike."""
        if axis is None or self._elements < LEAST_ELEMENTS:
            return []
        sizes, probable = self._sizes(), self._probable()
        filled = np.flatnonzero(sizes > 0)  # a channel of zeros is like its neighbours
        if len(filled) < 2:
            return []
        before, after = filled[:-1], filled[1:]
        unlike = np.maximum(sizes[before], sizes[after]) >= UNLIKE * np.minimum(sizes[before], sizes[after])
        starts = [0, *after[unlike & ~(probable[before] & probable[after])].tolist(), self.count]
        if len(starts) == 2:
            return []
        parts = [self._part(axis, first, end - 1) for first, end in itertools.pairwise(starts)]
        least = _LEAST_SHARE * float(sizes.max())
        return [part for part in parts if max(-part.low, part.high) > least]

    def _sizes(self) -> Array:
        sizes: Array = np.maximum(np.abs(self._low), np.abs(self._high))
        return sizes

    def _probable(self) -> Array:
        """Return which channels hold values from 0 to 1."""
        return np.asarray((self._low >= 0) & (self._high <= 1))

    def _part(self, axis: int | None, first: int, last: int, constant: float | None = None) -> SliceError:
        of = slice(first, last + 1)
        signal, noise = float(self._signal[of].sum()), float(self._noise[of].sum())
        size, error = float(self._sizes()[of].max()), float(self._error[of].max())
        low, high = float(self._low[of].min()), float(self._high[of].max())
        share = noise / signal if 0 < signal < math.inf else math.inf if noise else 0.0
        relative = error / size if size else math.inf if error else 0.0
        return SliceError(axis, first, last, constant, low, high, share, relative)


def _channel_axes(shape: tuple[int, ...]) -> list[int]:
    """Return the axes that can hold channels: the second and the last, unless they are sides of a square."""
    if len(shape) < 2:
        return []
    return [
        axis
        for axis in sorted({1, len(shape) - 1})
        if 2 <= shape[axis] <= MOST_CHANNELS
        if len(shape) < 4 or shape[axis] not in (*shape[1:axis], *shape[axis + 1 :])
    ]


def _rows(array: Array, axis: int | None) -> Array:
    """Return a row for each channel of an axis."""
    return (
        array.reshape(1, -1) if axis is None else np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
    )
