"""Comparison of the outputs of two configs, before any speed is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.core.bundle.comparison import OutputAgreement
from workbench.core.measure.slices import LEAST_PROBABILITY, SliceError, SliceTally
from workbench.core.models.tails import are_probabilities, tail_of
from workbench.core.text import listed, share_of, shorten
from workbench.core.worker.values import NOT_COMPARABLE

if TYPE_CHECKING:
    from onnx import ModelProto

FLOAT32_LEAST_SQNR_DB = 60.0  # a rewrite of a float32 graph: 0.1 % of the output; reordered sums reach 100 dB
OWN_CHANGES = "A's own output changes from process to process (random operators?)"
NO_VALUES = "every output is NaN, infinite or empty, so there is nothing to compare"
NOTHING_FOUND = (
    f"every probability is below {LEAST_PROBABILITY:g} with both: on these inputs the model finds nothing; "
    "give real ones, inputs=…"
)
DIFFERING_SHARE = 0.05  # share of integers (class indices, tokens) that other arithmetic may change
TOLERANCE = 1e-3  # share of the baseline's largest magnitude: reordered float32 sums stay below


def compare_outputs(
    label: str,
    baseline: Sequence[Mapping[str, Any]],
    candidate: Sequence[Mapping[str, Any]],
    *,
    tolerance: float = TOLERANCE,
    least_sqnr_db: float | None = None,
    repeat: Sequence[Mapping[str, Any]] | None = None,
    structure: ModelProto | None = None,
) -> tuple[OutputAgreement, ...]:
    """Return one row per output, over all feeds. `repeat` holds the baseline's outputs of another process.

    `least_sqnr_db` is the error budget of other arithmetic, in place of the tolerance. `structure`, the graph
    of the source model, tells which node joins the channels that were refused with others.
    """
    tolerance_asked = Tolerance(tolerance, least_sqnr_db)
    names = list(baseline[0]) if baseline else []
    rows = tuple(
        _agreement_of(
            label,
            name,
            [outputs.get(name) for outputs in baseline],
            [outputs.get(name) for outputs in candidate],
            tolerance_asked,
            None if repeat is None else [outputs.get(name) for outputs in repeat],
        )
        for name in names
    )
    if structure is not None and least_sqnr_db is not None:
        rows = tuple(_located(row, structure) for row in rows)
    if structure is not None:
        rows = tuple(_shown(row, [*baseline, *candidate], structure) for row in rows)
    if any(_has_values(outputs) for outputs in baseline):
        return rows
    return tuple(replace(row, agrees=None, reason=NO_VALUES) if row.agrees else row for row in rows)


def _located(row: OutputAgreement, structure: ModelProto) -> OutputAgreement:
    """Name the node that joins refused channels with others, and the remedy."""
    tail = tail_of(structure, row.output) if row.part is not None else ()
    if not tail:
        return row
    part, _, rest = row.reason.partition("; ")
    advice = f"{part} after {shorten(tail[0])!r}: leave the tail in float, exclude=({listed(tail, 3)})"
    return replace(row, tail=tail, reason=f"{advice}; {rest}")


def _shown(
    row: OutputAgreement, outputs: Sequence[Mapping[str, Any]], structure: ModelProto
) -> OutputAgreement:
    """Take back the refusal of probabilities that are next to 0 in all runs: nothing was found to compare."""
    if row.agrees is not False or row.max_abs_error is None or not are_probabilities(structure, row.output):
        return row
    largest = max(float(np.max(values[row.output], initial=0.0)) for values in outputs)
    if not largest < LEAST_PROBABILITY:
        return row
    return replace(row, agrees=None, reason=NOTHING_FOUND, tail=(), part=None, part_error=None)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The required closeness of an output to the baseline's."""

    tolerance: float  # maximum error over the largest magnitude: for the same arithmetic
    least_sqnr_db: float | None  # minimum SQNR: for other arithmetic, where every value differs slightly

    def allows_error(self, relative: float, noise_share: float) -> bool:
        """Return whether the error is small enough; `noise_share` is its energy over the output's."""
        if self.least_sqnr_db is None:
            return relative <= self.tolerance
        return noise_share <= 10 ** (-self.least_sqnr_db / 10)

    def allows_differing(self, differing: float) -> bool:
        """Return whether this share of integers may differ: none if both graphs compute in float32."""
        is_float32 = self.least_sqnr_db is None or self.least_sqnr_db >= FLOAT32_LEAST_SQNR_DB
        return differing <= (0.0 if is_float32 else DIFFERING_SHARE)

    def refused_part(self, parts: SliceTally) -> SliceError | None:
        """Return the worst part that has become constant or is too far off on its own scale."""
        refused = [part for part in parts.groups() if not self.allows_error(part.relative, part.noise_share)]
        return parts.ruined() or max(refused, key=lambda part: part.noise_share, default=None)

    def describe(self, relative: float, noise_share: float) -> str:
        if self.least_sqnr_db is None:
            return f"largest error {relative:.1e} of the largest magnitude, tolerance {self.tolerance:.0e}"
        got = "none" if noise_share == 0 else f"{-10 * math.log10(noise_share):z.0f} dB"
        return (
            f"error {share_of(math.sqrt(noise_share), 'the output')} (root mean square; SQNR {got}), "
            f"at least {self.least_sqnr_db:g} dB asked for"
        )


def _agreement_of(
    label: str, name: str, ours: list[Any], theirs: list[Any], tolerance: Tolerance, again: list[Any] | None
) -> OutputAgreement:
    row = _compare(label, name, _leaves(ours), _leaves(theirs), tolerance)
    if row.agrees is False and again is not None:
        control = _compare(label, name, _leaves(ours), _leaves(again), tolerance)
        if control.agrees is False:
            return _row(label, name, None, OWN_CHANGES)
    return row


def _compare(
    label: str, name: str, left: list[Any], right: list[Any], tolerance: Tolerance
) -> OutputAgreement:
    if len(left) != len(right):
        return _row(label, name, False, f"{len(right)} values instead of {len(left)}")
    worst_abs, scale, noise, signal, nans, infs = 0.0, 0.0, 0.0, 0.0, 0, 0
    parts = SliceTally()
    numeric, differing, apart = False, 0.0, 0.0
    for ours, theirs in zip(left, right, strict=True):
        if any(isinstance(value, str) and value.endswith(NOT_COMPARABLE) for value in (ours, theirs)):
            return _row(label, name, None, "values of this type cannot be read from ORT")
        if not isinstance(ours, np.ndarray) or not isinstance(theirs, np.ndarray):
            if type(ours) is not type(theirs) or ours != theirs:
                return _row(label, name, False, "values that are no tensors differ")
            continue
        if ours.shape != theirs.shape:
            return _row(label, name, False, f"shape {_shape(theirs)} instead of {_shape(ours)}")
        if ours.dtype.kind in "OUS" or theirs.dtype.kind in "OUS":
            if not np.array_equal(ours.astype(str), theirs.astype(str)):
                return _row(label, name, False, "strings differ")
            continue
        numeric = True
        if ours.dtype.kind in "biu" and theirs.dtype.kind in "biu":
            share = float(np.mean(ours != theirs)) if ours.size else 0.0
            if not tolerance.allows_differing(share):
                return _row(label, name, False, f"{share * 100:.2f} % of the integers differ")
            if share:
                differing = max(differing, share)
                apart = max(apart, 1.0, float(np.abs(_wide(ours) - _wide(theirs)).max()))
            continue
        first, second = _wide(ours), _wide(theirs)
        nans += int(np.isnan(second).sum())
        infs += int(np.isinf(second).sum())
        finite = np.isfinite(first)
        if not np.array_equal(finite, np.isfinite(second)) or not np.array_equal(
            first[~finite], second[~finite], equal_nan=True
        ):
            row = _row(label, name, False, "NaN or infinity at other places")
            return replace(row, nan_count=nans, inf_count=infs)
        parts.add(first, second)
        with np.errstate(over="ignore"):  # the difference of the largest doubles exceeds the largest double
            error = np.abs(first[finite] - second[finite])
        worst_abs = max(worst_abs, float(error.max(initial=0.0)))
        scale = max(scale, float(np.abs(first[finite]).max(initial=0.0)))
        noise += _energy(error)
        signal += _energy(np.abs(first[finite]))
    if not numeric:
        return _row(label, name, True, "equal")
    if differing and worst_abs == 0:
        row = _row(label, name, True, f"{differing * 100:.2f} % of the integers differ")
        return replace(row, max_abs_error=apart)
    relative = worst_abs / scale if scale > 0 else (0.0 if worst_abs == 0 else math.inf)
    noise_share = noise / signal if signal > 0 and noise < math.inf else (0.0 if noise == 0 else math.inf)
    agrees = tolerance.allows_error(relative, noise_share)
    part = None if worst_abs == 0 else tolerance.refused_part(parts)
    reason = "equal to the last bit" if worst_abs == 0 else tolerance.describe(relative, noise_share)
    return OutputAgreement(
        label=label,
        output=name,
        agrees=agrees and part is None,
        reason=reason if part is None else f"{part}; {reason}",
        max_abs_error=worst_abs if math.isfinite(worst_abs) else None,
        relative_error=relative if math.isfinite(relative) else None,
        sqnr_db=decibels(signal, noise),
        nan_count=nans,
        inf_count=infs,
        least_sqnr_db=tolerance.least_sqnr_db,
        part=None if part is None else part.where,
        part_error=part.error if part is not None and math.isfinite(part.error) else None,
    )


def _has_values(outputs: Mapping[str, Any]) -> bool:
    """Return whether any output of a run contains a value that is neither NaN nor infinite."""
    for leaf in _leaves(list(outputs.values())):
        if not isinstance(leaf, np.ndarray) or (leaf.size and leaf.dtype.kind not in "fc"):
            return True
        if leaf.size and np.isfinite(_wide(leaf)).any():
            return True
    return False


def _energy(array: np.ndarray[Any, Any]) -> float:
    """Return the sum of squares, infinite if it exceeds the range of a double."""
    with np.errstate(over="ignore"):
        return float(np.square(array).sum())


def decibels(signal: float, noise: float) -> float | None:
    """Return the ratio in dB; None without noise, or if a sum of squares exceeds the range of a double."""
    ratio = signal / noise if noise > 0 else math.inf
    return 10 * math.log10(ratio) if 0 < ratio < math.inf else None


def _wide(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _leaves(value: Any) -> list[Any]:
    """Return the values inside sequences and maps, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, Mapping):
        return [leaf for key in sorted(value, key=str) for leaf in (str(key), *_leaves(value[key]))]
    return [value]


def _row(label: str, name: str, agrees: bool | None, reason: str) -> OutputAgreement:
    return OutputAgreement(label, name, agrees, reason, None, None, None, None, None)


def _shape(array: np.ndarray[Any, Any]) -> str:
    return "×".join(str(size) for size in array.shape) or "scalar"
