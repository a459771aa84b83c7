"""The list of rules. `@rule("id", needs=(…), …)` above a generator of findings registers a rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module

from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import MOST_LISTED, FindingRecords

FAMILIES = (
    "fusion",
    "patterns",
    "layout",
    "operators",
    "shapes",
    "int8",
    "integers",
    "calibration",
    "accuracy",
    "model_file",
    "decoders",
    "providers",
    "gpu",
    "engines",
    "threads",
    "roofs",
    "loading",
    "ort_warnings",
)
Find = Callable[[Evidence], FindingRecords]


@dataclass(frozen=True, slots=True)
class AdvisorRule:
    """One rule: the facts that it needs, its meaning, and its function."""

    id: str
    family: str
    needs: tuple[str, ...]  # names of facts of Evidence
    meaning: str
    recognised: str
    advice: str
    source: str
    find: Find

    def look(self, evidence: Evidence) -> FindingRecords:
        """Yield what the rule finds, with its id and the time of its nodes, of which the first are listed."""
        for finding in self.find(evidence):
            runs = evidence.named(finding.nodes)
            yield replace(
                finding,
                id=self.id,
                nodes=finding.nodes[:MOST_LISTED],
                node_count=len(finding.nodes),
                cost_s=evidence.cost_s(runs) if runs else None,
                cost_share=evidence.share(runs) if runs else None,
            )


_RULES: dict[str, AdvisorRule] = {}


def rule(
    id: str, *, needs: tuple[str, ...] = (), recognised: str, advice: str, source: str
) -> Callable[[Find], Find]:
    """Register a rule. The first line of the docstring is the rule's meaning."""

    def register(find: Find) -> Find:
        meaning = (find.__doc__ or "").strip().splitlines()[0]
        family = find.__module__.rpartition(".")[2]
        _RULES[id] = AdvisorRule(id, family, needs, meaning, recognised, advice, source, find)
        return find

    return register


def rules() -> tuple[AdvisorRule, ...]:
    """Return every rule, family by family."""
    for family in FAMILIES:
        import_module(f"workbench.features.findings.rules.{family}")
    return tuple(sorted(_RULES.values(), key=lambda known: (FAMILIES.index(known.family), known.id)))
