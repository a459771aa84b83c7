"""Operators that cost more than an equivalent form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onnx import TensorProto, numpy_helper

from workbench.core.models.graph import Node
from workbench.core.rewrites.products import product_of
from workbench.core.text import counted
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import rewrite_fix, rule
from workbench.features.profile.profiled_config import NodeRun

if TYPE_CHECKING:
    from onnx import NodeProto

_LEAST_SHARE = 0.03
EINSUM_SHARE = 0.02
TRANSPOSE_SHARE = 0.10
LOOP_SHARE = 0.20
CHEAP_EXPONENTS = (0.5, -0.5, 1.0, 4.0, -1.0)  # Sqrt, Sqrt and Reciprocal, nothing, two Mul, Reciprocal
LOOP_FASTER = 18.0  # one product against 64 steps: 11 and 13 times on an Intel Xeon, 15 and 17 on an AMD EPYC
ATTENTION_TRANSPOSES = 4  # needed by a block of attention


@rule(
    "general-power",
    needs=("profiled",),
    recognised="Pow with a constant exponent of 0.5, -0.5, 1, -1 or 4 takes at least 3 % of a run",
    advice="spell it out: Sqrt, Reciprocal, Mul",
    source="predicted 1.32 times, measured 1.35 (1.17 to 1.55)",
)
def general_power(evidence: Evidence) -> FindingRecords:
    """Pow computes a simple exponent by the general method."""
    exponents = {run.node: _exponent(evidence, run) for run in evidence.of("Pow")}
    cheap = {
        name: value for name, value in exponents.items() if value is not None and value in CHEAP_EXPONENTS
    }
    runs = evidence.named(cheap)
    if evidence.share(runs) < _LEAST_SHARE:
        return
    values = ", ".join(f"{value:g}" for value in sorted(set(cheap.values())))
    yield finding(
        f"Pow with exponent {values} is computed the general way",
        f"it takes {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 0.95, "sure"),
        fix=rewrite_fix(evidence, "power-spelled-out", "replace it by Sqrt, Reciprocal or Mul"),
    )


@rule(
    "einsum",
    needs=("profiled",),
    recognised="Einsum takes at least 2 % of a run",
    advice="write it as MatMul with the transposes that it needs",
    source="1.08 to 1.13 times (1.06 to 1.17)",
)
def einsum(evidence: Evidence) -> FindingRecords:
    """Einsum adds transposes that a MatMul does not need."""
    runs = evidence.of("Einsum")
    if evidence.share(runs) < EINSUM_SHARE:
        return
    yield finding(
        f"{len(runs)} Einsum node{'s' * (len(runs) > 1)} cost transposes that a MatMul does not need",
        f"they take {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 0.35, "likely"),
        fix=_einsum_fix(evidence, runs),
    )


def _einsum_fix(evidence: Evidence, runs: tuple[NodeRun, ...]) -> Fix:
    """Return the rewrite if some equation is one product, else advice for the exporter."""
    code = "torch.matmul(a, b)"
    protos = [evidence.proto(run.node) for run in runs]
    if any(proto is not None and product_of(proto) is not None for proto in protos):
        return rewrite_fix(evidence, "einsum-spelled-out", "replace it by MatMul", code)
    return Fix("export", "write the product with matmul in the model's code", code=code)


@rule(
    "cast-pairs",
    needs=("profiled",),
    recognised="a Cast whose only reader casts back to the element type that it came from",
    advice="export without autocast; ORT keeps these casts, since they round values",
    source="1.06 times (1.03 to 1.10) without the casts",
)
def cast_pairs(evidence: Evidence) -> FindingRecords:
    """Tensors are cast to another type and directly back."""
    if evidence.config.precision is not None:
        return
    pairs = [
        (first, second)
        for first in evidence.nodes
        if first.op_type == "Cast" and _is_undone(evidence, first)
        for second in evidence.users(first)
    ]
    runs = evidence.named(node.key for pair in pairs for node in pair)
    if not runs:
        return
    yield finding(
        f"{counted(len(pairs), 'tensor is', 'tensors are')} cast and cast back",
        f"the casts take {evidence.percent(runs, 1)} of a run",
        forecast=evidence.saving(runs, 1, "likely"),
        fix=Fix("export", "export in one precision, without autocast"),
        caution="a cast to a narrower type rounds: without it the outputs change in their last digits",
    )


@rule(
    "float64-island",
    needs=("profiled",),
    recognised="nodes that compute in float64 in a float32 model take at least 3 % of a run",
    advice="convert constants and buffers to float32; measure it",
    source="half the bytes, but a fusion that it lets in may be slower",
)
def float64_island(evidence: Evidence) -> FindingRecords:
    """Part of a float32 model computes in float64."""
    wide = [
        node
        for node in evidence.nodes
        if node.op_type != "Cast"
        and any(
            _element(evidence, name) == TensorProto.DOUBLE for name in (*node.inputs, *node.outputs) if name
        )
    ]
    runs = evidence.named(node.key for node in wide)
    if evidence.share(runs) < _LEAST_SHARE or len(wide) == len(evidence.nodes):
        return
    yield finding(
        f"{counted(len(runs), 'node computes', 'nodes compute')} in float64",
        f"they take {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 0.5, "maybe"),
        fix=Fix("export", "make constants and buffers float32 before the export", code="model.float()"),
        caution="sums of many large numbers may need float64",
    )


@rule(
    "transposes",
    needs=("profiled",),
    recognised="Transpose takes at least 10 % of a run",
    advice="export in the channel order that ORT computes in (channels first)",
    source="models from other frameworks carry their layout with them",
)
def transposes(evidence: Evidence) -> FindingRecords:
    """Transposes take a large part of the run."""
    runs = evidence.of("Transpose")
    if evidence.share(runs) < TRANSPOSE_SHARE:
        return
    softmaxes = len(evidence.of("Softmax"))
    if softmaxes and len(runs) <= ATTENTION_TRANSPOSES * softmaxes:
        return
    yield finding(
        f"{counted(len(runs), 'transpose takes', 'transposes take')} {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 0.7, "likely"),
        fix=Fix("export", "export with channels first", code="tf2onnx … --inputs-as-nchw input"),
    )


@rule(
    "loop-of-products",
    needs=("profiled",),
    recognised="a Loop or Scan takes at least 20 % of a run and its body runs 16 times or more",
    advice="compute all steps in one product where a step does not need the one before",
    source="a Loop of 64 steps against one MatMul: 11.2 times",
)
def loop_of_products(evidence: Evidence) -> FindingRecords:
    """A loop repeats small operators that one large operator could replace."""
    bodies = _bodies(evidence.nodes)
    for loop in evidence.of("Loop", "Scan"):
        inside = bodies.get(loop.node, ())
        runs = (loop, *evidence.named(inside), *_in_bodies(evidence, inside))
        if evidence.share(runs) < LOOP_SHARE:
            continue
        yield finding(
            f"{loop.op_type} repeats small operators one step after the other",
            f"it takes {evidence.percent(runs)} of a run",
            forecast=evidence.saving(runs, 1 - 1 / LOOP_FASTER, "maybe", nodes=(loop.node, *inside)),
            fix=_loop_fix(evidence, loop),
            caution="a loop that carries a state from step to step cannot be unrolled so",
        )


def _loop_fix(evidence: Evidence, loop: NodeRun) -> Fix:
    """Return the rewrite of a Loop that carries no state, else advice for the exporter."""
    proto = evidence.proto(loop.node)
    if proto is not None and proto.op_type == "Loop" and len(proto.input) == 2:
        return rewrite_fix(evidence, "loop-to-product", "compute all steps at once")
    return Fix("export", "write the steps as one batched operator where no step needs the one before")


def _in_bodies(evidence: Evidence, keys: tuple[str, ...]) -> tuple[NodeRun, ...]:
    """Return the runs of nodes in bodies, which a profile lists without their scope."""
    return evidence.named(name for key in keys if (name := key.rpartition("::")[2]) != key)


def _bodies(nodes: tuple[Node, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return the nodes inside each control-flow node."""
    bodies: dict[str, list[str]] = {}
    for node in nodes:
        if node.scope:
            owner = node.scope.partition("::")[0].rpartition("/")[0]  # the name may hold slashes, too
            bodies.setdefault(owner, []).append(node.key)
    return {name: tuple(keys) for name, keys in bodies.items()}


def _exponent(evidence: Evidence, run: NodeRun) -> float | None:
    """Return the constant exponent of a Pow; None for a computed one."""
    node = evidence.node(run.node)
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


def _is_undone(evidence: Evidence, cast: Node) -> bool:
    """Return whether everything that reads the result of a cast casts it back."""
    outputs = () if evidence.ran is None else evidence.ran.outputs
    if set(cast.outputs) & set(outputs):
        return False
    return all(user.op_type == "Cast" and _returns(evidence, cast, user) for user in evidence.users(cast))


def _returns(evidence: Evidence, first: Node, second: Node) -> bool:
    """Return whether the second cast restores the element type before the first cast."""
    start = _element(evidence, first.inputs[0])
    return start is not None and start == _element(evidence, second.outputs[0])


def _element(evidence: Evidence, name: str) -> int | None:
    info = evidence.info(name)
    return None if info is None else info.element
