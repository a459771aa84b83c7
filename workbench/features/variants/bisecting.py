"""The release of ONNX Runtime in which outputs or latency changed, found by halving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt

from workbench.core.bundle.estimate import Estimate
from workbench.core.errors import RunFailed
from workbench.features.variants.versions import BisectStep, Changed, VersionRow, VersionsRecord


def bisected(releases: Sequence[str], measure: Callable[[list[str]], VersionsRecord]) -> VersionsRecord:
    """Compare the first release with the last, then with those between; return the two neighbours.

    Each step measures a release beside the first. Outputs come before latency. Latency has changed where
    the ratio lies beyond the middle (geometric) of no change and the change of the last release.
    """
    ends = measure([releases[0], releases[-1]])
    last = _measured(ends)
    changed: Changed = (
        "outputs"
        if last.outputs_agree is False
        else "latency" if last.verdict in ("faster", "slower") and _ratio(last) else "nothing"
    )  # fmt: skip
    low, high, steps = 0, len(releases) - 1, [_step(releases[-1], last, changed, last)]
    while changed != "nothing" and high - low > 1:
        middle = (low + high) // 2
        row = _measured(measure([releases[0], releases[middle]]))
        steps.append(_step(releases[middle], row, changed, last))
        low, high = (low, middle) if steps[-1].is_changed else (middle, high)
    neighbours = changed != "nothing" and (low, high) != (0, len(releases) - 1)
    halves = measure([releases[low], releases[high]]) if neighbours else ends
    return replace(halves, changed=changed, steps=tuple(steps))


def _measured(record: VersionsRecord) -> VersionRow:
    """Return the second version; one that failed decides nothing."""
    for row in record.rows:
        if row.failure is not None:
            raise RunFailed(
                f"ONNX Runtime {row.onnxruntime} does not run it: {row.failure}",
                "leave this release out: give the releases to search as a list of three or more",
            )
    return record.rows[1]


def _ratio(row: VersionRow) -> float:
    return row.ratio.value or 0.0


def _step(release: str, row: VersionRow, changed: Changed, last: VersionRow) -> BisectStep:
    """Judge a release against the middle of the change."""
    if changed == "outputs":
        differs = row.outputs_agree is False
        return BisectStep(release, differs, row.outputs_agree is not None, Estimate(), row.outputs_agree)
    if changed == "nothing":
        return BisectStep(release, False, row.verdict == "tie", row.ratio, row.outputs_agree)
    middle, is_slower = sqrt(_ratio(last)), _ratio(last) < 1
    value, low, high = row.ratio.ends
    ratio = value if value is not None else 1.0
    is_settled = low is not None and high is not None and not low <= middle <= high
    return BisectStep(
        release, ratio < middle if is_slower else ratio > middle, is_settled, row.ratio, row.outputs_agree
    )
