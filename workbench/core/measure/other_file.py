"""A config whose model file is another one: its outputs in the names of the model, or not compared at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.core.bundle.comparison import OutputAgreement
from workbench.core.config import Precision, PreparedModel
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.tolerance import required_sqnr_db

TIMING_ONLY = "timing only, as asked for: outputs were not compared"


def is_other_net(precision: Precision | None) -> bool:
    """Return whether the user said that the file is of a different net."""
    return isinstance(precision, PreparedModel) and not precision.compare_outputs


def in_names_of_model(
    outputs: Sequence[Mapping[str, Any]], precision: Precision | None
) -> Sequence[Mapping[str, Any]]:
    """Return the outputs of a file under the names that the model has for them."""
    if not isinstance(precision, PreparedModel) or not precision.renamed_outputs:
        return outputs
    names = {theirs: ours for ours, theirs in precision.renamed_outputs}
    return [{names.get(name, name): value for name, value in feed.items()} for feed in outputs]


def agreement_of(
    request: CompareRequest,
    baseline: Candidate,
    candidate: Candidate,
    expected: Sequence[Mapping[str, Any]],
    outputs: Path,
    repeat: Sequence[Mapping[str, Any]] | None,
) -> tuple[OutputAgreement, ...]:
    """Compare the outputs in a candidate's file with the baseline's, but not those of a net that is another.

    Where the arithmetic of one is not float32, the error budget is the user's, or the usual.
    """
    from workbench.core.measure.agreement import compare_outputs  # numpy: the panels open without it
    from workbench.core.worker.values import read_values

    precision = candidate.config.precision
    if is_other_net(precision):
        return ()
    required = required_sqnr_db(baseline.least_sqnr_db, candidate.least_sqnr_db)
    asked = request.least_sqnr_db
    return compare_outputs(
        candidate.label,
        expected,
        in_names_of_model(read_values(outputs), precision),
        tolerance=request.tolerance,
        least_sqnr_db=required if required is None or asked is None else asked,
        repeat=repeat,
        structure=None if request.source is None else request.source.structure,
    )
