"""All reasons why a candidate is not faster, the costliest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench.features.findings.reasons import Reason, WhySlowerRecord
from workbench.features.findings.slower import general_rules, quantized
from workbench.features.findings.slower.pair import Pair
from workbench.features.findings.slower.profiled_config import INTEGER
from workbench.features.findings.slower.settings_rules import SettingsRules
from workbench.features.profile.difference.changes import Difference

Rule = Callable[[Pair], Iterator[Reason]]
OTHER_FILE: tuple[Rule, ...] = (  # the configs made different files of the model
    quantized.conv_integer,
    quantized.dynamic,
    quantized.float_layers,
    quantized.qdq_left,
    quantized.few_integer,
    quantized.no_instructions,
    quantized.wide_activations,
    quantized.blockwise_in_float,
    general_rules.casts,
    general_rules.fusions_lost,
    general_rules.fallback,
    general_rules.more_nodes,
    general_rules.longer,
)
SAME_FILE: tuple[Rule, ...] = (general_rules.fallback,)


def why_slower(
    model_name: str, pair: Pair, measured: str, compare_profiles: Callable[[], Difference] | None = None
) -> WhySlowerRecord:
    """Return the reasons that follow from what the configs differ in, the costliest first.

    `compare_profiles` is called only where the settings of the sessions differ, or where no rule applies.
    """
    candidate, difference = pair.candidate, None
    rules = SAME_FILE if pair.same_file else OTHER_FILE
    reasons = [reason for rule in rules for reason in rule(pair)]
    is_slower = candidate.run_s > pair.baseline.run_s
    if compare_profiles is not None and (pair.settings or (is_slower and not reasons)):
        difference = compare_profiles()
        if pair.settings:
            reasons += SettingsRules(pair, difference).reasons()
    reasons.sort(key=lambda reason: -(reason.cost_s or 0.0))
    integer = candidate.of(INTEGER)
    return WhySlowerRecord(
        model_name=model_name,
        baseline=pair.baseline.label,
        candidate=candidate.label,
        baseline_s=pair.baseline.run_s,
        candidate_s=candidate.run_s,
        measured=measured,
        integer_nodes=len(integer),
        integer_share=candidate.share(integer),
        node_count=len(candidate.nodes),
        reasons=tuple(reasons),
        configs=pair.baseline.config.diff(candidate.config).sentence(pair.baseline.label, candidate.label),
        profiles=None if difference is None else str(difference),
    )
