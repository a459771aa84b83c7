"""Nodes far below the machine's measured peaks, with what is known to keep such an operator there."""

from __future__ import annotations

from collections import defaultdict

from onnx import TensorProto

from workbench.core.text import counted, in_ms
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import rule
from workbench.features.findings.rules.layout import NCHWC
from workbench.features.profile.roofline.node_limits import NodeLimit

FAR_BELOW = 0.1  # of the peak for the node's arithmetic, or of the memory's where that binds it
_LEAST_SHARE = 0.05  # of a run
LEAST_CALL_S = (
    250e-6  # a shorter one is mostly the start of kernel and threads, or what disturbed the profile
)
_WHOLE_NUMBERS = frozenset(
    (TensorProto.INT32, TensorProto.INT64, TensorProto.UINT32, TensorProto.UINT64)
)  # fmt: skip
_PRODUCTS = ("MatMul", "Gemm", "FusedMatMul")
_STEPS = "its steps run one after the other, each a small product", "a convolution or attention has no steps"
_FUNCTION = (
    "the function is computed element by element, without vector instructions",
    "compute it once, as a constant, where its input is always the same",
)
_CAUSES = {  # operator: why it is slow, and what to do
    "Pow": (
        "exponents other than 2 and 3 are computed element by element, without vector instructions",
        "write products with Mul, and roots with Sqrt and Reciprocal",
    ),
    "CumSum": (
        "a running sum is added element by element on one thread",
        "multiply by a triangular matrix of ones where the axis is short",
    ),
    **dict.fromkeys(("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh"), _FUNCTION),
    **dict.fromkeys(("LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"), _STEPS),
}
_CUBIC = (
    "cubic interpolation weighs 16 neighbours for each element, without vector instructions",
    'export mode="linear" or "nearest" where the accuracy allows it',
)
_WHOLE = (
    "products of 32-bit and 64-bit integers have no kernel as fast as that of float32",
    "cast to float32 where every value stays below 2**24, or quantize to int8",
)
_ONE_DIMENSIONAL = (
    "a convolution over one dimension misses the blocked layout, which is for images",
    "compute it as a two-dimensional one of height 1, and measure",
)
_NOT_BLOCKED = (
    "outside of the blocked layout a convolution multiplies unrolled windows, group by group",
    "use the level all, and see the findings on the blocked layout",
)
_UNKNOWN = ("no cause is known for this operator", "profile the operator alone, in a model of one node")


@rule(
    "far-below-its-roof",
    needs=("roofline",),
    recognised="a node that takes a twentieth of a run reaches less than a tenth of the peak that was "
    "measured for its arithmetic in its fastest run; calls under 0.25 ms do not count",
    advice="replace the operator or its type by one that has a fast kernel",
    source="share of the roof on two shared cores: Resize (cubic) 0.4 %, Pow with 1.7 3.7 %, CumSum 5.7 %, "
    "MatMul of int32 7.6 %, Sin 9.7 %, convolutions over one dimension of a speech detector 2.5 to 8.5 %, "
    "depthwise ones outside of the blocked layout 2.1 and 4.6 %",
)
def far_below_its_roof(evidence: Evidence) -> FindingRecords:
    """A node takes ten times as long as the machine's measured peaks would need."""
    roofline = evidence.roofline
    if roofline is None:
        return
    by_cause: dict[tuple[str, str], list[NodeLimit]] = defaultdict(list)
    for node in sorted(roofline.nodes, key=lambda node: -node.time_s):
        if node.time_s > _LEAST_SHARE * roofline.run_s and _is_far_below(node):
            by_cause[_cause_of(evidence, node)].append(node)
    for (cause, advice), nodes in by_cause.items():
        names = ", ".join(dict.fromkeys(node.op_type for node in nodes))
        slowest = nodes[0].undisturbed
        when = "a run" if slowest.fastest_s is None else "its fastest run"
        yield finding(
            f"{counted(len(nodes), 'node')} far below the roof: {names}",
            f"{slowest.node}: {(slowest.achieved or 0.0) * 100:.1f} % of the peak that binds it "
            f"({slowest.bound}), {in_ms(slowest.time_s)} in {when} instead of "
            f"{in_ms(slowest.limit_s or 0.0)}",
            cause,
            *roofline.doubts,
            forecast=Forecast.unknown("time", "maybe", [node.node for node in nodes]),
            fix=Fix("export", advice),
        )


def _is_far_below(node: NodeLimit) -> bool:
    """Judge by the fastest run: beside other work every node is far below."""
    fastest = node.undisturbed
    if fastest.achieved is None or node.calls_per_run <= 0:
        return False
    return fastest.achieved < FAR_BELOW and fastest.time_s / node.calls_per_run >= LEAST_CALL_S


def _cause_of(evidence: Evidence, node: NodeLimit) -> tuple[str, str]:
    """Return the known cause by operator and type, and what to do."""
    ran, proto = evidence.node(node.node), evidence.proto(node.node)
    first = None if ran is None or not ran.inputs else evidence.info(ran.inputs[0])
    weight = evidence.weight_of(node.node)
    if node.op_type in _PRODUCTS and first is not None and first.element in _WHOLE_NUMBERS:
        return _WHOLE
    if node.op_type in ("Conv", "FusedConv") and weight is not None and ran is not None:
        if len(weight.dims or ()) == 3:
            return _ONE_DIMENSIONAL
        if ran.domain != NCHWC:
            return _NOT_BLOCKED
    modes = [attribute.s for attribute in proto.attribute if attribute.name == "mode"] if proto else []
    if node.op_type == "Resize" and modes == [b"cubic"]:
        return _CUBIC
    return _CAUSES.get(node.op_type, _UNKNOWN)
