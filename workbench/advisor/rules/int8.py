"""Quantization that would help, and quantization that costs time."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.advisor.evidence import Evidence, names_of
from workbench.advisor.registry import rule
from workbench.config import DynamicInt8, StaticInt8
from workbench.records.findings import FindingRecord, Fix

OPPORTUNITY_SHARE = 0.30
STATIC_FASTER = 2.5
DYNAMIC_FASTER = 2.7
DYNAMIC_COST = 0.06  # quantizing the activations of each product
LEAST_SIDE = 128  # of a product's weight; below 96, int8 gained 1.0 to 1.2 times
INTEGER_FLAGS = ("avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm")
CONVOLUTIONS = ("Conv", "FusedConv")
PRODUCTS = ("MatMul", "Gemm", "FusedMatMul", "FusedGemm")
QDQ = ("QuantizeLinear", "DequantizeLinear")
QDQ_SHARE = 0.10
FEW_ROWS = 16


@rule(
    "dynamic-int8-convolutions",
    needs=("profiled",),
    recognised="ConvInteger runs",
    advice="quantize a convolutional net statically, or quantize its products only",
    source="dynamic int8 of convolutional nets ran at 0.07 to 0.11 times of float32",
)
def dynamic_int8_convolutions(evidence: Evidence) -> Iterator[FindingRecord]:
    """Convolutions are quantized at run time."""
    runs = evidence.of("ConvInteger")
    cost_s = evidence.cost_s(runs)
    if not runs:
        return
    yield FindingRecord(
        "dynamic-int8-convolutions",
        f"{len(runs)} convolutions are quantized in every run",
        (f"ConvInteger takes {evidence.share_of(cost_s) * 100:.0f} % of a run and has no fast kernel",),
        names_of(runs),
        "sure",
        evidence.time_gain(cost_s * 0.8, "sure"),
        evidence.config_fix("quantize statically: precision=wb.StaticInt8()", precision=StaticInt8()),
        caution="static int8 needs examples to calibrate on",
    )


@rule(
    "static-int8-opportunity",
    needs=("profiled",),
    recognised="float convolutions take at least 30 % of a run on a CPU with integer instructions",
    advice="quantize statically with real examples and check the accuracy",
    source="digits-conv 2.24 times, mobilenetv2 1.58 times; efficientnet-b0 1.08 (0.98 to 1.20)",
)
def static_int8_opportunity(evidence: Evidence) -> Iterator[FindingRecord]:
    """Convolutions could run in int8."""
    runs = evidence.of(*CONVOLUTIONS)
    cost_s = evidence.cost_s(runs)
    if (
        not _can_quantize(evidence)
        or evidence.share_of(cost_s) < OPPORTUNITY_SHARE
        or _is_depthwise(evidence)
    ):
        return
    yield FindingRecord(
        "static-int8-opportunity",
        "Convolutions could run in int8",
        (
            f"convolutions take {evidence.share_of(cost_s) * 100:.0f} % of a run in float32",
            f"this CPU multiplies integers natively ({', '.join(_flags(evidence))})",
        ),
        names_of(runs),
        "likely",
        evidence.time_gain(cost_s * (1 - 1 / STATIC_FASTER), "likely"),
        evidence.config_fix(
            "quantize statically: precision=wb.StaticInt8(), with real examples to calibrate on",
            precision=StaticInt8(),
        ),
        caution="check the accuracy on labelled examples",
    )


@rule(
    "dynamic-int8-opportunity",
    needs=("profiled",),
    recognised="MatMul and Gemm with weights of 128 or more a side take at least 30 %; no convolutions",
    advice="quantize dynamically, and leave SkipLayerNormFusion out",
    source="encoder 1.89 times, with SkipLayerNormFusion left out 2.43 to 2.89",
)
def dynamic_int8_opportunity(evidence: Evidence) -> Iterator[FindingRecord]:
    """Matrix products could run in int8."""
    graph = evidence.ran
    if graph is None or not _can_quantize(evidence) or evidence.of(*CONVOLUTIONS):
        return
    runs = [run for run in evidence.of(*PRODUCTS) if _has_large_weight(evidence, run.node)]
    cost_s = evidence.cost_s(runs)
    if evidence.share_of(cost_s) < OPPORTUNITY_SHARE:
        return
    saved_s = cost_s * (1 - 1 / DYNAMIC_FASTER - DYNAMIC_COST)
    config = evidence.config.replace(precision=DynamicInt8())
    if evidence.of("SkipLayerNormalization"):
        disabled = tuple(dict.fromkeys((*config.disabled_passes, "SkipLayerNormFusion")))
        config = config.replace(disabled_passes=disabled)
    yield FindingRecord(
        "dynamic-int8-opportunity",
        "Matrix products could run in int8",
        (f"products with constant weights take {evidence.share_of(cost_s) * 100:.0f} % of a run in float32",),
        names_of(runs),
        "likely",
        evidence.time_gain(saved_s, "likely"),
        Fix("config", "quantize dynamically: precision=wb.DynamicInt8()", config=config),
        caution="check the accuracy on labelled examples",
    )


@rule(
    "static-int8-transformer",
    needs=("profiled",),
    recognised="static int8 without convolutions leaves QuantizeLinear and DequantizeLinear, 10 % or more",
    advice="quantize transformers dynamically",
    source="digits-vit 0.67 times with static int8, 1.20 with dynamic",
)
def static_int8_transformer(evidence: Evidence) -> Iterator[FindingRecord]:
    """Static int8 does not suit this model."""
    runs = evidence.of(*QDQ)
    cost_s = evidence.cost_s(runs)
    static = isinstance(evidence.config.precision, StaticInt8)
    if not static or evidence.of("QLinearConv", *CONVOLUTIONS) or evidence.share_of(cost_s) < QDQ_SHARE:
        return
    yield FindingRecord(
        "static-int8-transformer",
        f"{len(runs)} quantize and dequantize nodes stay in the graph",
        (f"they take {evidence.share_of(cost_s) * 100:.0f} % of a run",),
        names_of(runs),
        "sure",
        evidence.time_gain(cost_s, "likely"),
        evidence.config_fix("quantize dynamically: precision=wb.DynamicInt8()", precision=DynamicInt8()),
    )


@rule(
    "quantized-cheap-operators",
    needs=("profiled",),
    recognised="Pad, Reshape, Concat or Add stand between DequantizeLinear and QuantizeLinear",
    advice="quantize the products and convolutions only",
    source="each such operator pays for a dequantization and a quantization",
)
def quantized_cheap_operators(evidence: Evidence) -> Iterator[FindingRecord]:
    """Cheap operators are wrapped in quantize and dequantize nodes."""
    graph = evidence.ran
    precision = evidence.config.precision
    if graph is None or not isinstance(precision, StaticInt8) or precision.op_types:
        return
    wrapped = [
        node
        for node in graph.nodes
        if node.op_type in ("Pad", "Reshape", "Concat", "Add", "Resize")
        and any(maker.op_type == "DequantizeLinear" for maker in evidence.makers(node))
        and any(user.op_type == "QuantizeLinear" for user in evidence.users(node))
    ]
    around = [
        node for middle in wrapped for node in (*evidence.makers(middle), middle, *evidence.users(middle))
    ]
    runs = evidence.named(node.key for node in around)
    if not runs:
        return
    cost_s = evidence.cost_s(runs)
    yield FindingRecord(
        "quantized-cheap-operators",
        f"{len(wrapped)} cheap operators are quantized and dequantized around",
        (f"with their casts they take {evidence.share_of(cost_s) * 100:.0f} % of a run",),
        names_of(wrapped),
        "likely",
        evidence.time_gain(cost_s * 0.5, "likely"),
        evidence.config_fix(
            "quantize convolutions and products only",
            precision=StaticInt8(op_types=("Conv", "MatMul", "Gemm")),
        ),
    )


@rule(
    "weight-only-many-rows",
    needs=("profiled",),
    recognised="MatMulNBits multiplies more than 16 rows",
    advice="use weight-only quantization for few rows and weights beyond the cache only",
    source="128 rows: 0.76 to 0.81 times of float32",
)
def weight_only_many_rows(evidence: Evidence) -> Iterator[FindingRecord]:
    """Weight-only quantization is used where float32 is faster."""
    runs = evidence.of("MatMulNBits")
    many = [run for run in runs if (evidence.rows(run.node) or 0) > FEW_ROWS]
    if not many:
        return
    cost_s = evidence.cost_s(many)
    yield FindingRecord(
        "weight-only-many-rows",
        f"{len(many)} block-wise quantized products have more than {FEW_ROWS} rows",
        ("each run unpacks the weights, which pays for few rows only",),
        names_of(many),
        "sure",
        evidence.time_gain(cost_s * 0.2, "likely"),
        evidence.config_fix("use float32, or dynamic int8 where it is accurate enough", precision=None),
    )


def _can_quantize(evidence: Evidence) -> bool:
    """Return whether the model is in float32, on a CPU with integer instructions."""
    is_float = evidence.config.precision is None and not evidence.of(*QDQ, "MatMulInteger", "QLinearConv")
    return evidence.on_cpu and is_float and bool(_flags(evidence))


def _flags(evidence: Evidence) -> tuple[str, ...]:
    return tuple(flag for flag in INTEGER_FLAGS if flag in evidence.machine.isa_flags)


def _is_depthwise(evidence: Evidence) -> bool:
    """Return whether most convolutions have one input channel per group."""
    graph = evidence.ran
    if graph is None:
        return False
    sizes = [
        info.dims[1]
        for node in graph.nodes
        if node.op_type in CONVOLUTIONS and len(node.inputs) > 1
        and (info := graph.constants.get(node.inputs[1])) is not None
        and info.dims is not None and len(info.dims) > 1
    ]  # fmt: skip
    return bool(sizes) and sum(size == 1 for size in sizes) > len(sizes) / 2


def _has_large_weight(evidence: Evidence, name: str) -> bool:
    info = evidence.weight_of(name)
    if info is None or info.dims is None or len(info.dims) != 2:
        return False
    return all(isinstance(dim, int) and dim >= LEAST_SIDE for dim in info.dims)
