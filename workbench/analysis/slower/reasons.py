"""All reasons why a candidate is not faster, the costliest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench.analysis.slower import general_rules, quantized
from workbench.analysis.slower.pair import Pair
from workbench.analysis.slower.profiled_config import INTEGER
from workbench.records.reasons import Reason, WhySlowerRecord

RULES: tuple[Callable[[Pair], Iterator[Reason]], ...] = (
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


def why_slower(
    model_name: str, pair: Pair, measured: str, times_s: tuple[float, float] | None = None
) -> WhySlowerRecord:
    """All reasons, the costliest first. `times_s` of both where they were measured better than here."""
    side = pair.candidate
    integer = side.of(INTEGER)
    found = [reason for rule in RULES for reason in rule(pair)]
    found.sort(key=lambda one: -(one.cost_s or 0.0))
    baseline_s, candidate_s = times_s or (pair.baseline.run_s, side.run_s)
    return WhySlowerRecord(
        model_name=model_name,
        baseline=pair.baseline.label,
        candidate=side.label,
        baseline_s=baseline_s,
        candidate_s=candidate_s,
        measured=measured,
        integer_nodes=len(integer),
        integer_share=side.share(integer),
        node_count=len(side.nodes),
        reasons=tuple(found),
    )
