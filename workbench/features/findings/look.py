"""Run of all rules, with their findings ranked."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.features.base.registry import KINDS
from workbench.features.explain.graph import Node
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.record import (
    FAILED,
    LACKING,
    FindingRecord,
    FindingsRecord,
    NotLooked,
    Subject,
)
from workbench.features.findings.registry import AdvisorRule, rules

_NEEDED = {  # facts in the words of a user, where the name of the feature that makes them is another
    "explained": "explanation",
    "profiled": "profile",
    "weights": "weights",
    "source_weights": "weights",
    "preparation": "record of the preparation",
    "run": "measured run",
    "log": "log",
    "memory": "memory profile",
    "scaling": "thread scan",
    "layers": "layer errors",
    "layer_noise": "layer errors",
    "accuracy": "labels",
    "agreement": "comparison",
    "verdict": "comparison",
    "gpu": "GPU",
}
_CONFIDENCE = ("sure", "likely", "maybe")
WEIGHTS: dict[Subject, float] = {  # of a share, so that the gains of all subjects stand in one list
    "time": 1.0,
    "correctness": 2.0,
    "accuracy": 1.0,
    "memory": 0.3,
    "load": 0.2,
}


def look(evidence: Evidence, chosen: Sequence[AdvisorRule] | None = None) -> FindingsRecord:
    """Run every rule whose facts are known; list a failing rule with its cause and continue."""
    findings: list[FindingRecord] = []
    looked: list[str] = []
    not_looked: list[NotLooked] = []
    words = {kind.fact: kind.name for kind in KINDS} | _NEEDED
    for known in rules() if chosen is None else chosen:
        missing = [f"no {words.get(need, need)}" for need in known.needs if not evidence.has(need)]
        if missing:
            not_looked.append(NotLooked(known.id, LACKING.join(dict.fromkeys(missing))))
            continue
        try:
            findings += known.look(evidence)
        except Exception as error:  # noqa: BLE001 - a rule meets graphs that nobody thought of
            not_looked.append(NotLooked(known.id, f"{FAILED}{type(error).__name__}: {str(error)[:200]}"))
        else:
            looked.append(known.id)
    return FindingsRecord(
        model_name=evidence.model_name,
        config=evidence.config,
        run_s=evidence.run_s,
        findings=tuple(sorted(findings, key=rank)),
        looked=tuple(looked),
        not_looked=tuple(not_looked),
        fine=tuple(fine(evidence)),
    )


def rank(finding: FindingRecord) -> tuple[bool, float, int, str]:
    """Return the sort key: correctness first, then the predicted share, then confidence."""
    share = 1.0 if finding.gain.subject == "correctness" else finding.gain.share or 0.0
    weight = WEIGHTS[finding.gain.subject]
    return (finding.is_small, -share * weight, _CONFIDENCE.index(finding.confidence), finding.id)


def fine(evidence: Evidence) -> list[str]:
    """Return descriptions of what is already right."""
    texts = []
    convolutions, run, weights = evidence.of("Conv", "FusedConv"), evidence.run, evidence.weights
    if convolutions and all(_is_blocked(evidence.node(node.node)) for node in convolutions):
        texts.append(f"all {len(convolutions)} convolutions use the blocked layout")
    if run is not None and run.threads is not None and run.threads <= evidence.cores:
        texts.append(f"{run.threads} threads on {evidence.cores} usable cores")
    if weights is not None and not any(weight.denormals or weight.non_finite for weight in weights.weights):
        texts.append("every weight is a normal, finite number")
    return texts


def _is_blocked(node: Node | None) -> bool:
    return node is not None and node.domain == "com.microsoft.nchwc"
