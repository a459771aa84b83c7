"""Quantization that would help, and quantization that costs time."""

from __future__ import annotations

from onnx import TensorProto

from workbench.core.config import DynamicInt8, StaticInt8
from workbench.core.cpu import int8_flags
from workbench.core.models.scope import integer
from workbench.core.text import counted
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import config_fix, rule, without_passes

OPPORTUNITY_SHARE = 0.30
STATIC_FASTER = 2.5
# What static int8 changes beside the convolutions, as shares of the float32 time of these nodes. Seen on a
# text detector, a text classifier and efficientnet-b0: the casts around a Div took 1.9 to 2.1 times the Div,
# QLinearMul and QLinearSigmoid 1.2 to 3.1 times the float operators, and the reorders were gone.
_LEFT_IN_FLOAT = ("Div", "HardSigmoid", "HardSwish", "Erf", "Pow", "Sqrt", "Tanh", "Exp")
_SLOWER = ("Mul", "Sigmoid", "QuickGelu")
_LAYOUT = ("ReorderInput", "ReorderOutput")
CASTS = 2.0
SLOWER = 1.3
LEAST_SAVING = 0.08  # of a run; the text classifier was at 0.03 to 0.06, and lost
DYNAMIC_FASTER = 2.7
DYNAMIC_COST = 0.06  # quantizing the activations of each product
LEAST_SIDE = 128  # of a product's weight; below 96, int8 gained 1.0 to 1.2 times
_CONVOLUTIONS = ("Conv", "FusedConv")
MATRIX_PRODUCTS = ("MatMul", "Gemm", "FusedMatMul", "FusedGemm")
QDQ = ("QuantizeLinear", "DequantizeLinear")
QDQ_SHARE = 0.10
_FEW_ROWS = 16
_LEAST_SHARE = 0.03
ZERO_POINTS = 3  # the input of MatMulNBits
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)


@rule(
    "dynamic-int8-convolutions",
    needs=("profiled",),
    recognised="ConvInteger runs",
    advice="quantize a convolutional net statically, or quantize its products only",
    source="dynamic int8 of convolutional nets ran at 0.07 to 0.20 times of float32",
)
def dynamic_int8_convolutions(evidence: Evidence) -> FindingRecords:
    """Convolutions are quantized at run time."""
    runs = evidence.of("ConvInteger")
    if not runs:
        return
    yield finding(
        f"{counted(len(runs), 'convolution is', 'convolutions are')} quantized in every run",
        f"ConvInteger takes {evidence.percent(runs)} of a run and has no fast kernel",
        forecast=evidence.saving(runs, 0.8, "sure"),
        fix=config_fix(evidence, "quantize statically: precision=wb.StaticInt8()", precision=StaticInt8()),
        caution="static int8 needs examples to calibrate on",
    )


@rule(
    "static-int8-opportunity",
    needs=("profiled",),
    recognised="float convolutions take at least 30 % of a run on a CPU with integer instructions, and gain "
    "more than the casts and element-wise operators around them lose",
    advice="quantize statically with real examples and check the accuracy",
    source="digits-conv 2.24 times, mobilenetv2 1.58 times; efficientnet-b0 1.08 (0.98 to 1.20); a text "
    "classifier with a Div in each activation 0.63 to 0.70",
)
def static_int8_opportunity(evidence: Evidence) -> FindingRecords:
    """Convolutions could run in int8."""
    runs = evidence.of(*_CONVOLUTIONS)
    if not _can_quantize(evidence) or evidence.share(runs) < OPPORTUNITY_SHARE or _is_depthwise(evidence):
        return
    saved_s = _static_saving_s(evidence)
    if saved_s < LEAST_SAVING * (evidence.run_s or 0.0):
        return
    yield finding(
        "Convolutions could run in int8",
        f"convolutions take {evidence.percent(runs)} of a run in float32",
        f"this CPU multiplies integers natively ({', '.join(_flags(evidence))})",
        forecast=Forecast("likely", evidence.time_gain(saved_s, "likely"), runs),
        fix=config_fix(
            evidence,
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
def dynamic_int8_opportunity(evidence: Evidence) -> FindingRecords:
    """Matrix products could run in int8."""
    if not _can_quantize(evidence) or evidence.of(*_CONVOLUTIONS):
        return
    runs = [run for run in evidence.of(*MATRIX_PRODUCTS) if _has_large_weight(evidence, run.node)]
    if evidence.share(runs) < OPPORTUNITY_SHARE:
        return
    skips = ["SkipLayerNormFusion"] if evidence.of("SkipLayerNormalization") else []
    yield finding(
        "Matrix products could run in int8",
        f"products with constant weights take {evidence.percent(runs)} of a run in float32",
        forecast=evidence.saving(runs, 1 - 1 / DYNAMIC_FASTER - DYNAMIC_COST, "likely"),
        fix=config_fix(
            evidence,
            "quantize dynamically: precision=wb.DynamicInt8()",
            precision=DynamicInt8(),
            disabled_passes=without_passes(evidence, *skips),
        ),
        caution="check the accuracy on labelled examples",
    )


@rule(
    "static-int8-transformer",
    needs=("profiled",),
    recognised="static int8 without convolutions leaves QuantizeLinear and DequantizeLinear, 10 % or more",
    advice="quantize transformers dynamically",
    source="digits-vit 0.67 times with static int8, 1.20 with dynamic",
)
def static_int8_transformer(evidence: Evidence) -> FindingRecords:
    """Static int8 does not suit this model."""
    runs = evidence.of(*QDQ)
    static = isinstance(evidence.config.precision, StaticInt8)
    if not static or evidence.of("QLinearConv", *_CONVOLUTIONS) or evidence.share(runs) < QDQ_SHARE:
        return
    yield finding(
        f"{len(runs)} quantize and dequantize nodes stay in the graph",
        f"they take {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 1, "sure", interval="likely"),
        fix=config_fix(evidence, "quantize dynamically: precision=wb.DynamicInt8()", precision=DynamicInt8()),
    )


@rule(
    "quantized-cheap-operators",
    needs=("profiled",),
    recognised="Pad, Reshape, Concat or Add stand between DequantizeLinear and QuantizeLinear",
    advice="quantize the products and convolutions only",
    source="each such operator pays for a dequantization and a quantization",
)
def quantized_cheap_operators(evidence: Evidence) -> FindingRecords:
    """Cheap operators are wrapped in quantize and dequantize nodes."""
    precision = evidence.config.precision
    if not isinstance(precision, StaticInt8) or precision.op_types:
        return
    wrapped = [
        node
        for node in evidence.nodes
        if node.op_type in ("Pad", "Reshape", "Concat", "Add", "Resize")
        and any(maker.op_type == "DequantizeLinear" for maker in evidence.makers(node))
        and any(user.op_type == "QuantizeLinear" for user in evidence.users(node))
    ]
    runs = evidence.named(node.key for node in evidence.around(wrapped))
    if not runs:
        return
    yield finding(
        f"{len(wrapped)} cheap operators are quantized and dequantized around",
        f"with their casts they take {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 0.5, "likely", nodes=wrapped),
        fix=config_fix(
            evidence,
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
def weight_only_many_rows(evidence: Evidence) -> FindingRecords:
    """Weight-only quantization is used where float32 is faster."""
    runs = [run for run in evidence.of("MatMulNBits") if (evidence.rows(run.node) or 0) > _FEW_ROWS]
    if not runs:
        return
    yield finding(
        f"{len(runs)} block-wise quantized products have more than {_FEW_ROWS} rows",
        "each run unpacks the weights, which pays for few rows only",
        forecast=evidence.saving(runs, 0.2, "sure", interval="likely"),
        fix=config_fix(evidence, "use float32, or dynamic int8 where it is accurate enough", precision=None),
    )


@rule(
    "float-zero-points",
    needs=("profiled",),
    recognised="4-bit MatMulNBits with zero points in float takes at least 3 % of a run on the CPU",
    advice="quantize again with zero points that are packed like the weights",
    source="1024 by 1024 on an AMD EPYC: packed ones 24 to 53 times faster at 1 row, 5 to 10 at 32",
)
def float_zero_points(evidence: Evidence) -> FindingRecords:
    """Products of 4-bit weights unpack them one by one, since their zero points are floats."""
    runs = [run for run in evidence.of("MatMulNBits") if _has_float_zero_points(evidence, run.node)]
    if not evidence.on_cpu or evidence.share(runs) < _LEAST_SHARE:
        return
    yield finding(
        f"{counted(len(runs), 'product')} of 4-bit weights have zero points in float",
        f"they take {evidence.percent(runs)} of a run; the fast kernels take packed zero points",
        forecast=evidence.saving(runs, 0.8, "likely"),
        fix=Fix("export", "quantize again with packed zero points (uint8, two in a byte), or symmetrically"),
        caution="zero points that are no whole numbers are rounded, which changes the outputs",
    )


def _has_float_zero_points(evidence: Evidence, name: str) -> bool:
    node, made = evidence.node(name), evidence.proto(name)
    if node is None or made is None or len(node.inputs) <= ZERO_POINTS or integer(made, "bits", 4) != 4:
        return False
    info = evidence.info(node.inputs[ZERO_POINTS])
    return info is not None and info.element in _FLOATS


def _static_saving_s(evidence: Evidence) -> float:
    """Return the time that static int8 saves in convolutions and reorders, less what it costs elsewhere."""
    convolutions, layout, in_float, slower = static_shares(evidence)
    saved = convolutions * (1 - 1 / STATIC_FASTER) + layout - in_float * CASTS - slower * SLOWER
    return saved * (evidence.run_s or 0.0)


def static_shares(evidence: Evidence) -> tuple[float, float, float, float]:
    """Return the shares of a run of convolutions, reorders, operators left in float, and slower ones."""
    kinds = (_CONVOLUTIONS, _LAYOUT, _LEFT_IN_FLOAT, _SLOWER)
    convolutions, layout, in_float, slower = (evidence.share(evidence.of(*kind)) for kind in kinds)
    return convolutions, layout, in_float, slower


def _can_quantize(evidence: Evidence) -> bool:
    """Return whether the model is in float32, on a CPU with integer instructions."""
    is_float = evidence.config.precision is None and not evidence.of(*QDQ, "MatMulInteger", "QLinearConv")
    return evidence.on_cpu and is_float and bool(_flags(evidence))


def _flags(evidence: Evidence) -> tuple[str, ...]:
    return int8_flags(evidence.machine.isa_flags)


def _is_depthwise(evidence: Evidence) -> bool:
    """Return whether most convolutions have one input channel per group."""
    convolutions = [node for node in evidence.nodes if node.op_type in _CONVOLUTIONS]
    weights = [evidence.weight_of(node.key) for node in convolutions]
    sizes = [info.dims[1] for info in weights if info and info.dims is not None and len(info.dims) > 1]
    return bool(sizes) and sum(size == 1 for size in sizes) > len(sizes) / 2


def _has_large_weight(evidence: Evidence, name: str) -> bool:
    info = evidence.weight_of(name)
    if info is None or info.dims is None or len(info.dims) != 2:
        return False
    return all(isinstance(dim, int) and dim >= LEAST_SIDE for dim in info.dims)
