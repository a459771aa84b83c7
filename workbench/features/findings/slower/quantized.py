"""Reasons of a quantized candidate: where integers do not pay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from workbench.core.cpu import ARM_INT8, X86_INT8, lacks_int8
from workbench.core.text import in_ms
from workbench.features.explain.graph import Node
from workbench.features.findings.reasons import Reason
from workbench.features.findings.slower.pair import (
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
from workbench.features.findings.slower.profiled_config import (
    BLOCKWISE,
    DEQUANTIZE,
    INTEGER,
    PRODUCTS,
    QUANTIZE,
    NodeRun,
    ProfiledConfig,
)

FEW_INTEGER_SHARE = 0.3


def conv_integer(pair: Pair) -> Iterator[Reason]:
    """Name ConvInteger nodes: no fast kernel exists, and nothing fuses around them."""
    nodes = pair.candidate.of({"ConvInteger"})
    if not nodes:
        return
    before = pair.baseline.of({"Conv", "FusedConv", "NhwcFusedConv"})
    before_s = sum(run.time_s for run in before)
    before_text = f"; in {pair.baseline.label} the convolutions take {in_ms(before_s)}" if before else ""
    yield reason(
        pair, "convolutions quantized while running", nodes,
        f"{len(nodes)} ConvInteger nodes take {{cost}} of a run{before_text}",
        "quantize convolutions statically, Config(precision=wb.StaticInt8()), or leave them in float: "
        "wb.DynamicInt8(op_types=('MatMul', 'Gemm'))",
    )  # fmt: skip


def dynamic(pair: Pair) -> Iterator[Reason]:
    """Name ranges measured while running, and the scaling that is not fused into the integer product."""
    candidate = pair.candidate
    quantizing = candidate.of({"DynamicQuantizeLinear"})
    around = [run for run in candidate.of({"Cast", "Mul", "Add"}) if _follows_integer(candidate, run)]
    nodes = [*quantizing, *around]
    if not nodes or (candidate.share(nodes) or 0.0) < LEAST_SHARE:
        return
    extra = f" and {len(around)} nodes that scale integer results" if around else ""
    yield reason(
        pair, "quantizing while running", nodes,
        f"{len(quantizing)} DynamicQuantizeLinear nodes{extra} take {{cost}} of a run",
        "static quantization measures the ranges beforehand: Config(precision=wb.StaticInt8())",
    )  # fmt: skip


def _follows_integer(profiled: ProfiledConfig, run: NodeRun) -> bool:
    """Return whether a Cast, Mul or Add reads an integer product, directly or through another of them."""
    node = node_of(profiled, run)
    makers = [] if node is None else profiled.makers(node)
    scaling = [maker for maker in makers if maker.op_type in ("Mul", "Cast")]
    makers += [maker for node in scaling for maker in profiled.makers(node)]
    return any(maker.op_type in ("ConvInteger", "MatMulInteger") for maker in makers)


def float_layers(pair: Pair) -> Iterator[Reason]:
    """Name products between Q and DQ nodes that ORT computes in float all the same."""
    candidate = pair.candidate
    makers_of = _makers_of_float_products(candidate)
    if not makers_of:
        return
    layers = list(makers_of)
    around = {maker.key for makers in makers_of.values() for maker in makers if maker.op_type == DEQUANTIZE}
    nodes = [*layers, *(candidate.by_name[key] for key in sorted(around) if key in candidate.by_name)]
    counts = Counter(run.op_type for run in layers)
    product_count = len(candidate.of({"QLinearConv", "QLinearMatMul", "QGemm"})) + len(layers)
    yield reason(
        pair, "layers left in float", nodes,
        f"{len(layers)} of {product_count} quantized products ({counted(counts)}) run in float, "
        "with their DequantizeLinear nodes {cost} of a run",
        _float_layers_fix(pair, layers),
    )  # fmt: skip


def _float_layers_fix(pair: Pair, layers: Sequence[NodeRun]) -> str:
    """Return the fix that fits the types and the biases of the file."""
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
    names = ", ".join(repr(run.node) for run in layers[:2])
    return f"leave them in float, and their Q and DQ nodes go: exclude=({names}, …)"


def _makers_of_float_products(profiled: ProfiledConfig) -> dict[NodeRun, list[Node]]:
    """Return the float products that read two or more DequantizeLinear nodes, with the nodes they read."""
    products = {run: node_of(profiled, run) for run in profiled.of(PRODUCTS)}
    makers_of = {run: profiled.makers(node) for run, node in products.items() if node is not None}
    return {
        run: makers
        for run, makers in makers_of.items()
        if sum(maker.op_type == DEQUANTIZE for maker in makers) >= 2
    }


def qdq_left(pair: Pair) -> Iterator[Reason]:
    """Name the executed Q and DQ nodes inside the model, with the float operators between them."""
    candidate = pair.candidate
    of_layers = {maker.key for makers in _makers_of_float_products(candidate).values() for maker in makers}
    nodes = [
        run
        for run in candidate.of({QUANTIZE, DEQUANTIZE})
        if run.node not in of_layers
        and (node := node_of(candidate, run)) is not None
        and not _at_the_edge(candidate, node)
    ]
    between = _float_between(candidate, nodes)
    cost = [*nodes, *between]
    if not nodes or (candidate.share(cost) or 0.0) < LEAST_SHARE:
        return
    counts = Counter(run.op_type for run in between)
    around_text = f" around float operators ({counted(counts)})" if between else ""
    quantizers = sum(run.op_type == QUANTIZE for run in nodes)
    took = in_ms(sum(run.time_s for run in nodes))
    yield reason(
        pair, "quantize and dequantize left", cost,
        f"{quantizers} QuantizeLinear and {len(nodes) - quantizers} DequantizeLinear nodes are left"
        f"{around_text}: {took}, with those operators {{cost}} of a run",
        _qdq_left_fix(pair, between),
    )  # fmt: skip


def _float_between(profiled: ProfiledConfig, nodes: Sequence[NodeRun]) -> list[NodeRun]:
    """Return the float operators between a DequantizeLinear and a QuantizeLinear."""
    between = {}
    for run in nodes:
        node = node_of(profiled, run)
        if node is None or run.op_type != DEQUANTIZE:
            continue
        for user in profiled.users(node):
            if user.op_type in (QUANTIZE, DEQUANTIZE) or user.op_type in PRODUCTS:
                continue
            quantized = any(reader.op_type == QUANTIZE for reader in profiled.users(user))
            if quantized and user.key in profiled.by_name:
                between[user.key] = profiled.by_name[user.key]
    return list(between.values())


def _qdq_left_fix(pair: Pair, between: Sequence[NodeRun]) -> str:
    """Return fewer types where all are quantized, else the nodes by name."""
    if not getattr(pair.precision, "op_types", ()):
        return "quantize the products alone: wb.StaticInt8(op_types=('Conv', 'MatMul', 'Gemm'))"
    names = ", ".join(repr(run.node) for run in between[:2])
    return f"leave these operators in float: exclude=({names}, …)" if names else "these few can stay"


def _at_the_edge(profiled: ProfiledConfig, node: Node) -> bool:
    """Return whether the node stands at an input or output of the model, where any integer model needs it."""
    assert profiled.graph is not None
    outputs = set(profiled.graph.outputs)
    is_output = not profiled.users(node) or any(name in outputs for name in node.outputs)
    return not profiled.makers(node) or (node.op_type == DEQUANTIZE and is_output)


def few_integer(pair: Pair) -> Iterator[Reason]:
    """Name the float operators of a quantized file that take most of its time."""
    candidate = pair.candidate
    integer = candidate.of(INTEGER)
    share = candidate.share(integer)
    if not integer or share is None or share >= FEW_INTEGER_SHARE:
        return
    float_ns = Counter[str]()
    for run in candidate.nodes:
        if run.op_type not in INTEGER:
            float_ns[run.op_type] += round(run.time_s * 1e9)
    most = ", ".join(f"{name} {in_ms(spent / 1e9)}" for name, spent in float_ns.most_common(4))
    nodes = candidate.where(lambda run: run.op_type not in INTEGER)
    yield reason(
        pair, "few integer kernels", nodes,
        f"only {share * 100:.0f} % of the time in nodes is integer arithmetic; "
        f"the other nodes, {{cost}} of a run, are mostly {most}",
        "no quantization can gain more than the share that it makes integer: look at the rest first",
    )  # fmt: skip


def no_instructions(pair: Pair) -> Iterator[Reason]:
    """Name integer products where the processor lacks instructions for them."""
    integer, flags = pair.candidate.of(INTEGER), pair.machine.isa_flags
    if not integer or any(run.provider not in (CPU, None) for run in integer):
        return
    if not lacks_int8(flags, pair.machine.platform):
        return
    wanted = ARM_INT8 if {"neon", "asimd"} & {*flags} else X86_INT8
    yield reason(
        pair, "no integer instructions", integer,
        f"fast 8-bit products need one of {', '.join(wanted)}, and this processor has none: "
        f"{len(integer)} integer kernels take {{cost}} of a run",
        "measure on a processor that has them; here float32 may well be as fast",
    )  # fmt: skip


def wide_activations(pair: Pair) -> Iterator[Reason]:
    """Name Q and DQ nodes of 16-bit activations."""
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
    """Name MatMulNBits nodes that unpack their weights and compute in float32."""
    if getattr(pair.precision, "accuracy_level", None) != "float32":
        return
    nodes = pair.candidate.of(BLOCKWISE)
    if nodes:
        yield reason(
            pair, "blocks computed in float", nodes,
            f"{len(nodes)} {nodes[0].op_type} nodes unpack their weights to float32: {{cost}} of a run",
            "wb.WeightOnly(accuracy_level='int8') computes in integers",
        )  # fmt: skip


def _biases_through_nodes(profiled: ProfiledConfig) -> bool:
    """Return whether a product of the file gets its bias from a node other than DequantizeLinear."""
    for node in profiled.source.nodes:
        if node.op_type in ("Conv", "Gemm") and len(node.inputs) > 2 and node.inputs[2]:
            maker = profiled.source.producers.get(node.inputs[2])
            if maker is not None and maker.op_type not in (DEQUANTIZE, "Constant"):
                return True
    return False
