"""Reasons of any candidate: casts, fusions lost, fallback, more nodes, slower kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from workbench.analysis.slower.pair import (
    CPU,
    INT8,
    LEAST_SHARE,
    UINT8,
    Pair,
    counted,
    is_16_bit,
    reason,
    zero_points,
)
from workbench.analysis.slower.profiled_config import BLOCKWISE, PRODUCTS
from workbench.records.reasons import Reason
from workbench.text import in_ms

CAST_PREFIX = "InsertedPrecisionFreeCast_"
GREW = 1.3  # times longer than before, to be named as what takes longer
FUSED = (
    *("BiasGelu", "FastGelu", "Gelu", "QuickGelu", "LayerNormalization", "SkipLayerNormalization"),
    *("SimplifiedLayerNormalization", "Attention", "MultiHeadAttention", "EmbedLayerNormalization"),
    *("FusedMatMul", "FusedGemm", "FusedConv", "Softmax", "BiasSoftmax"),
)
UNFUSED = (
    *("Add", "Mul", "Div", "Sub", "Pow", "Sqrt", "Erf", "Tanh", "Exp", "Relu", "Sigmoid", "Clip"),
    *("ReduceMean", "ReduceMax", "ReduceSum"),
)


def casts(pair: Pair) -> Iterator[Reason]:
    """Casts that ORT put in because a kernel exists in float32 only, and those of the file."""
    side = pair.candidate
    before = len(pair.baseline.of({"Cast"}))
    casts = side.of({"Cast"})
    put_in = [one for one in casts if one.node.startswith(CAST_PREFIX)]
    if len(casts) <= before or (not put_in and (side.share(casts) or 0.0) < LEAST_SHARE):
        return
    if not is_16_bit(side):
        return
    on_cpu = sum(one.provider in (CPU, None) for one in casts)
    yield reason(
        pair, "casts", casts,
        f"{len(casts)} Cast nodes run ({before} before), {len(put_in)} of them put in by ORT because the "
        "kernels compute in float32; they take {cost} of a run",
        "on the CPU keep float32: 16 bits only save memory there"
        if on_cpu == len(casts)
        else "block the operators around the casts: wb.Float16(blocked_ops=(…))",
    )  # fmt: skip


def fusions_lost(pair: Pair) -> Iterator[Reason]:
    """Fused operators of the baseline that are not there any more, neither fused nor quantized."""
    before = Counter(one.op_type for one in pair.baseline.nodes)
    after = Counter(one.op_type for one in pair.candidate.nodes)
    lost = {name: before[name] - after[name] for name in FUSED if before[name] > after[name]}
    new = {name: after[name] - before[name] for name in UNFUSED if after[name] > before[name]}
    if not lost or not new:
        return
    nodes = pair.candidate.of(new)
    was = sum(one.time_s for one in pair.baseline.of(lost))
    now = sum(one.time_s for one in nodes)
    if now <= was or (pair.candidate.share(nodes) or 0.0) < LEAST_SHARE:
        return
    yield reason(
        pair, "fusions lost", nodes,
        f"fused nodes are gone ({counted(lost)}; {in_ms(was)} in {pair.baseline.label}), others run "
        f"instead ({counted(new)}): nodes of these types take {{cost}} of a run",
        "convert less: wb.Float16(blocked_ops=(…)) with these operators"
        if is_16_bit(pair.candidate)
        else "quantize the products alone: op_types=('Conv', 'MatMul', 'Gemm')",
    )  # fmt: skip


def fallback(pair: Pair) -> Iterator[Reason]:
    """Asked for an accelerator, ran on the CPU: the provider has no kernel for the new operators."""
    asked = [provider.name for provider in pair.candidate.config.providers if provider.name != CPU]
    if not asked:
        return
    before = {one.node for one in pair.baseline.nodes if one.provider == CPU}
    nodes = pair.candidate.where(lambda one: one.provider == CPU and one.node not in before)
    if not nodes or (pair.candidate.share(nodes) or 0.0) < LEAST_SHARE:
        return
    of = Counter(one.op_type for one in nodes)
    yield reason(
        pair, "fallback", nodes,
        f"{len(nodes)} nodes ({counted(of)}) run on the CPU, not on {asked[0]}: {{cost}} of a run",
        "use a form that this provider has kernels for (QDQ for TensorRT and OpenVINO, 16-bit floats for "
        "CUDA), or none",
    )  # fmt: skip


def more_nodes(pair: Pair) -> Iterator[Reason]:
    """The time between nodes: what ORT spends on each of them before its kernel begins."""
    extra_s = pair.candidate.between_s - pair.baseline.between_s
    more = len(pair.candidate.nodes) - len(pair.baseline.nodes)
    if more <= 0 or extra_s <= LEAST_SHARE * pair.candidate.time_s:
        return
    yield Reason(
        kind="more nodes",
        sentence=f"{len(pair.candidate.nodes)} nodes run instead of {len(pair.baseline.nodes)}, and the time "
        f"between nodes grew by {in_ms(extra_s)} a run (with the profiler on)",
        cost_s=extra_s,
        share=None,
        node_count=more,
        nodes=(),
        fix=_more_nodes_fix(pair),
    )


def _more_nodes_fix(pair: Pair) -> str:
    """By the form that it has."""
    if is_16_bit(pair.candidate):
        return "convert less: wb.Float16(blocked_ops=(…)) with the operators around the casts"
    if pair.candidate.of({"DynamicQuantizeLinear", "DynamicQuantizeMatMul"}):
        return "static quantization leaves fewer nodes: Config(precision=wb.StaticInt8())"
    return "quantize the products alone: op_types=('Conv', 'MatMul', 'Gemm')"


def longer(pair: Pair) -> Iterator[Reason]:
    """Integer products that take longer than the float ones that they replace."""
    before = pair.baseline.of(PRODUCTS)
    after = pair.candidate.of(
        {"QLinearConv", "QLinearMatMul", "QGemm", "DynamicQuantizeMatMul", "MatMulIntegerToFloat", *BLOCKWISE}
    )
    was, now = (sum(one.time_s for one in nodes) for nodes in (before, after))
    if not before or not after or now < GREW * was:
        return
    of = Counter(one.op_type for one in after)
    yield reason(
        pair, "kernels that take longer", after,
        f"the products themselves take longer: {counted(of)} {{cost}}, against {in_ms(was)} in float",
        _longer_fix(pair),
    )  # fmt: skip


def _longer_fix(pair: Pair) -> str:
    """By what the config does not do yet."""
    points = zero_points(pair.candidate)
    if INT8 in points and UINT8 not in points and pair.on_x86:
        return "signed activations are slow on x86: wb.StaticInt8(activation='uint8')"
    if getattr(pair.precision, "per_channel", None):
        return "try one scale a tensor: per_channel=False"
    return "small or odd shapes gain nothing from integers: leave these layers out (exclude)"
