"""The release of ONNX Runtime in which outputs or latency changed, found by halving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt

from workbench.core.bundle.estimate import Estimate
from workbench.core.errors import RunFailed
from workbench.features.variants.versions.record import BisectStep, Changed, VersionRow, VersionsRecord


def bisected(releases: Sequence[str], measure: Callable[[list[str]], VersionsRecord]) -> VersionsRecord:
    """Compare the first release with the last, then with those between; return the two neighbours.

    Each step measures a release beside the first. Outputs come before latency. Latency has changed where
    the ratio lies beyond the middle (geometric) of no change and the change of the last release.
    """
    ends = measure([releases[0], releases[-1]])
    last = _second(ends)
    changed: Changed = "latency" if last.verdict in ("faster", "slower") else "nothing"
    changed = "outputs" if last.outputs_agree is False else changed
    low, high, steps = 0, len(releases) - 1, [_step(releases[-1], last, changed, last)]
    while changed != "nothing" and high - low > 1:
        middle = (low + high) // 2
        row = _second(measure([releases[0], releases[middle]]))
        steps.append(_step(releases[middle], row, changed, last))
        low, high = (low, middle) if steps[-1].is_changed else (middle, high)
    has_neighbours = changed != "nothing" and (low, high) != (0, len(releases) - 1)
    neighbours = measure([releases[low], releases[high]]) if has_neighbours else ends
    return replace(neighbours, changed=changed, steps=tuple(steps))


def _second(record: VersionsRecord) -> VersionRow:
    """Return the second version; one that failed decides nothing."""
    for row in record.rows:
        if row.failure is not None:
            raise RunFailed(
                f"ONNX Runtime {row.onnxruntime} does not run it: {row.failure}",
                "leave this release out: give the releases to search as a list of three or more",
            )
    return record.rows[1]


def _step(release: str, row: VersionRow, changed: Changed, last: VersionRow) -> BisectStep:
    """Judge a release against the middle of the change."""
    if changed == "outputs":
        differs = row.outputs_agree is False
        return BisectStep(release, differs, row.outputs_agree is not None, Estimate(), row.outputs_agree)
    if changed == "nothing":
        return BisectStep(release, False, row.verdict == "tie", row.ratio, row.outputs_agree)
    whole, now = last.ratio.known or 1.0, row.ratio.known or 1.0
    low, high = row.ratio.low, row.ratio.high
    middle = sqrt(whole)
    is_changed = now < middle if whole < 1 else now > middle
    is_settled = (low is not None and low > middle) or (high is not None and high < middle)
    return BisectStep(release, is_changed, is_settled, row.ratio, row.outputs_agree)
