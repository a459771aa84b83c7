"""The error of outputs against the baseline's, gathered run by run: sums and a few numbers per item."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from workbench.core.measure.slices import SliceTally
from workbench.core.worker.values import NOT_COMPARABLE
from workbench.features.accuracy.intervals import mean
from workbench.features.accuracy.record import Mean, OutputFidelity

Array: TypeAlias = np.ndarray[Any, Any]

SCORE_NAMES = re.compile(r"logit|prob|score|softmax|class", re.IGNORECASE)
_MOST_LETTERS = 200  # of a name that is searched
MOST_CLASSES = 1_000_000
FIVE = 5
_NOT_FINITE = ("nan_count", "inf_count", "baseline_nan_count", "baseline_inf_count")


class ErrorTally:
    """One output of one candidate. `add` every run, then `row`. Memory: five numbers per item."""

    def __init__(self, label: str, output: str, *, scores: bool | None = None) -> None:
        """`scores`: whether the last axis holds one score a class; None: by `scores_reason`."""
        self._label, self._output, self._asked = label, output, scores
        self._problem: str | None = None
        self._signal = self._noise = self._worst_abs = self._largest = 0.0
        self._elements = 0
        self._reason: str | None = None
        self._errors: list[float] = []
        self._cosines: list[float] = []
        self._top1: list[float] = []
        self._top5: list[float] = []
        self._not_finite = dict.fromkeys(_NOT_FINITE, 0)
        self._items = 0
        self._parts = SliceTally()
        self._infinite = False  # a value is finite on one side only, or infinite and different

    def add(self, baseline: Any, candidate: Any, items: int = 1) -> None:
        """Add one run of both on the same feed, which held `items` items along the first axis."""
        self._items += items
        if self._problem is not None:
            return
        expected, actual = _array(baseline), _array(candidate)
        if isinstance(expected, str) or isinstance(actual, str):
            self._problem = expected if isinstance(expected, str) else str(actual)
            return
        if expected.shape != actual.shape:
            self._problem = f"shape {_shape(actual)} instead of {_shape(expected)}"
            return
        for side, array in (("", actual), ("baseline_", expected)):
            self._not_finite[f"{side}nan_count"] += int(np.isnan(array).sum())
            self._not_finite[f"{side}inf_count"] += int(np.isinf(array).sum())
        if self._reason is None:
            self._reason = scores_reason(self._output, expected, self._asked)
        self._parts.add(expected, actual)
        if items > 1 and expected.ndim and expected.shape[0] == items:
            for expected_item, actual_item in zip(expected, actual, strict=True):
                self._item(expected_item[None], actual_item[None])
        else:
            self._item(expected, actual)

    def row(self) -> OutputFidelity:
        """Return the figures of all runs."""
        known = self._problem is None and (self._elements > 0 or self._infinite)
        part = self._parts.worst() if known and self._noise > 0 else None
        rms = _ratio(math.sqrt(self._noise), math.sqrt(self._signal)) if known else None
        return OutputFidelity(
            label=self._label,
            output=self._output,
            problem=self._problem,
            item_count=self._items,
            element_count=self._elements,
            max_abs_error=self._worst_abs if known and math.isfinite(self._worst_abs) else None,
            relative_error=_ratio(self._worst_abs, self._largest) if known else None,
            rms_error=rms,
            sqnr_db=-20 * math.log10(rms) if rms else None,
            item_error=_mean(self._errors) if known else None,
            cosine=_mean(self._cosines) if known else None,
            worst_item=int(np.argmax(self._errors)) if known and any(self._errors) else None,
            scores=self._reason if known else None,
            top1=_mean(self._top1) if known else None,
            top5=_mean(self._top5) if known else None,
            worst_part=None if part is None else str(part),
            part_error=part.error if part is not None and math.isfinite(part.error) else None,
            **self._not_finite,
        )

    def _item(self, expected: Array, actual: Array) -> None:
        """Add one item. Equal values that are not finite are no error; others make it infinite."""
        if self._reason is not None:
            self._agree(expected, actual)
        both = np.isfinite(expected) & np.isfinite(actual)
        if not both.all():
            if not np.array_equal(expected[~both], actual[~both], equal_nan=True):
                self._infinite = True
                self._worst_abs = self._noise = math.inf
            expected, actual = expected[both], actual[both]
        if not expected.size:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            gap = actual - expected
            signal, noise = _energy(expected), _energy(gap)
            product = float(np.vdot(expected, actual).real)
            norm = math.sqrt(signal) * math.sqrt(_energy(actual))
            self._worst_abs = max(self._worst_abs, float(np.abs(gap).max()))
            self._largest = max(self._largest, float(np.abs(expected).max()))
        self._elements += expected.size
        self._signal += signal
        self._noise += noise
        error = _ratio(math.sqrt(noise), math.sqrt(signal))
        if error is not None:
            self._errors.append(error)
        if 0 < norm < math.inf and math.isfinite(product):
            self._cosines.append(max(-1.0, min(1.0, product / norm)))

    def _agree(self, expected: Array, actual: Array) -> None:
        """Add the share of an item's positions with the same largest score; 0 or 1 for one position."""
        expected, actual = (array.reshape(-1, array.shape[-1]) for array in (expected, actual))
        if np.isnan(expected).any(axis=-1).any():
            return
        valid = ~np.isnan(actual).any(axis=-1)  # a NaN is never the largest score
        chosen = expected.argmax(axis=-1)
        self._top1.append(float((valid & (actual.argmax(axis=-1) == chosen)).mean()))
        if expected.shape[-1] > FIVE:
            first = np.argpartition(-actual, FIVE - 1, axis=-1)[:, :FIVE]
            self._top5.append(float((valid & (first == chosen[:, None]).any(axis=-1)).mean()))


def scores_reason(name: str, array: Array, asked: bool | None = None) -> str | None:
    """Return why an output is read as one score per class; None: it is not.

    A float output of two or three axes whose name says so, with at least two classes on the last axis; or
    the caller's word.
    """
    if (
        asked is False
        or array.ndim < 2
        or not 2 <= array.shape[-1] <= MOST_CLASSES
        or array.dtype.kind == "c"
    ):
        return None
    if asked:
        return "you said that its last axis holds scores"
    match = SCORE_NAMES.search(name[:_MOST_LETTERS])
    if match is None or array.ndim > 3:
        return None
    return f"its name has {match[0]!r} in it and its last axis {array.shape[-1]:,} values"


def _array(value: Any) -> Array | str:
    """Return float64 or complex128, or a text with the reason why the value is no tensor of numbers."""
    if isinstance(value, str) and value.endswith(NOT_COMPARABLE):
        return value
    if value is None or isinstance(value, (str, list, tuple, Mapping)):
        return "it is no tensor"
    array = np.asarray(value)
    if array.dtype.kind in "OUS":
        return "it holds texts"
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _energy(array: Array) -> float:
    return float(np.square(np.abs(array)).sum())


def _ratio(part: float, whole: float) -> float | None:
    """Return part over whole; None where the whole is 0 and the part is not, or where one is not finite."""
    if part == 0:
        return 0.0
    if whole == 0 or not math.isfinite(part) or not math.isfinite(whole):
        return None
    return part / whole


def _mean(values: list[float]) -> Mean | None:
    return mean(np.array(values)) if values else None


def _shape(array: Array) -> str:
    return "×".join(str(size) for size in array.shape) or "scalar"
