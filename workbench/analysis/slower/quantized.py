"""Reasons of a quantized candidate: where integers do not pay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from workbench.analysis.graph import Node
from workbench.analysis.slower.pair import (
    CPU,
    INT8,
    INT16,
    LEAST_SHARE,
    UINT16,
    Pair,
    counted,
    node_of,
    reason,
    zero_points,
)
from workbench.analysis.slower.profiled_config import (
    BLOCKWISE,
    DEQUANTIZE,
    INTEGER,
    PRODUCTS,
    QUANTIZE,
    NodeRun,
    ProfiledConfig,
)
from workbench.records.reasons import Reason
from workbench.text import in_ms

FEW_INTEGER_SHARE = 0.3
X86_INTEGER = ("avx512_vnni", "avx_vnni", "amx_int8")
ARM_INTEGER = ("asimddp", "i8mm")


def conv_integer(pair: Pair) -> Iterator[Reason]:
    """ConvInteger has no fast kernel, and nothing fuses around it."""
    nodes = pair.candidate.of({"ConvInteger"})
    if not nodes:
        return
    before = pair.baseline.of({"Conv", "FusedConv", "NhwcFusedConv"})
    was = sum(one.time_s for one in before)
    told = f"; in {pair.baseline.label} the convolutions take {in_ms(was)}" if before else ""
    yield reason(
        pair, "convolutions quantized while running", nodes,
        f"{len(nodes)} ConvInteger nodes take {{cost}} of a run{told}",
        "quantize convolutions statically, Config(precision=wb.StaticInt8()), or leave them in float: "
        "wb.DynamicInt8(op_types=('MatMul', 'Gemm'))",
    )  # fmt: skip


def dynamic(pair: Pair) -> Iterator[Reason]:
    """Ranges found while running, and the scaling that could not be fused into the integer product."""
    side = pair.candidate
    quantizing = side.of({"DynamicQuantizeLinear"})
    around = [one for one in side.of({"Cast", "Mul", "Add"}) if _follows_integer(side, one)]
    nodes = [*quantizing, *around]
    if not nodes or (side.share(nodes) or 0.0) < LEAST_SHARE:
        return
    extra = f" and {len(around)} nodes that scale integer results" if around else ""
    yield reason(
        pair, "quantizing while running", nodes,
        f"{len(quantizing)} DynamicQuantizeLinear nodes{extra} take {{cost}} of a run",
        "static quantization measures the ranges beforehand: Config(precision=wb.StaticInt8())",
    )  # fmt: skip


def _follows_integer(side: ProfiledConfig, one: NodeRun) -> bool:
    """A Cast, Mul or Add that reads, directly or through the first of them, what an integer product made."""
    node = node_of(side, one)
    return node is not None and any(
        maker.op_type in ("ConvInteger", "MatMulInteger")
        or (maker.op_type in ("Mul", "Cast") and _reads_integer(side, maker))
        for maker in side.makers(node)
    )


def _reads_integer(side: ProfiledConfig, node: Node) -> bool:
    return any(maker.op_type in ("ConvInteger", "MatMulInteger") for maker in side.makers(node))


def float_layers(pair: Pair) -> Iterator[Reason]:
    """Products that the file has between Q and DQ nodes and that ORT computes in float all the same."""
    side = pair.candidate
    if side.graph is None:
        return
    layers = [one for one in side.of(PRODUCTS) if _between_qdq(side, one)]
    if not layers:
        return
    around = {
        maker.key
        for one in layers
        if (node := node_of(side, one)) is not None
        for maker in side.makers(node)
        if maker.op_type == DEQUANTIZE
    }
    nodes = [*layers, *(side.by_name[key] for key in sorted(around) if key in side.by_name)]
    of = Counter(one.op_type for one in layers)
    whole = sum(one.op_type in ("QLinearConv", "QLinearMatMul", "QGemm") for one in side.nodes) + len(layers)
    yield reason(
        pair, "layers left in float", nodes,
        f"{len(layers)} of {whole} quantized products ({counted(of)}) run in float, "
        "with their DequantizeLinear nodes {cost} of a run",
        _float_layers_fix(pair, layers),
    )  # fmt: skip


def _float_layers_fix(pair: Pair, layers: Sequence[NodeRun]) -> str:
    """By what is unusual about the file."""
    if pair.on_x86 and zero_points(pair.candidate) & {INT8}:
        return (
            "the activations are signed (int8), and on x86 ORT has fast kernels for unsigned ones: "
            "wb.StaticInt8(activation='uint8')"
        )
    if zero_points(pair.candidate) & {UINT16, INT16}:
        return "ORT has no integer kernels for 16-bit activations here: wb.StaticInt8(activation='uint8')"
    if _biases_through_nodes(pair.candidate):
        return (
            "their bias reaches them through an Identity node, so ORT does not see a constant: pre-process "
            "the file before it is quantized; Config(precision=wb.StaticInt8()) of the float file does that"
        )
    names = ", ".join(repr(one.node) for one in layers[:2])
    return f"leave them in float, and their Q and DQ nodes go: exclude=({names}, …)"


def _between_qdq(side: ProfiledConfig, one: NodeRun) -> bool:
    node = node_of(side, one)
    return node is not None and sum(maker.op_type == DEQUANTIZE for maker in side.makers(node)) >= 2


def qdq_left(pair: Pair) -> Iterator[Reason]:
    """Q and DQ nodes that ran, without those at the model's inputs and outputs, and what lies between."""
    side = pair.candidate
    if side.graph is None:
        return
    of_layers = {
        maker.key
        for one in side.of(PRODUCTS)
        if _between_qdq(side, one) and (node := node_of(side, one)) is not None
        for maker in side.makers(node)
    }
    nodes = [
        one
        for one in side.of({QUANTIZE, DEQUANTIZE})
        if one.node not in of_layers
        and (node := node_of(side, one)) is not None
        and not _at_the_edge(side, node)
    ]
    between = _float_between(side, nodes)
    cost = [*nodes, *between]
    if not nodes or (side.share(cost) or 0.0) < LEAST_SHARE:
        return
    of = Counter(one.op_type for one in between)
    words = f" around float operators ({counted(of)})" if between else ""
    quantizers = sum(one.op_type == QUANTIZE for one in nodes)
    took = in_ms(sum(one.time_s for one in nodes))
    yield reason(
        pair, "quantize and dequantize left", cost,
        f"{quantizers} QuantizeLinear and {len(nodes) - quantizers} DequantizeLinear nodes are left"
        f"{words}: {took}, with those operators {{cost}} of a run",
        _qdq_left_fix(pair, between),
    )  # fmt: skip


def _float_between(side: ProfiledConfig, nodes: Sequence[NodeRun]) -> list[NodeRun]:
    """Float operators that read a DequantizeLinear and whose result a QuantizeLinear reads."""
    found = {}
    for one in nodes:
        node = node_of(side, one)
        if node is None or one.op_type != DEQUANTIZE:
            continue
        for user in side.users(node):
            if user.op_type in (QUANTIZE, DEQUANTIZE) or user.op_type in PRODUCTS:
                continue
            if any(after.op_type == QUANTIZE for after in side.users(user)) and user.key in side.by_name:
                found[user.key] = side.by_name[user.key]
    return list(found.values())


def _qdq_left_fix(pair: Pair, between: Sequence[NodeRun]) -> str:
    """Fewer types, where all are quantized; else the nodes by name."""
    if not getattr(pair.precision, "op_types", ()):
        return "quantize the products alone: wb.StaticInt8(op_types=('Conv', 'MatMul', 'Gemm'))"
    names = ", ".join(repr(one.node) for one in between[:2])
    return f"leave these operators in float: exclude=({names}, …)" if names else "these few can stay"


def _at_the_edge(side: ProfiledConfig, node: Node) -> bool:
    """Reads an input of the model, or a constant, or makes an output: needed in any integer model."""
    assert side.graph is not None
    outputs = set(side.graph.outputs)
    return not side.makers(node) or (
        node.op_type == DEQUANTIZE and (not side.users(node) or any(name in outputs for name in node.outputs))
    )


def few_integer(pair: Pair) -> Iterator[Reason]:
    """A quantized file most of whose time is not integer arithmetic."""
    side = pair.candidate
    integer = side.of(INTEGER)
    share = side.share(integer)
    if not integer or share is None or share >= FEW_INTEGER_SHARE:
        return
    rest = Counter[str]()
    for one in side.nodes:
        if one.op_type not in INTEGER:
            rest[one.op_type] += round(one.time_s * 1e9)
    most = ", ".join(f"{name} {in_ms(spent / 1e9)}" for name, spent in rest.most_common(4))
    nodes = side.where(lambda one: one.op_type not in INTEGER)
    yield reason(
        pair, "few integer kernels", nodes,
        f"only {share * 100:.0f} % of the time in nodes is integer arithmetic; "
        f"the rest, {{cost}}, is mostly {most}",
        "no quantization can gain more than the share that it makes integer: look at the rest first",
    )  # fmt: skip


def no_instructions(pair: Pair) -> Iterator[Reason]:
    """Integer products without the processor's instructions for them gain little or lose."""
    integer, flags = pair.candidate.of(INTEGER), set(pair.machine.isa_flags)
    if not integer or not flags or any(one.provider not in (CPU, None) for one in integer):
        return
    on_arm = bool(flags & {"neon", "asimd"})
    wanted = ARM_INTEGER if on_arm else X86_INTEGER
    if flags & set(wanted):
        return
    yield reason(
        pair, "no integer instructions", integer,
        f"fast 8-bit products need one of {', '.join(wanted)}, and this processor has none: "
        f"{len(integer)} integer kernels take {{cost}} of a run",
        "measure on a processor that has them; here float32 may well be as fast",
    )  # fmt: skip


def wide_activations(pair: Pair) -> Iterator[Reason]:
    if not zero_points(pair.candidate) & {UINT16, INT16}:
        return
    nodes = pair.candidate.of({QUANTIZE, DEQUANTIZE})
    if nodes and (pair.candidate.share(nodes) or 0.0) >= LEAST_SHARE:
        yield reason(
            pair, "16-bit activations", nodes,
            f"activations are 16 bits wide, for which ORT has no integer kernels on the CPU: "
            f"{len(nodes)} QuantizeLinear and DequantizeLinear nodes take {{cost}} of a run",
            "wb.StaticInt8(activation='uint8'), with the worst layers excluded if accuracy needs it",
        )  # fmt: skip


def blockwise_in_float(pair: Pair) -> Iterator[Reason]:
    """MatMulNBits that unpacks its weights and computes in float32."""
    if getattr(pair.precision, "accuracy_level", None) != "float32":
        return
    nodes = pair.candidate.of(BLOCKWISE)
    if nodes:
        yield reason(
            pair, "blocks computed in float", nodes,
            f"{len(nodes)} {nodes[0].op_type} nodes unpack their weights to float32: {{cost}} of a run",
            "wb.WeightOnly(accuracy_level='int8') computes in integers",
        )  # fmt: skip


def _biases_through_nodes(side: ProfiledConfig) -> bool:
    """A product in the file whose third input a node makes that is no DequantizeLinear."""
    for node in side.source.nodes:
        if node.op_type in ("Conv", "Gemm") and len(node.inputs) > 2 and node.inputs[2]:
            maker = side.source.producers.get(node.inputs[2])
            if maker is not None and maker.op_type not in (DEQUANTIZE, "Constant"):
                return True
    return False
