"""Operators that cost more than an equivalent form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from onnx import TensorProto, numpy_helper

from workbench.advisor.evidence import Evidence, names_of
from workbench.advisor.registry import rule
from workbench.advisor.rewriting import rewrite_fix
from workbench.analysis.graph import Node
from workbench.analysis.slower.profiled_config import NodeRun
from workbench.records.findings import FindingRecord, Fix
from workbench.rewrites.products import product_of

if TYPE_CHECKING:
    from onnx import NodeProto

LEAST_SHARE = 0.03
EINSUM_SHARE = 0.02
TRANSPOSE_SHARE = 0.10
LOOP_SHARE = 0.20
CHEAP_EXPONENTS = {
    0.5: "Sqrt",
    -0.5: "Sqrt and Reciprocal",
    1.0: "nothing",
    4.0: "two Mul",
    -1.0: "Reciprocal",
}
LOOP_FASTER = 18.0  # one product against 64 steps: 11 and 13 times on an Intel Xeon, 15 and 17 on an AMD EPYC
ATTENTION_TRANSPOSES = 4  # needed by a block of attention


@rule(
    "general-power",
    needs=("profiled",),
    recognised="Pow with a constant exponent of 0.5, -0.5, 1, -1 or 4 takes at least 3 % of a run",
    advice="spell it out: Sqrt, Reciprocal, Mul",
    source="predicted 1.32 times, measured 1.35 (1.17 to 1.55)",
)
def general_power(evidence: Evidence) -> Iterator[FindingRecord]:
    """Pow computes a simple exponent by the general method."""
    exponents: dict[str, float] = {}
    for run in evidence.of("Pow"):
        exponent = _exponent(evidence, run)
        if exponent is not None and exponent in CHEAP_EXPONENTS:
            exponents[run.node] = exponent
    runs = evidence.named(exponents)
    cost_s = evidence.cost_s(runs)
    if not runs or evidence.share_of(cost_s) < LEAST_SHARE:
        return
    values = ", ".join(f"{value:g}" for value in sorted(set(exponents.values())))
    yield FindingRecord(
        "general-power",
        f"Pow with exponent {values} is computed the general way",
        (f"it takes {evidence.share_of(cost_s) * 100:.0f} % of a run",),
        names_of(runs),
        "sure",
        evidence.time_gain(cost_s * 0.95, "sure"),
        rewrite_fix(evidence, "power-spelled-out", "replace it by Sqrt, Reciprocal or Mul"),
    )


@rule(
    "einsum",
    needs=("profiled",),
    recognised="Einsum takes at least 2 % of a run",
    advice="write it as MatMul with the transposes that it needs",
    source="1.08 to 1.13 times (1.06 to 1.17)",
)
def einsum(evidence: Evidence) -> Iterator[FindingRecord]:
    """Einsum adds transposes that a MatMul does not need."""
    runs = evidence.of("Einsum")
    cost_s = evidence.cost_s(runs)
    if not runs or evidence.share_of(cost_s) < EINSUM_SHARE:
        return
    yield FindingRecord(
        "einsum",
        f"{len(runs)} Einsum node{'s' * (len(runs) > 1)} cost transposes that a MatMul does not need",
        (f"they take {evidence.share_of(cost_s) * 100:.0f} % of a run",),
        names_of(runs),
        "likely",
        evidence.time_gain(cost_s * 0.35, "likely"),
        _einsum_fix(evidence, runs),
    )


def _einsum_fix(evidence: Evidence, runs: tuple[NodeRun, ...]) -> Fix:
    """Return the rewrite if some equation is one product, else advice for the exporter."""
    code = "torch.matmul(a, b)"
    graph = evidence.ran
    nodes = [graph.by_key[run.node] for run in runs if run.node in graph.by_key] if graph else []
    protos = [evidence.protos.get(node.outputs[0]) for node in nodes]
    if any(proto is not None and product_of(proto) is not None for proto in protos):
        return rewrite_fix(evidence, "einsum-spelled-out", "replace it by MatMul", code)
    return Fix("export", "write the product with matmul in the model's code", code=code)


@rule(
    "cast-pairs",
    needs=("profiled",),
    recognised="a Cast whose only reader casts back to the element type that it came from",
    advice="leave both casts out, or export without autocast",
    source="1.06 times (1.03 to 1.10)",
)
def cast_pairs(evidence: Evidence) -> Iterator[FindingRecord]:
    """Tensors are cast to another type and directly back."""
    graph = evidence.ran
    if graph is None or evidence.config.precision is not None:
        return
    pairs = [
        (first, second)
        for first in graph.nodes
        if first.op_type == "Cast"
        for second in evidence.users(first)
        if second.op_type == "Cast" and _returns(evidence, first, second)
    ]
    runs = evidence.named(node.key for pair in pairs for node in pair)
    cost_s = evidence.cost_s(runs)
    if not runs:
        return
    yield FindingRecord(
        "cast-pairs",
        f"{len(pairs)} tensors are cast and cast back",
        (f"the casts take {evidence.share_of(cost_s) * 100:.1f} % of a run",),
        names_of(runs),
        "likely",
        evidence.time_gain(cost_s, "likely"),
        rewrite_fix(
            evidence,
            "cast-pairs-removed",
            "leave both casts out",
            "export in one precision, without autocast",
        ),
        caution="without the detour the outputs change in their last digits",
    )


@rule(
    "float64-island",
    needs=("profiled",),
    recognised="nodes that compute in float64 in a float32 model take at least 3 % of a run",
    advice="convert constants and buffers to float32; measure it",
    source="half the bytes, but a fusion that it lets in may be slower",
)
def float64_island(evidence: Evidence) -> Iterator[FindingRecord]:
    """Part of a float32 model computes in float64."""
    graph = evidence.ran
    if graph is None:
        return
    wide = [
        node
        for node in graph.nodes
        if node.op_type != "Cast"
        and any(
            _element(evidence, name) == TensorProto.DOUBLE for name in (*node.inputs, *node.outputs) if name
        )
    ]
    runs = evidence.named(node.key for node in wide)
    cost_s = evidence.cost_s(runs)
    if not runs or evidence.share_of(cost_s) < LEAST_SHARE or len(wide) == len(graph.nodes):
        return
    yield FindingRecord(
        "float64-island",
        f"{len(runs)} nodes compute in float64",
        (f"they take {evidence.share_of(cost_s) * 100:.0f} % of a run",),
        names_of(runs),
        "maybe",
        evidence.time_gain(cost_s * 0.5, "maybe"),
        Fix("export", "make constants and buffers float32 before the export", code="model.float()"),
        caution="sums of many large numbers may need float64",
    )


@rule(
    "transposes",
    needs=("profiled",),
    recognised="Transpose takes at least 10 % of a run",
    advice="export in the channel order that ORT computes in (channels first)",
    source="models from other frameworks carry their layout with them",
)
def transposes(evidence: Evidence) -> Iterator[FindingRecord]:
    """Transposes take a large part of the run."""
    runs = evidence.of("Transpose")
    cost_s = evidence.cost_s(runs)
    if not runs or evidence.share_of(cost_s) < TRANSPOSE_SHARE:
        return
    softmaxes = len(evidence.of("Softmax"))
    if softmaxes and len(runs) <= ATTENTION_TRANSPOSES * softmaxes:
        return
    yield FindingRecord(
        "transposes",
        f"{len(runs)} transposes take {evidence.share_of(cost_s) * 100:.0f} % of a run",
        (),
        names_of(runs),
        "likely",
        evidence.time_gain(cost_s * 0.7, "likely"),
        Fix("export", "export with channels first", code="tf2onnx … --inputs-as-nchw input"),
    )


@rule(
    "loop-of-products",
    needs=("profiled",),
    recognised="a Loop or Scan takes at least 20 % of a run and its body runs 16 times or more",
    advice="compute all steps in one product where a step does not need the one before",
    source="a Loop of 64 steps against one MatMul: 11.2 times",
)
def loop_of_products(evidence: Evidence) -> Iterator[FindingRecord]:
    """A loop repeats small operators that one large operator could replace."""
    loops = evidence.of("Loop", "Scan")
    if evidence.profiled is None or not loops:
        return
    graph = evidence.ran
    bodies = {} if graph is None else _bodies(graph.nodes)
    for loop in loops:
        inside = bodies.get(loop.node, ())
        cost_s = evidence.cost_s((loop, *evidence.named(inside), *_in_bodies(evidence, inside)))
        if evidence.share_of(cost_s) < LOOP_SHARE:
            continue
        yield FindingRecord(
            "loop-of-products",
            f"{loop.op_type} repeats small operators one step after the other",
            (f"it takes {evidence.share_of(cost_s) * 100:.0f} % of a run",),
            names_of((loop.node, *bodies.get(loop.node, ()))),
            "maybe",
            evidence.time_gain(cost_s * (1 - 1 / LOOP_FASTER), "maybe"),
            _loop_fix(evidence, loop),
            caution="a loop that carries a state from step to step cannot be unrolled so",
        )


def _loop_fix(evidence: Evidence, loop: NodeRun) -> Fix:
    """Return the rewrite of a Loop that carries no state, else advice for the exporter."""
    text = "write the steps as one batched operator where no step needs the one before"
    graph = evidence.ran
    node = None if graph is None else graph.by_key.get(loop.node)
    proto = None if node is None or not node.outputs else evidence.protos.get(node.outputs[0])
    if proto is not None and proto.op_type == "Loop" and len(proto.input) == 2:
        return rewrite_fix(evidence, "loop-to-product", "compute all steps at once")
    return Fix("export", text)


def _in_bodies(evidence: Evidence, keys: tuple[str, ...]) -> tuple[NodeRun, ...]:
    """Return the runs of nodes in bodies, which a profile lists without their scope."""
    return evidence.named(name for key in keys if (name := key.rpartition("::")[2]) != key)


def _bodies(nodes: tuple[Node, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return the nodes inside each control-flow node."""
    bodies: dict[str, list[str]] = {}
    for node in nodes:
        if node.scope:
            bodies.setdefault(node.scope.partition("/")[0], []).append(node.key)
    return {name: tuple(keys) for name, keys in bodies.items()}


def _exponent(evidence: Evidence, run: NodeRun) -> float | None:
    """Return the constant exponent of a Pow; None for a computed one."""
    node = None if evidence.ran is None else evidence.ran.by_key.get(run.node)
    if node is None or len(node.inputs) < 2:
        return None
    return constant(evidence, node.inputs[1])


def constant(evidence: Evidence, name: str) -> float | None:
    """Return the value of a scalar initializer or Constant node, if any."""
    graph = evidence.structure.graph
    tensor = next((tensor for tensor in graph.initializer if tensor.name == name), None)
    maker: NodeProto | None = evidence.protos.get(name)
    if tensor is None and maker is not None and maker.op_type == "Constant":
        tensor = next((a.t for a in maker.attribute if a.name == "value"), None)
    if tensor is None or any(dim != 1 for dim in tensor.dims):
        return None
    try:
        return float(numpy_helper.to_array(tensor).reshape(-1)[0])
    except (TypeError, ValueError, IndexError):  # the payload is missing, or is no number
        return None


def _returns(evidence: Evidence, first: Node, second: Node) -> bool:
    """Return whether the second cast restores the element type before the first cast."""
    start = _element(evidence, first.inputs[0])
    return start is not None and start == _element(evidence, second.outputs[0])


def _element(evidence: Evidence, name: str) -> int | None:
    info = evidence.info(name)
    return None if info is None else info.element
