"""All reasons why a config is not faster: the findings that hold for it alone, the costliest first."""

from __future__ import annotations

from collections.abc import Callable

from workbench.features.findings.evidence import Evidence
from workbench.features.findings.look import look
from workbench.features.findings.record import FindingRecord
from workbench.features.findings.slower.difference import ProfilesApart
from workbench.features.findings.slower.record import WhySlowerRecord
from workbench.features.profile.difference.changes import Difference
from workbench.features.profile.profiled_config import INTEGER_OPERATORS

EXPLAINED = 0.5  # of the time lost; where findings explain less, the profiles are compared
OF_FILES = frozenset({"precision", "fusion", "saved_graph", "rewrites"})  # what changes the file alone


def why_slower(
    base: Evidence, slower: Evidence, measured: str, compare_profiles: Callable[[], Difference]
) -> WhySlowerRecord:
    """Return the findings of the slower config that its base does not have, the costliest first.

    `compare_profiles` is called only where the settings of the sessions differ, or where findings explain
    less than half of the time lost.
    """
    assert slower.profiled is not None
    assert base.run_s is not None
    assert slower.run_s is not None
    changes = base.config.diff(slower.config)
    held = {finding.id for finding in look(base).large}
    reasons = [
        finding
        for finding in look(slower).large
        if finding.id not in held and _explains_time(finding, base, slower)
    ]
    explained_s = sum(reason.cost_s or 0.0 for reason in reasons)
    difference = None
    if any(change.field not in OF_FILES for change in changes.changes) or explained_s < EXPLAINED * (
        slower.run_s - base.run_s
    ):
        difference = compare_profiles()
        reasons += ProfilesApart(base, slower, difference).findings()
    reasons.sort(key=lambda reason: -(reason.cost_s or 0.0))
    integer = slower.of(*INTEGER_OPERATORS)
    return WhySlowerRecord(
        model_name=slower.model_name,
        baseline=base.label,
        candidate=slower.label,
        baseline_s=base.run_s,
        candidate_s=slower.run_s,
        measured=measured,
        integer_nodes=len(integer),
        integer_share=slower.profiled.share(integer),
        node_count=len(slower.profiled.nodes),
        reasons=tuple(reasons),
        configs=changes.sentence(base.label, slower.label),
        profiles=None if difference is None else str(difference),
    )


def _explains_time(finding: FindingRecord, base: Evidence, slower: Evidence) -> bool:
    """Return whether a finding is about time; other arithmetic explains nothing where both have the same."""
    if finding.gain.subject not in ("time", "correctness"):
        return False
    fixed = slower.config if finding.fix.config is None else finding.fix.config
    return fixed.precision == slower.config.precision or base.config.precision != slower.config.precision
