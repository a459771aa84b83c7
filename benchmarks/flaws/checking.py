"""What the rules say of a planted model, and whether a fix keeps its outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from benchmarks.flaws.flaw import Flaw, Planted
from workbench.core.config import Config
from workbench.core.models.inputs import Inputs
from workbench.core.models.loading import load
from workbench.core.models.model import Model
from workbench.core.prepare.runnable import make_runnable
from workbench.core.worker.session import make_session
from workbench.features.cold_start import cold_start
from workbench.features.compare.call import compare
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.gather import gather, known_accuracy
from workbench.features.findings.known import Known
from workbench.features.findings.record import FindingRecord, FindingsRecord
from workbench.features.findings.result import Finding, FixTarget
from workbench.features.findings.rule import look
from workbench.features.profile.calls import memory

NAMED_SHARE = 0.5  # of the flaw's nodes that a finding must name (it lists at most 40)
BUDGET_S = 2.0  # of a comparison whose outputs count, not its times
OWN_SHARE = 0.5  # of the nodes that a finding names, inserted ones apart, which must belong to the flaw


@dataclass(frozen=True)
class Looked:
    """A planted model with what the rules found."""

    planted: Planted
    model: Model
    inputs: Inputs
    evidence: Evidence
    record: FindingsRecord

    def finding(self, rule_id: str) -> FindingRecord | None:
        """Return the finding of this rule."""
        return next((finding for finding in self.record.findings if finding.id == rule_id), None)

    def to_try(self, finding: FindingRecord) -> Finding:
        """Return the finding with what its fix is tried on."""
        subject = FixTarget(self.model, self.inputs, self.planted.calibration)
        return Finding(finding, self.planted.config, subject)


def look_at(planted: Planted, path: Path) -> Looked:
    """Save the model and ask every rule."""
    onnx.save(planted.model, path)
    model = load(path)
    inputs = model.inputs(planted.inputs, seed=0)
    known = known_facts(planted, model, inputs)
    evidence = gather(model, planted.config, inputs, known=known, calibration=planted.calibration)
    return Looked(planted, model, inputs, evidence, look(evidence))


def known_facts(planted: Planted, model: Model, inputs: Inputs) -> Known:
    """Return what only measuring gives of the flaw: accuracy, a cold start, memory, a comparison."""
    config, calibration = planted.config, planted.calibration
    known = Known()
    if planted.data is not None:
        known = known_accuracy(model, config, planted.data, calibration=calibration)
    if "cold start" in planted.facts:
        starts = cold_start(model, config, inputs=inputs, calibration=calibration)
        known = replace(known, cold=starts.record)
    if "memory" in planted.facts:
        used = memory(model, config, inputs=inputs, calibration=calibration)
        known = replace(known, memory=used.record)
    if "comparison" in planted.facts:
        result = compare(
            model, planted.sound_config, config, inputs=inputs, calibration=calibration, budget_s=BUDGET_S,
            progress=False, keep=False,
        )  # fmt: skip
        known = replace(known, run=result.runs[1], comparison=result.record)
    return known


def recall_row(flaw: Flaw, looked: Looked) -> dict[str, Any]:
    """Return whether the finding of the flaw is there, and whether its nodes are right."""
    finding = looked.finding(flaw.finding)
    named = set() if finding is None else source_nodes(looked.evidence, finding.nodes)
    expected = set(looked.planted.nodes)
    own = [] if finding is None else [_is_own(looked.evidence, name, expected) for name in finding.nodes]
    judged = [is_own for is_own in own if is_own is not None]
    right = not expected or (
        len(named & expected) >= NAMED_SHARE * len(expected) and sum(judged) >= OWN_SHARE * len(judged)
    )
    return {
        "found": finding is not None,
        "nodes_right": finding is not None and right,
        "is_small": finding is not None and finding.is_small,
        "confidence": None if finding is None else finding.confidence,
        "missed_nodes": sorted(expected - named)[:5],
        "other_nodes": sorted(named - expected)[:5],
        "findings": [f"{other.id} ({other.confidence})" for other in looked.record.large],
        "failed": [entry.id for entry in looked.record.not_looked if entry.reason.startswith("failed")],
    }


def source_nodes(evidence: Evidence, names: tuple[str, ...]) -> set[str]:
    """Return the nodes of the model's file that these nodes compute, without those that ORT inserted."""
    assert evidence.explained is not None
    account = evidence.explained.provenance.account
    sources = {node.node: node.sources for node in account.optimized}
    known = {node.node for node in account.sources}
    named: set[str] = set()
    for name in names:
        named |= set(sources.get(name, (name,))) & known
    return named


def _is_own(evidence: Evidence, name: str, expected: set[str]) -> bool | None:
    """Return whether a node does work of the flaw; None for one that ORT inserted."""
    sources = source_nodes(evidence, (name,))
    return bool(sources & expected) if sources else None


def exact_row(finding: FindingRecord, looked: Looked) -> dict[str, Any] | None:
    """Return the SQNR of the fixed model's outputs; None if the fix changes the arithmetic on purpose."""
    fixed, config = finding.fix.config, looked.planted.config
    if fixed is None or finding.fix.kind != "config" or fixed.precision != config.precision:
        return None
    before, after = (outputs(looked, chosen) for chosen in (config, fixed))
    decibels = [sqnr_db(first, second) for first, second in zip(before, after, strict=True)]
    return {
        "fix": finding.fix.text,
        "sqnr_db": None if math.inf in decibels and min(decibels) == math.inf else min(decibels),
        "bit_equal": all(map(_equal, before, after)),
    }


def outputs(looked: Looked, config: Config) -> list[Any]:
    """Return the outputs of the model under a config."""
    runnable = make_runnable(
        looked.model, config, looked.inputs.feeds, calibration=looked.planted.calibration
    )
    session = make_session(str(runnable.model.path), runnable.config.plan().to_dict(), log_severity_level=3)
    return list(session.run(None, dict(runnable.feeds[0])))


def sqnr_db(first: Any, second: Any) -> float:
    """Return the ratio of the outputs' energy to that of the difference; infinite if they are equal."""
    signal, noise = np.asarray(first, np.float64), np.asarray(first, np.float64) - second
    finite = np.isfinite(signal) & np.isfinite(noise)
    energy, error = float((signal[finite] ** 2).sum()), float((noise[finite] ** 2).sum())
    if error == 0:
        return math.inf
    return 10 * math.log10(energy / error) if energy else -math.inf


def _equal(first: Any, second: Any) -> bool:
    return bool(np.array_equal(first, second, equal_nan=True))
