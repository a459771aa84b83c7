"""Which config of a comparison is the fastest, and whether that is settled against each of the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.core.bundle.comparison import ComparisonRecord, Kind
from workbench.core.bundle.run import Run
from workbench.core.measure.pairs import pairs_of
from workbench.core.measure.verdict import Criteria

Standing = Literal["clear", "tie", "not settled", "not measured"]


@dataclass(frozen=True, slots=True)
class Winner:
    """The fastest config whose outputs agree; `rivals` tie with it, or are not settled against it."""

    label: str | None
    standing: Standing
    rivals: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.standing == "clear":
            return f"{self.label} wins"
        if self.standing == "tie":
            return f"{', '.join(sorted((self.label or '', *self.rivals)))} tie"
        return self.standing


def winner_of(record: ComparisonRecord | None) -> Winner:
    """Return the fastest config of a comparison, judged against every other one on the same rounds."""
    if record is None:
        return Winner(None, "not measured")
    differing = {verdict.label for verdict in record.verdicts if verdict.kind == "outputs differ"}
    runs = [run for run in record.runs if is_measured(run) and run.label not in differing]
    if not runs:
        return Winner(None, "not measured")
    gains = {run.label: _gain(record, run) for run in runs}
    leader = max(runs, key=lambda run: gains[run.label])
    kinds = _kinds(record, leader, runs)
    if ahead := [run for run in runs if kinds.get(run.label) == "faster"]:
        leader = ahead[0]  # ranked by the least that its large effect has
        kinds = _kinds(record, leader, runs)
    opened = tuple(label for label, kind in kinds.items() if kind in ("unknown", "faster"))
    if opened:
        return Winner(leader.label, "not settled", opened)
    ties = tuple(label for label, kind in kinds.items() if kind == "tie")
    return Winner(leader.label, "tie" if ties else "clear", ties)


def _kinds(record: ComparisonRecord, leader: Run, runs: Sequence[Run]) -> dict[str, Kind]:
    """Return the kind of the verdict on each other config against the leader."""
    return {run.label: kind_between(record, leader.label, run.label) for run in runs if run is not leader}


def kind_between(record: ComparisonRecord, baseline: str, label: str) -> Kind:
    """Return the verdict's kind on a config against any other one of the comparison, by the same rule."""
    verdicts = {verdict.label: verdict.kind for verdict in record.verdicts}
    first = record.runs[0].label
    if baseline == first:
        return verdicts[label]
    if label == first:
        opposite: dict[Kind, Kind] = {"faster": "slower", "slower": "faster"}
        return opposite.get(verdicts[baseline], verdicts[baseline])
    runs = {run.label: run for run in record.runs}
    criteria = criteria_of(record)
    return criteria.kind(criteria.ratios(pairs_of(runs[baseline], runs[label], criteria.clock)))


def criteria_of(record: ComparisonRecord) -> Criteria:
    """Return the criteria by which a comparison was judged."""
    clock = record.verdicts[0].clock if record.verdicts else "wall"
    return Criteria(record.protocol.smallest_effect, record.runs[0].population, clock)


def is_measured(run: Run) -> bool:
    """Return whether a run has samples and did not fail."""
    return run.failure is None and bool(run.blocks)


def _gain(record: ComparisonRecord, run: Run) -> float:
    """Return the log of the baseline's time over the run's; without a verdict the run is last."""
    if run.label == record.runs[0].label:
        return 0.0
    ratio = next(verdict.bound for verdict in record.verdicts if verdict.label == run.label)
    return -math.inf if ratio is None else math.log(ratio)
