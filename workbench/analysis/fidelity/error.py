"""How far outputs are from the baseline's, gathered run by run: sums and a few numbers an item are kept."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from workbench.analysis.fidelity.intervals import mean
from workbench.records.fidelity import Mean, OutputFidelity
from workbench.worker.values import NOT_COMPARABLE

Array: TypeAlias = np.ndarray[Any, Any]

SCORE_NAMES = re.compile(r"logit|prob|score|softmax|class", re.IGNORECASE)
_NAMED = 200  # letters of a name that are looked at
MOST_CLASSES = 1_000_000
FIVE = 5


class Tally:
    """One output of one candidate. `add` every run, then `row`. Memory: five numbers an item."""

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
        self._nans = self._infs = self._base_nans = self._base_infs = 0
        self._items = 0
        self._endless = False  # a value is finite on one side only, or infinite and different

    def add(self, baseline: Any, candidate: Any, items: int = 1) -> None:
        """One run of both on the same feed, which held `items` items along the first axis."""
        self._items += items
        if self._problem is not None:
            return
        ours, theirs = _array(baseline), _array(candidate)
        if isinstance(ours, str) or isinstance(theirs, str):
            self._problem = ours if isinstance(ours, str) else str(theirs)
            return
        if ours.shape != theirs.shape:
            self._problem = f"shape {_shape(theirs)} instead of {_shape(ours)}"
            return
        self._count(ours, theirs)
        if self._reason is None:
            self._reason = scores_reason(self._output, ours, self._asked)
        if items > 1 and ours.ndim and ours.shape[0] == items:
            for one, other in zip(ours, theirs, strict=True):
                self._item(one[None], other[None])
        else:
            self._item(ours, theirs)

    def row(self) -> OutputFidelity:
        """What was gathered."""
        told = self._problem is None and (self._elements > 0 or self._endless)
        rms = _ratio(math.sqrt(self._noise), math.sqrt(self._signal)) if told else None
        return OutputFidelity(
            label=self._label,
            output=self._output,
            problem=self._problem,
            item_count=self._items,
            element_count=self._elements,
            max_abs_error=_finite(self._worst_abs) if told else None,
            relative_error=_ratio(self._worst_abs, self._largest) if told else None,
            rms_error=rms,
            sqnr_db=-20 * math.log10(rms) if rms else None,
            item_error=_mean(self._errors) if told else None,
            cosine=_mean(self._cosines) if told else None,
            worst_item=int(np.argmax(self._errors)) if told and any(self._errors) else None,
            scores=self._reason if told else None,
            top1=_mean(self._top1) if told else None,
            top5=_mean(self._top5) if told else None,
            nan_count=self._nans,
            inf_count=self._infs,
            baseline_nan_count=self._base_nans,
            baseline_inf_count=self._base_infs,
        )

    def _count(self, ours: Array, theirs: Array) -> None:
        self._nans += int(np.isnan(theirs).sum())
        self._infs += int(np.isinf(theirs).sum())
        self._base_nans += int(np.isnan(ours).sum())
        self._base_infs += int(np.isinf(ours).sum())

    def _item(self, ours: Array, theirs: Array) -> None:
        """Values that are not finite and the same on both sides are no error; else the error has no end."""
        if self._reason is not None:
            self._agree(ours, theirs)
        both = np.isfinite(ours) & np.isfinite(theirs)
        if not both.all():
            if not np.array_equal(ours[~both], theirs[~both], equal_nan=True):
                self._endless = True
                self._worst_abs = self._noise = math.inf
            ours, theirs = ours[both], theirs[both]
        if not ours.size:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            gap = theirs - ours
            signal, noise = _energy(ours), _energy(gap)
            product = float(np.vdot(ours, theirs).real)
            norm = math.sqrt(signal) * math.sqrt(_energy(theirs))
            self._worst_abs = max(self._worst_abs, float(np.abs(gap).max()))
            self._largest = max(self._largest, float(np.abs(ours).max()))
        self._elements += ours.size
        self._signal += signal
        self._noise += noise
        error = _ratio(math.sqrt(noise), math.sqrt(signal))
        if error is not None:
            self._errors.append(error)
        if 0 < norm < math.inf and math.isfinite(product):
            self._cosines.append(max(-1.0, min(1.0, product / norm)))

    def _agree(self, ours: Array, theirs: Array) -> None:
        """Over the positions of an item; an item of one position counts 0 or 1."""
        ours, theirs = (array.reshape(-1, array.shape[-1]) for array in (ours, theirs))
        if np.isnan(ours).any(axis=-1).any():
            return
        seen = ~np.isnan(theirs).any(axis=-1)  # a NaN is never the largest score
        chosen = ours.argmax(axis=-1)
        self._top1.append(float((seen & (theirs.argmax(axis=-1) == chosen)).mean()))
        if ours.shape[-1] > FIVE:
            first = np.argpartition(-theirs, FIVE - 1, axis=-1)[:, :FIVE]
            self._top5.append(float((seen & (first == chosen[:, None]).any(axis=-1)).mean()))


def scores_reason(name: str, array: Array, asked: bool | None = None) -> str | None:
    """Why an output is read as one score a class, in words; None: it is not.

    A float output of two or three axes whose name says so, with at least two classes on the last axis; or
    what the caller says.
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
    found = SCORE_NAMES.search(name[:_NAMED])
    if found is None or array.ndim > 3:
        return None
    return f"its name has {found[0]!r} in it and its last axis {array.shape[-1]:,} values"


def fidelity(
    label: str,
    baseline: Mapping[str, Any],
    candidate: Mapping[str, Any],
    *,
    scores: Mapping[str, bool] | None = None,
    items: int = 1,
) -> tuple[OutputFidelity, ...]:
    """One row an output, of a single run of both."""
    rows = []
    for name, value in baseline.items():
        tally = Tally(label, name, scores=(scores or {}).get(name))
        tally.add(value, candidate.get(name), items)
        rows.append(tally.row())
    return tuple(rows)


def _array(value: Any) -> Array | str:
    """As float64 or complex128; a text says why it is none."""
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
    """None where the whole is nothing and the part is not, or where either left the range of a double."""
    if part == 0:
        return 0.0
    if whole == 0 or not math.isfinite(part) or not math.isfinite(whole):
        return None
    return part / whole


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _mean(values: list[float]) -> Mean | None:
    return mean(np.array(values)) if values else None


def _shape(array: Array) -> str:
    return "×".join(str(size) for size in array.shape) or "scalar"
