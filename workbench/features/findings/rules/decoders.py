"""Models that generate text: work that generation does not need."""

from __future__ import annotations

from dataclasses import replace

from workbench.core.models.graph import Graph, Node
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import rewrite_fix, rule

_VOCABULARY = 10_000
LOGITS_SHARE = 0.10
CAUSAL = ("Trilu",)  # the mask of a decoder, as exporters write it
PAST = ("past", "cache", "present")


@rule(
    "logits-of-every-position",
    needs=("profiled",),
    recognised="the last product has 10,000 or more columns, takes 10 % of a run, and has several rows",
    advice="compute the logits of the last position only",
    source="generation reads the last position only",
)
def logits_of_every_position(evidence: Evidence) -> FindingRecords:
    """Logits are computed for every position, but generation reads only the last one."""
    graph = evidence.ran
    if graph is None:
        return
    runs = evidence.named(
        node.key for node in vocabulary_products(graph) if (evidence.rows(node.key) or 2) > 1
    )
    if evidence.share(runs) < LOGITS_SHARE:
        return
    rows = max(evidence.rows(run.node) or 10 for run in runs)
    fix = rewrite_fix(
        evidence, "logits-of-last-position", "compute the last position only", "num_logits_to_keep=1"
    )
    yield finding(
        "Logits are computed for every position",
        f"the last product takes {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 1 - 1 / rows, "likely"),
        fix=replace(fix, kind="rewrite"),  # it changes the shape of the output, so nothing tries it unasked
        caution="training and perplexity need every position",
    )


@rule(
    "no-key-value-cache",
    recognised="a causal mask, logits over a vocabulary of 10,000, and no input for past keys and values",
    advice="export with past keys and values as inputs and outputs",
    source="without them each new token computes all earlier ones again: the cost grows with the length",
)
def no_key_value_cache(evidence: Evidence) -> FindingRecords:
    """Each new token computes all earlier positions again."""
    graph = evidence.prepared
    masks = [node for node in graph.nodes if node.op_type in CAUSAL]
    heads = vocabulary_products(graph)
    has_past = any(word in name.casefold() for name in graph.inputs for word in PAST)
    if not masks or not heads or has_past:
        return
    code = "optimum-cli export onnx --task text-generation-with-past …"
    yield finding(
        "The decoder takes no past keys and values",
        "each new token computes every earlier position again",
        forecast=Forecast.unknown("time", "likely", (*masks, *heads)),
        fix=Fix("export", "export with past keys and values", code=code),
        caution="a model that scores whole texts needs no past",
    )


def vocabulary_products(graph: Graph) -> list[Node]:
    """Return the products that make an output of the model over a large vocabulary."""
    return [
        node
        for node in graph.nodes
        if node.op_type in ("MatMul", "Gemm", "FusedMatMul") and set(node.outputs) & set(graph.outputs)
        and any(
            isinstance(dim, int) and dim >= _VOCABULARY
            for name in node.inputs
            if (info := graph.constants.get(name)) and info.dims
            for dim in info.dims
        )
    ]  # fmt: skip
