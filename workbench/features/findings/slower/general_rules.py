"""Reasons of any candidate: casts, fusions lost, fallback, more nodes, slower kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from workbench.core.text import in_ms
from workbench.features.findings.reasons import Reason
from workbench.features.findings.slower.pair import (
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
from workbench.features.findings.slower.profiled_config import BLOCKWISE, DEQUANTIZE, PRODUCTS, QUANTIZE

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
    """Name casts that ORT inserted because a kernel exists in float32 only, and those of the file."""
    candidate = pair.candidate
    before = len(pair.baseline.of({"Cast"}))
    casts = candidate.of({"Cast"})
    inserted = [run for run in casts if run.node.startswith(CAST_PREFIX)]
    if len(casts) <= before or (not inserted and (candidate.share(casts) or 0.0) < LEAST_SHARE):
        return
    if not is_16_bit(candidate):
        return
    on_cpu = sum(run.provider in (CPU, None) for run in casts)
    yield reason(
        pair, "casts", casts,
        f"{len(casts)} Cast nodes run ({before} before), {len(inserted)} of them put in by ORT because the "
        "kernels compute in float32; they take {cost} of a run",
        "on the CPU keep float32: 16 bits only save memory there"
        if on_cpu == len(casts)
        else "block the operators around the casts: wb.Float16(blocked_ops=(…))",
    )  # fmt: skip


def fusions_lost(pair: Pair) -> Iterator[Reason]:
    """Name fused operators of the baseline that are neither fused nor quantized in the candidate."""
    before = Counter(run.op_type for run in pair.baseline.nodes)
    after = Counter(run.op_type for run in pair.candidate.nodes)
    lost = {name: before[name] - after[name] for name in FUSED if before[name] > after[name]}
    new = {name: after[name] - before[name] for name in UNFUSED if after[name] > before[name]}
    if not lost or not new:
        return
    nodes = pair.candidate.of(new)
    before_s = sum(run.time_s for run in pair.baseline.of(lost))
    after_s = sum(run.time_s for run in nodes)
    if after_s <= before_s or (pair.candidate.share(nodes) or 0.0) < LEAST_SHARE:
        return
    yield reason(
        pair, "fusions lost", nodes,
        f"fused nodes are gone ({counted(lost)}; {in_ms(before_s)} in {pair.baseline.label}), others run "
        f"instead ({counted(new)}): nodes of these types take {{cost}} of a run",
        "convert less: wb.Float16(blocked_ops=(…)) with these operators"
        if is_16_bit(pair.candidate)
        else "quantize the products alone: op_types=('Conv', 'MatMul', 'Gemm')",
    )  # fmt: skip


def fallback(pair: Pair) -> Iterator[Reason]:
    """Name nodes that ran on the CPU though another provider was asked for: it has no kernel for them."""
    asked = [provider.name for provider in pair.candidate.config.providers if provider.name != CPU]
    if not asked:
        return
    before = {run.node for run in pair.baseline.nodes if run.provider == CPU}
    nodes = pair.candidate.where(lambda run: run.provider == CPU and run.node not in before)
    if not nodes or (pair.candidate.share(nodes) or 0.0) < LEAST_SHARE:
        return
    counts = Counter(run.op_type for run in nodes)
    yield reason(
        pair, "fallback", nodes,
        f"{len(nodes)} nodes ({counted(counts)}) run on the CPU, not on {asked[0]}: {{cost}} of a run",
        "use a form that this provider has kernels for (QDQ for TensorRT and OpenVINO, 16-bit floats for "
        "CUDA), or none",
    )  # fmt: skip


def more_nodes(pair: Pair) -> Iterator[Reason]:
    """Name the time that ORT spends between nodes, before each kernel begins."""
    extra_s = pair.candidate.between_s - pair.baseline.between_s
    more = len(pair.candidate.nodes) - len(pair.baseline.nodes)
    if more <= 0 or extra_s <= LEAST_SHARE * pair.candidate.time_s:
        return
    yield Reason(
        kind="more nodes",
        sentence=f"{len(pair.candidate.nodes)} nodes run instead of {len(pair.baseline.nodes)}, and the time "
        f"between nodes grew by {in_ms(extra_s)} a run",
        cost_s=extra_s,
        share=None,
        node_count=more,
        nodes=(),
        fix=_more_nodes_fix(pair),
    )


def _more_nodes_fix(pair: Pair) -> str:
    """Return the fix that fits the form of the file."""
    if is_16_bit(pair.candidate):
        return "convert less: wb.Float16(blocked_ops=(…)) with the operators around the casts"
    if pair.candidate.of({"DynamicQuantizeLinear", "DynamicQuantizeMatMul"}):
        return "static quantization leaves fewer nodes: Config(precision=wb.StaticInt8())"
    if pair.candidate.of({QUANTIZE, DEQUANTIZE}):
        return "quantize the products alone: op_types=('Conv', 'MatMul', 'Gemm')"
    return "prepare less: leave out what added these nodes"


def longer(pair: Pair) -> Iterator[Reason]:
    """Name integer products that take longer than the float products that they replace."""
    before = pair.baseline.of(PRODUCTS)
    after = pair.candidate.of(
        {"QLinearConv", "QLinearMatMul", "QGemm", "DynamicQuantizeMatMul", "MatMulIntegerToFloat", *BLOCKWISE}
    )
    before_s, after_s = (sum(run.time_s for run in nodes) for nodes in (before, after))
    if not before or not after or after_s < GREW * before_s:
        return
    counts = Counter(run.op_type for run in after)
    yield reason(
        pair, "kernels that take longer", after,
        f"the products themselves take longer: {counted(counts)} {{cost}}, "
        f"against {in_ms(before_s)} in float",
        _longer_fix(pair),
    )  # fmt: skip


def _longer_fix(pair: Pair) -> str:
    """Return the fix that the config does not apply yet."""
    points = zero_points(pair.candidate)
    if INT8 in points and UINT8 not in points and pair.on_x86:
        return "signed activations are slow on x86: wb.StaticInt8(activation='uint8')"
    if getattr(pair.precision, "per_channel", None):
        return "try one scale a tensor: per_channel=False"
    return "small or odd shapes gain nothing from integers: leave these layers out (exclude)"
