"""Evidence made by hand: a chain of nodes with their times in µs."""

from __future__ import annotations

import re
from typing import Any

from tests.factories.profiled_configs import machine, model, profiled
from workbench.core.config import Config
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.record import FindingRecord
from workbench.features.findings.rule import rules


def evidence(nodes: Any, constants: Any = (), *, config: Config | None = None, **facts: Any) -> Evidence:
    """Return evidence with a profile of these nodes."""
    return Evidence(
        model_name="chain",
        config=config or Config(),
        machine=facts.pop("machine", machine()),
        structure=facts.pop("structure", model(nodes, constants)),
        profiled=profiled(nodes, constants),
        **facts,
    )


def say(rule_id: str, facts: Evidence) -> list[FindingRecord]:
    """Return what one rule finds; its titles count one thing in the singular."""
    (rule,) = [rule for rule in rules() if rule.id == rule_id]
    findings = list(rule.look(facts))
    plurals = [finding.title for finding in findings if re.search(r"\b1 (?!of\b)\w*[^s\W]s\b", finding.title)]
    assert plurals == []
    return findings
