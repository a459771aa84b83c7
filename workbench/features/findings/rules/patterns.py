"""Patterns of several nodes that could be one operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.core.models.graph import Node
from workbench.features.explain.passes.missed import Missed
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import rewrite_fix, rule, without_passes
from workbench.features.findings.rules.operators import constant

GELU_SAVED = 0.6
LAYER_NORM_OPSET = 17
TANH_FACTOR = 0.7978846  # the square root of 2 / pi
# From an operator to those before or after it that belong to the same pattern
GELU_BEFORE = {"Erf": ("Div", "Mul"), "Tanh": ("Mul",), "Mul": ("Add", "Mul", "Pow"), "Add": ("Mul",)}
GELU_AFTER = {"Erf": ("Add",), "Tanh": ("Add",), "Add": ("Mul",), "Mul": ("Mul",)}
LAYER_NORM = {
    "Div": ("Sub", "Sqrt"),
    "Sub": ("ReduceMean",),
    "Sqrt": ("Add",),
    "Add": ("ReduceMean",),
    "ReduceMean": ("Pow", "Mul"),
    "Pow": ("Sub",),
    "Mul": ("Sub",),
}


@rule(
    "gelu-not-fused",
    needs=("explained", "profiled"),
    recognised="the nodes of a GELU, with erf or tanh, were not fused into one",
    advice="rewrite it as one operator, or export with opset 20, whose Gelu is one operator",
    source="1.05 times for the forms that ORT does not know",
)
def gelu_not_fused(evidence: Evidence) -> FindingRecords:
    """GELU runs as several nodes."""
    misses, anchors = _misses(evidence, "gelu", "Erf")
    anchors += [node for node in evidence.nodes if node.op_type == "Tanh" and _is_gelu(evidence, node)]
    nodes = [
        near
        for anchor in anchors
        for near in (
            *_nearby(evidence, anchor, GELU_BEFORE, steps=1 if anchor.op_type == "Erf" else 5, private=True),
            *_nearby(evidence, anchor, GELU_AFTER, steps=3, forward=True),
        )
    ]
    runs = evidence.named(node.key for node in nodes)
    if not runs:
        return
    code = "torch.onnx.export(model, inputs, path, dynamo=True, opset_version=20)"
    yield finding(
        f"GELU runs as several nodes, in {len(anchors)} place{'s' * (len(anchors) > 1)}",
        f"they take {evidence.percent(runs, 1)} of a run",
        *_reasons(misses),
        forecast=evidence.saving(runs, GELU_SAVED, "sure"),
        fix=rewrite_fix(evidence, "gelu-to-one-node", "make it one operator", code),
    )


def _is_gelu(evidence: Evidence, tanh: Node) -> bool:
    """Return whether x * (1 + tanh(…)) follows, and a factor of the square root of 2 / pi stands before."""
    before = _nearby(evidence, tanh, GELU_BEFORE, steps=1)[1:]
    after = _nearby(evidence, tanh, GELU_AFTER, steps=2, forward=True)[1:]
    names = [name for node in before for name in node.inputs]
    values = [constant(evidence, name) for name in names]
    is_scaled = any(value is not None and abs(value - TANH_FACTOR) < 1e-3 for value in values)
    return is_scaled and {"Add", "Mul"} <= {node.op_type for node in after}


@rule(
    "layer-norm-not-fused",
    needs=("explained", "profiled"),
    recognised="ReduceMean, Sub, Pow, Sqrt and Div of a LayerNormalization were not fused",
    advice="make it one operator (opset 17 or newer); measure it, since it may turn on a slower fusion",
    source="the unfused form was 1.11 times faster where fusing it brought SkipLayerNormalization in",
)
def layer_norm_not_fused(evidence: Evidence) -> FindingRecords:
    """LayerNormalization runs as several nodes."""
    misses, ends = _misses(evidence, "layer norm", "Div")
    runs = evidence.named(node.key for end in ends for node in _nearby(evidence, end, LAYER_NORM, steps=5))
    if not runs:
        return
    code = "torch.onnx.export(model, inputs, path, opset_version=17)"
    fix = Fix("export", "export it as one operator: opset 17 or newer", code=code)
    if (evidence.prepared.opset("") or 0) >= LAYER_NORM_OPSET:
        fix = rewrite_fix(evidence, "layer-norm-to-one-node", "make it one operator", code)
        if fix.config is not None:
            disabled = without_passes(evidence, "SkipLayerNormFusion")
            fix = replace(fix, config=fix.config.replace(disabled_passes=disabled))
    yield finding(
        f"LayerNormalization runs as several nodes, in {len(ends)} place{'s' * (len(ends) > 1)}",
        f"they take {evidence.percent(runs, 1)} of a run",
        *_reasons(misses),
        forecast=evidence.saving(runs, 0.5, "maybe"),
        fix=fix,
        caution="with SkipLayerNormFusion it may get slower on the CPU, so the fix leaves that out",
    )


def _is_batch_norm(evidence: Evidence, name: str, source: str) -> bool:
    """Return whether an executed node is this normalization, also as a convolution of each channel."""
    node = evidence.node(name)
    return node is not None and (node.op_type == "BatchNormalization" or name == f"{source}_bn_nchwc")


@rule(
    "conv-batch-norm-not-folded",
    needs=("explained", "profiled"),
    recognised="a BatchNormalization beside a convolution was not folded into its weights",
    advice="make the weights constants, or fold it by hand where the convolution has several readers",
    source="1.06 times for a batch norm before a convolution",
)
def batch_norm_not_folded(evidence: Evidence) -> FindingRecords:
    """Batch normalization was not folded into the convolution."""
    assert evidence.explained is not None
    graph = evidence.prepared
    left: dict[str, tuple[str, ...]] = {}
    foldable = False
    for source in evidence.explained.provenance.account.sources:
        node = graph.by_key.get(source.node)
        own = tuple(end for end in source.into if _is_batch_norm(evidence, end, source.node))
        if source.op_type != "BatchNormalization" or node is None or not own:
            continue
        maker = graph.producers.get(node.inputs[0])
        readers = graph.readers.get(node.outputs[0], ())
        before = maker is not None and maker.op_type == "Conv"
        if before or any(reader.op_type == "Conv" for reader in readers):
            left[source.node] = own
            alone = before and maker is not None and len(graph.readers.get(maker.outputs[0], ())) == 1
            foldable |= alone or (not before and len(readers) == 1)
    runs = evidence.named(end for ends in left.values() for end in ends)
    if not runs:
        return
    misses = [miss for miss in evidence.missed if miss.pattern == "conv + batch norm"]
    fix = Fix("export", "let the normalization alone read the convolution, then export", code="model.eval()")
    if foldable:
        fix = rewrite_fix(evidence, "batch-norm-folded", "fold it into the convolution", "model.eval()")
    yield finding(
        "Batch normalization was not folded into the convolution, "
        f"in {len(left)} place{'s' * (len(left) > 1)}",
        f"it takes {evidence.percent(runs, 1)} of a run",
        *_reasons(misses),
        forecast=evidence.saving(runs, 0.9, "sure", interval="likely"),
        fix=fix,
    )


def _misses(evidence: Evidence, pattern: str, op_type: str) -> tuple[list[Missed], list[Node]]:
    """Return the missed fusions of a pattern that the config allowed, and the nodes that stopped them."""
    misses = [
        miss for miss in evidence.missed if miss.reason_from != "the config" and miss.pattern == pattern
    ]
    nodes = [evidence.node(key) for miss in misses for key in miss.stopped_at]
    return misses, [node for node in nodes if node is not None and node.op_type == op_type]


def _reasons(misses: list[Missed]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(miss.reason for miss in misses if miss.reason))[:3]


def _nearby(
    evidence: Evidence,
    start: Node,
    links: Mapping[str, tuple[str, ...]],
    *,
    steps: int,
    forward: bool = False,
    private: bool = False,
) -> tuple[Node, ...]:
    """Return the nodes that are reached from one by these links between operators, the start first.

    `private`: only those with one reader, where the source of the pattern has several.
    """
    neighbours = evidence.users if forward else evidence.makers
    reached, edge = {start.key: start}, [start]
    for _ in range(steps):
        near = [other for node in edge for other in neighbours(node)
                if other.op_type in links.get(node.op_type, ()) and other.key not in reached
                and not (private and len(evidence.users(other)) > 1)]  # fmt: skip
        reached |= {node.key: node for node in near}
        edge = near
    return tuple(reached.values())
