"""Integer arithmetic that does not reach the fast kernels, and weights that few rows could read in 8 bits."""

from __future__ import annotations

from typing import Literal

from onnx import TensorProto

from workbench.core.config import DynamicInt8, StaticInt8, WeightOnly
from workbench.core.cpu import ARM_INT8, X86_INT8, lacks_int8
from workbench.core.models.graph import Node
from workbench.core.text import counted
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import config_fix, precision_fix, rule
from workbench.features.findings.rules.int8 import MATRIX_PRODUCTS
from workbench.features.profile.profiled_config import FLOAT_PRODUCTS, INTEGER_OPERATORS

_ACTIVATIONS: dict[int, str] = {
    TensorProto.INT8: "int8",
    TensorProto.UINT16: "uint16",
    TensorProto.INT16: "int16",
}
FEW_INTEGER_SHARE = 0.30
FLOAT_SHARE = 0.30
_FEW_ROWS = 8
MANY_BYTES = 256 << 20  # beyond every cache: each run then reads the weights from memory
_MEMORY_SHARE = 0.50
EIGHT_BITS = 8 / 32 * 1.15  # of the bytes, with the scales of the blocks
FLOAT = "compute in float32: precision=None"


@rule(
    "signed-activations",
    needs=("profiled",),
    recognised="signed activations on x86, and products or convolutions in float behind DequantizeLinear",
    advice="use unsigned activations: activation='uint8'",
    source="on an AMD processor 1.17 against 3.24 times; with AMX and a pre-processed file no difference",
)
def signed_activations(evidence: Evidence) -> FindingRecords:
    """Signed activations keep layers in float on this processor."""
    left = _left_in_float(evidence)
    if not left or "int8" not in _activations(evidence) or evidence.cpu_family == "arm":
        return
    runs = evidence.named(node.key for node in left)
    yield finding(
        f"{counted(len(left), 'layer stays', 'layers stay')} in float beside signed activations",
        f"they take {evidence.percent(runs)} of a run",
        forecast=evidence.saving(runs, 0.5, "maybe", nodes=left),
        fix=_activation_fix(evidence, "use unsigned activations: activation='uint8'", "uint8"),
    )


@rule(
    "quantized-layers-in-float",
    needs=("profiled",),
    recognised="a product or convolution of two DequantizeLinear runs in float; its activations have 8 bits, "
    "unsigned on x86",
    advice="leave these layers in float: exclude=(…), which saves their quantization",
    source="ORT's integer kernels take constant biases and the operators of their list only",
)
def quantized_layers_in_float(evidence: Evidence) -> FindingRecords:
    """Layers that were quantized run in float all the same."""
    known = {"uint16", "int16"} | ({"int8"} if evidence.cpu_family != "arm" else set())
    left = [node for node in _left_in_float(evidence) if _dequantized(evidence, node) > 1]
    if not left or known & _activations(evidence) or _biases_behind_identity(evidence):
        return
    around = [
        maker for node in left for maker in evidence.makers(node) if maker.op_type == "DequantizeLinear"
    ]
    runs, cast_runs = (evidence.named(node.key for node in nodes) for nodes in (left, around))
    text = f"leave them in float: exclude=({', '.join(repr(node.key) for node in left[:2])}, …)"
    precision = evidence.config.precision
    yield finding(
        f"{counted(len(left), 'quantized layer')} computed in float",
        f"with their DequantizeLinear nodes they take {evidence.percent((*runs, *cast_runs))} of a run",
        forecast=evidence.saving(cast_runs, 1, "likely", nodes=(*left, *around)),
        fix=precision_fix(
            evidence, text, exclude=tuple(dict.fromkeys((*precision.exclude, *(node.key for node in left))))
        )
        if isinstance(precision, StaticInt8)
        else Fix("export", text),
    )


def _left_in_float(evidence: Evidence) -> list[Node]:
    """Return the executed products and convolutions in float behind a DequantizeLinear."""
    return [
        node for node in evidence.nodes if node.op_type in FLOAT_PRODUCTS and _dequantized(evidence, node)
    ]


def _dequantized(evidence: Evidence, node: Node) -> int:
    return sum(maker.op_type == "DequantizeLinear" for maker in evidence.makers(node))


def _activations(evidence: Evidence) -> set[str]:
    """Return the types to which the config or the file quantizes activations."""
    precision, graph = evidence.config.precision, evidence.prepared
    if isinstance(precision, StaticInt8) and precision.activation is not None:
        return {precision.activation}
    quantizers = (node for node in graph.nodes if node.op_type == "QuantizeLinear" and len(node.inputs) > 2)
    points = (graph.info(node.inputs[2]) for node in quantizers)
    return {_ACTIVATIONS[point.element] for point in points if point and point.element in _ACTIVATIONS}


def _activation_fix(evidence: Evidence, text: str, activation: Literal["uint8"] | None) -> Fix:
    """Return a change of the config, or the advice where the file came quantized."""
    is_ours = isinstance(evidence.config.precision, StaticInt8)
    return precision_fix(evidence, text, activation=activation) if is_ours else Fix("export", text)


@rule(
    "bias-behind-identity",
    recognised="in a file with QuantizeLinear, the bias of a Conv or Gemm comes from an Identity",
    advice="pre-process the float model before it is quantized; precision=wb.StaticInt8() does",
    source="0.78 against 3.24 times: ORT's integer convolution takes constant biases only",
)
def bias_behind_identity(evidence: Evidence) -> FindingRecords:
    """Biases behind Identity keep quantized layers in float."""
    hidden = _biases_behind_identity(evidence)
    if not hidden:
        return
    runs = evidence.named(node.key for node in hidden)
    saving = evidence.saving(runs, 0.5, "sure", interval="maybe", nodes=hidden)
    code = "python -m onnxruntime.quantization.preprocess --input float.onnx --output clean.onnx"
    yield finding(
        f"The biases of {len(hidden)} quantized layers stand behind Identity",
        "ORT's integer kernels take constant biases only, so these layers stay in float",
        forecast=saving if runs else Forecast.unknown("time", "sure", hidden),
        fix=Fix("export", "quantize again, from a float file that was pre-processed", code=code),
    )


def _biases_behind_identity(evidence: Evidence) -> list[Node]:
    """Return the convolutions and products of a quantized file whose bias comes from an Identity."""
    graph = evidence.prepared
    if not any(node.op_type == "QuantizeLinear" for node in graph.nodes):
        return []
    return [
        node
        for node in graph.nodes
        if node.op_type in ("Conv", "Gemm")
        and len(node.inputs) > 2
        and (maker := graph.producers.get(node.inputs[2])) is not None
        and maker.op_type == "Identity"
    ]


@rule(
    "few-integer-kernels",
    needs=("profiled",),
    recognised="int8 is asked for, and integer kernels take less than 30 % of a run, float products more",
    advice="quantize the rest, or compute in float",
    source="Amdahl's law: what stays in float bounds the gain",
)
def few_integer_kernels(evidence: Evidence) -> FindingRecords:
    """Most of the run stays in float although int8 was asked for."""
    if not isinstance(evidence.config.precision, DynamicInt8 | StaticInt8):
        return
    integer, floating = evidence.of(*INTEGER_OPERATORS), evidence.of(*FLOAT_PRODUCTS)
    if evidence.share(integer) >= FEW_INTEGER_SHARE or evidence.share(floating) < FLOAT_SHARE:
        return
    yield finding(
        f"Only {evidence.percent(integer)} of a run is computed in integers",
        f"products and convolutions in float take {evidence.percent(floating)}",
        forecast=Forecast.unknown("time", "likely", floating),
        fix=config_fix(evidence, FLOAT, precision=None),
        caution="int8 still makes the file smaller",
    )


@rule(
    "sixteen-bit-activations",
    recognised="activations of 16 bits",
    advice="use 8 bits: activation=None",
    source="the CPU has no integer kernels for 16-bit activations, so layers compute in float",
)
def sixteen_bit_activations(evidence: Evidence) -> FindingRecords:
    """The CPU computes 16-bit activations in float."""
    if not evidence.on_cpu or not _activations(evidence) & {"uint16", "int16"}:
        return
    yield finding(
        "Activations have 16 bits, for which the CPU has no integer kernels",
        "each layer is converted to float and back",
        forecast=Forecast.unknown("time", "sure", evidence.of("QuantizeLinear", "DequantizeLinear")),
        fix=_activation_fix(evidence, "use 8 bits: activation=None", None),
        caution="8 bits are less exact",
    )


@rule(
    "blocks-computed-in-float",
    recognised="weight-only quantization with accuracy_level='float32'",
    advice="let the products compute in int8: accuracy_level='int8'",
    source="ORT's MatMulNBits has its fast kernels for int8 activations",
)
def blocks_computed_in_float(evidence: Evidence) -> FindingRecords:
    """Block-wise quantized products compute in float32."""
    precision = evidence.config.precision
    if not isinstance(precision, WeightOnly) or precision.accuracy_level != "float32":
        return
    text = "let them compute in int8: accuracy_level='int8'"
    yield finding(
        "Block-wise quantized products compute in float32",
        forecast=Forecast.unknown("time", "likely", evidence.of("MatMulNBits")),
        fix=precision_fix(evidence, text, accuracy_level="int8"),
        caution="it is a little less exact",
    )


@rule(
    "int8-without-instructions",
    recognised="int8 on a processor known to have none of VNNI, AMX and Arm's dot products",
    advice="compare with float32 before keeping it",
    source="without VNNI a product of bytes takes three instructions, and often float32 is as fast",
)
def int8_without_instructions(evidence: Evidence) -> FindingRecords:
    """This processor has no instruction for products of bytes."""
    machine, integer = evidence.machine, evidence.of(*INTEGER_OPERATORS)
    is_int8 = bool(integer) or isinstance(evidence.config.precision, DynamicInt8 | StaticInt8)
    if not is_int8 or not evidence.on_cpu or not lacks_int8(machine.isa_flags, machine.platform):
        return
    wanted = ARM_INT8 if {"neon", "asimd"} & {*machine.isa_flags} else X86_INT8
    yield finding(
        "This processor has no instruction for products of bytes",
        f"it has none of {', '.join(wanted)}",
        forecast=Forecast.unknown("time", "maybe", integer),
        fix=config_fix(evidence, FLOAT, precision=None),
        caution="int8 still makes the file smaller",
    )


@rule(
    "weight-only-opportunity",
    needs=("profiled",),
    recognised="products of at most 8 rows with 256 MiB of constant weights take half of a run in float32",
    advice="quantize the weights alone, first to 8 bits, then to 4 with an accuracy check",
    source="a decoder of 400 MB at 1 token: 2.1 times with 8 bits, 2.8 with 4",
)
def weight_only_opportunity(evidence: Evidence) -> FindingRecords:
    """Reading the weights takes most of a run, and fewer bits would be read faster."""
    if evidence.config.precision is not None or not evidence.on_cpu:
        return
    runs = [run for run in evidence.of(*MATRIX_PRODUCTS) if 0 < (evidence.rows(run.node) or 0) <= _FEW_ROWS]
    weights = {run.node: info for run in runs if (info := evidence.weight_of(run.node)) is not None}
    size = sum(info.size_bytes or 0 for info in weights.values())
    chosen = [run for run in runs if run.node in weights]
    if size < MANY_BYTES or evidence.share(chosen) < _MEMORY_SHARE:
        return
    text = "quantize the weights alone: precision=wb.WeightOnly(bits=8)"
    yield finding(
        f"Each run reads {size / (1 << 20):,.0f} MiB of weights for a few rows",
        f"products of at most {_FEW_ROWS} rows take {evidence.percent(chosen)} of a run",
        forecast=evidence.saving(chosen, 1 - EIGHT_BITS, "likely"),
        fix=config_fix(evidence, text, precision=WeightOnly(bits=8)),
        caution="with many rows, as in the first pass over a prompt, it is slower",
    )
