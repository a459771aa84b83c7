"""The list of rules, each `@rule("id", needs=(…), …)` above a generator of findings; the fixes they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from workbench.core.config import Provider
from workbench.core.models.graph import Node
from workbench.features.base.registry import KINDS
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import MOST_LISTED, FindingRecords
from workbench.features.findings.record import (
    FAILED,
    LACKING,
    FindingRecord,
    FindingsRecord,
    Fix,
    NotLooked,
    Subject,
)

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


def judges_accuracy(record: FindingsRecord) -> bool:
    """Return whether rules looked at the accuracy on labelled examples."""
    return any(known.id in record.looked for known in rules() if "accuracy" in known.needs)


LEAST_SQNR_DB = 60.0  # the bound for any rewrite of float32


def config_fix(evidence: Evidence, text: str, **changes: Any) -> Fix:
    """Return a fix that changes these fields of the config."""
    return Fix("config", text, config=evidence.config.replace(**changes))


def precision_fix(evidence: Evidence, text: str, **changes: Any) -> Fix:
    """Return a fix that changes these fields of the precision, which the config has."""
    assert evidence.config.precision is not None
    return config_fix(evidence, text, precision=replace(evidence.config.precision, **changes))


def without_passes(evidence: Evidence, *names: str) -> tuple[str, ...]:
    """Return the passes that the config turns off, and these."""
    return tuple(dict.fromkeys((*evidence.config.disabled_passes, *names)))


def provider_of(evidence: Evidence, name: str) -> Provider | None:
    """Return the provider of this name in the config, or None."""
    return next((provider for provider in evidence.config.providers if provider.name == name), None)


def options_fix(
    evidence: Evidence, provider: Provider, text: str, options: Mapping[str, str | None], **changes: Any
) -> Fix:
    """Return a fix that sets these options of a provider (None leaves one out), and makes further changes."""
    kept = {key: value for key, value in {**dict(provider.options), **options}.items() if value is not None}
    changed = Provider(provider.name, kept)
    providers = tuple(
        changed if other.name == provider.name else other for other in evidence.config.providers
    )
    return config_fix(evidence, text, providers=providers, **changes)


def rewrite_fix(evidence: Evidence, name: str, text: str, code: str = "") -> Fix:
    """Return a fix with this rewrite added to the config, or a text alone if the config has the rewrite."""
    config = evidence.config
    if name in config.rewrites:
        return Fix("rewrite", f"{text}; {name}, which the config has, cannot", rewrite=name, code=code)
    return Fix(
        "config",
        f"{text}: rewrites=({name!r},)",
        config=config.replace(rewrites=(*config.rewrites, name)),
        rewrite=name,
        code=code,
        least_sqnr_db=LEAST_SQNR_DB if config.precision is None else None,
    )


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
