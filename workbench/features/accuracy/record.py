"""Output errors against the baseline, and accuracy: frozen, saved with a comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from workbench.core.bundle.display import DataFrame, data_frame, values_of
from workbench.core.bundle.estimate import Estimate
from workbench.core.errors import BundleError


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over items with its 95 % interval; `how` names the method, or the reason for no interval."""

    value: float
    low: float | None
    high: float | None
    item_count: int
    how: str

    def text(self, scale: float = 1.0, unit: str = "") -> str:
        """Return the mean, times `scale`, in words."""
        return Estimate.of(self).times(scale).words(".4g", unit)


@dataclass(frozen=True, slots=True)
class OutputFidelity:
    """One output of one candidate against the baseline's, over all items. None: undefined.

    `rms_error` is the root mean square of the error over that of the baseline's output: 0.01 is 1 %, which
    equals an SQNR of 40 dB. `relative_error` is the largest error over the largest magnitude.
    """

    label: str
    output: str
    problem: str | None  # why the values cannot be compared; None: they were compared
    item_count: int
    element_count: int
    max_abs_error: float | None
    relative_error: float | None
    rms_error: float | None
    sqnr_db: float | None  # None also if both are bitwise equal: no noise
    item_error: Mean | None  # rms_error of each item
    cosine: Mean | None
    worst_item: int | None  # the position of the item with the largest rms_error
    scores: str | None  # why the last axis is read as one score per class; None: it is not
    top1: Mean | None  # the share of items whose top class is the same
    top5: Mean | None  # the share whose top class in the baseline is in the candidate's top five
    nan_count: int
    inf_count: int
    baseline_nan_count: int
    baseline_inf_count: int
    worst_part: str | None = None  # channels that are on a scale of their own, or that have become constant
    part_error: float | None = None  # root mean square, as a share of these channels

    @property
    def is_endless(self) -> bool:
        """Return whether the error has no finite size: another shape, or NaN against numbers."""
        if self.problem is not None:
            return True
        has_values = self.element_count > 0 or self.nan_count != self.baseline_nan_count
        return self.rms_error is None and self.max_abs_error != 0 and has_values

    @property
    def equal(self) -> bool:
        """Return whether the outputs are bitwise equal."""
        return self.problem is None and self.max_abs_error == 0


@dataclass(frozen=True, slots=True)
class Paired:
    """The candidate's gain over the baseline on the same items, with its 95 % interval."""

    value: float
    low: float | None
    high: float | None
    gained_count: int | None  # items wrong in the baseline alone; None: scores are not right or wrong
    lost_count: int | None
    p_value: float | None  # McNemar's exact test; None without right and wrong items
    how: str

    def within(self, most_lost: float) -> bool | None:
        """Return whether at most `most_lost` is lost; None if the interval leaves it open."""
        if self.low is None or self.high is None:
            return None
        if self.low >= -most_lost:
            return True
        return False if self.high < -most_lost else None


@dataclass(frozen=True, slots=True)
class Score:
    """The accuracy of one config. `against` is None for the baseline, or if this config failed."""

    label: str
    score: Mean | None
    against: Paired | None
    problem: str | None  # the reason for a missing score


@dataclass(frozen=True, slots=True)
class DataRecord:
    """The evaluation data. `real` is False for random inputs, which say nothing about accuracy."""

    made_by: str
    item_count: int
    label_count: int | None  # None: no labels
    batch_count: int  # items per run
    real: bool


@dataclass(frozen=True, slots=True)
class AccuracyRecord:
    """Fidelity of every candidate, and accuracy of every config if labels exist."""

    model_name: str
    labels: tuple[str, ...]  # the baseline first
    configs: tuple[str, ...]  # configs in words
    data: DataRecord
    metric: str | None  # None: no labels
    scores: tuple[Score, ...]
    fidelity: tuple[OutputFidelity, ...]
    notes: tuple[str, ...]

    def score(self, label: str) -> Score | None:
        """Return the score of one config."""
        return next((score for score in self.scores if score.label == label), None)

    def outputs(self, label: str) -> tuple[OutputFidelity, ...]:
        """Return the fidelity of one candidate's outputs."""
        return tuple(row for row in self.fidelity if row.label == label)

    def error(self, label: str) -> float | None:
        """Return the largest error of any output or part; infinite if one has no size, None if unknown."""
        rows = self.outputs(label)
        if any(row.is_endless for row in rows):
            return math.inf
        known = [error for row in rows for error in (row.rms_error, row.part_error) if error is not None]
        return max(known) if known else None

    def to_frame(self) -> DataFrame:
        """Return one row per config: its accuracy with the interval, and the error of its worst output."""
        rows = []
        for label, config in zip(self.labels, self.configs, strict=True):
            score_row, worst = self.score(label), self._worst(label)
            score = score_row.score if score_row else None
            gap = score_row.against if score_row else None
            rows.append(
                {
                    "label": label,
                    "config": config,
                    **Estimate.of(score).cells("accuracy"),
                    **Estimate.of(gap).cells("difference"),
                    "rms_error": self.error(label),
                    "sqnr_db": worst.sqnr_db if worst else None,
                    "top1_agreement": worst.top1.value if worst and worst.top1 else None,
                    "problem": score_row.problem if score_row else None,
                }
            )
        frame = data_frame(rows)
        numbers = [name for name in frame.columns if name not in ("label", "config", "problem")]
        return frame.astype(dict.fromkeys(numbers, "float64"))

    def fidelity_frame(self) -> DataFrame:
        """Return one row per output of a candidate."""
        rows = []
        for fidelity in self.fidelity:
            row = values_of(fidelity, *(field.name for field in fields(fidelity)))
            for name in ("item_error", "cosine", "top1", "top5"):
                row |= Estimate.of(row[name]).cells(name)
            rows.append(row)
        return data_frame(rows)

    def _worst(self, label: str) -> OutputFidelity | None:
        rows = self.outputs(label)
        return max(rows, key=lambda row: math.inf if row.is_endless else row.rms_error or 0.0, default=None)


def check_accuracy(record: AccuracyRecord, fix: str) -> None:
    """Refuse inconsistent labels; every view of the record relies on this check."""
    if not record.labels or len(set(record.labels)) != len(record.labels):
        raise BundleError("labels: expected one or more, each once.", fix)
    if len(record.configs) != len(record.labels):
        raise BundleError("configs: expected one for each label.", fix)
    for name in ("scores", "fidelity"):
        for at, row in enumerate(getattr(record, name)):
            if row.label not in record.labels:
                raise BundleError(f"{name}[{at}].label: there is no such config.", fix)
