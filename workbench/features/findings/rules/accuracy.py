"""Accuracy that quantization or 16-bit floats lose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.core.config import DynamicInt8, Float16, PreparedModel, StaticInt8, WeightOnly, defaults
from workbench.core.rewrites.graphs import with_bodies
from workbench.core.text import counted
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import precision_fix, rule
from workbench.features.findings.weights import Weight

if TYPE_CHECKING:
    from onnx import NodeProto

WIDE_RANGE = 16.0  # the median channel of a weight with one scale keeps 4 of 8 bits
LAYER_SHARE = 0.5  # of the squared error
LAYER_LEAST_ERROR = 0.03  # of the layer's own output; below it no layer matters
LOW_SQNR_DB = 20.0  # an error of a tenth of the output
_MOST_LAYERS = 3
MOST_ERROR_LEFT = 0.05  # of the outputs, once the layers that cause it are in float
FLOAT16_ERROR_LEFT = 0.01  # below what a comparison allows float16
EXCLUDE = f"wb.exclude_for(model, config, max_error={MOST_ERROR_LEFT})"


@rule(
    "one-scale-for-wide-channels",
    needs=("source_weights",),
    recognised="int8 weights with one scale a tensor, and a channel 16 times as large as the median one",
    advice="give each channel a scale of its own: per_channel=True",
    source="arithmetic: the median channel keeps 4 of its 8 bits; Nagel et al., 2019, for whole nets",
)
def one_scale_for_wide_channels(evidence: Evidence) -> FindingRecords:
    """One scale per tensor wastes the bits of small channels."""
    settled = _settled(evidence)
    if settled is None or settled.per_channel:
        return
    ranges = {weight.name: ratio for weight in evidence.read_weights if (ratio := _range(evidence, weight))}
    wide = {name: ratio for name, ratio in ranges.items() if ratio >= WIDE_RANGE}
    if not wide:
        return
    worst = max(wide, key=lambda name: wide[name])
    readers = [node for node in evidence.source_nodes if wide.keys() & set(node.inputs)]
    yield finding(
        f"{counted(len(wide), 'weight shares', 'weights share')} one scale among channels of different size",
        f"the largest channel of {worst[:60]} is {wide[worst]:.0f} times the median one",
        forecast=Forecast.unknown("accuracy", "likely", readers),
        fix=precision_fix(
            evidence, "give each channel a scale of its own: per_channel=True", per_channel=True
        ),
        caution="products of dynamic int8 may get slower with it",
    )


@rule(
    "saturating-int8",
    recognised="int8 weights of 8 bits on an x86 processor without VNNI",
    advice="use 7 bits for the weights: reduce_range=True, which is the default there",
    source="ORT's documentation and OpenVINO's on saturation: two products are added in 16 bits",
)
def saturating_int8(evidence: Evidence) -> FindingRecords:
    """The integer kernels of this processor saturate with weights of 8 bits."""
    settled = _settled(evidence)
    if settled is None or settled.reduce_range or evidence.cpu_family != "avx":
        return
    yield finding(
        "This processor's int8 kernels saturate with weights of 8 bits",
        "it has no VNNI: two products of bytes are added in 16 bits, and large sums are cut",
        forecast=Forecast.unknown("accuracy", "likely"),
        fix=precision_fix(evidence, "use 7 bits for the weights: reduce_range=True", reduce_range=True),
    )


@rule(
    "seven-bits-for-nothing",
    recognised="reduce_range=True on a processor whose integer kernels do not saturate (VNNI, Arm)",
    advice="leave reduce_range out",
    source="reduce_range is for kernels that add in 16 bits; elsewhere it only costs a bit",
)
def seven_bits_for_nothing(evidence: Evidence) -> FindingRecords:
    """Weights keep 7 bits where 8 are as fast."""
    precision = evidence.config.precision
    if not isinstance(precision, DynamicInt8 | StaticInt8) or not precision.reduce_range:
        return
    if evidence.cpu_family not in ("vnni", "arm"):
        return
    yield finding(
        "The weights keep 7 bits, and this processor needs no such reserve",
        "its integer kernels add without saturation",
        forecast=Forecast.unknown("accuracy", "sure"),
        fix=precision_fix(evidence, "leave reduce_range out", reduce_range=None),
        caution="a model that runs on older processors, too, needs it there",
    )


@rule(
    "sensitive-layer",
    needs=("layer_noise",),
    recognised="up to 3 layers cause half of the squared error, each at least 3 % of its output",
    advice="keep them in float: exclude=(…); wb.exclude_for finds the fewest for an error",
    source="the layer errors of this model, or its sensitivity study",
)
def sensitive_layer(evidence: Evidence) -> FindingRecords:
    """A few layers cause most of the error."""
    noise, precision = evidence.layer_noise, evidence.config.precision
    if not noise or not isinstance(precision, DynamicInt8 | StaticInt8 | WeightOnly):
        return
    ordered = sorted(noise, key=lambda layer: -layer[1])
    total = sum(squared for _, squared in ordered)
    if not total:  # no layer causes any
        return
    chosen: list[tuple[tuple[str, ...], float]] = []
    while sum(squared for _, squared in chosen) < LAYER_SHARE * total and len(chosen) < len(ordered):
        chosen.append(ordered[len(chosen)])
    loud = all(squared >= LAYER_LEAST_ERROR**2 for _, squared in chosen)
    if len(chosen) > _MOST_LAYERS or len(ordered) <= 2 * len(chosen) or not loud:
        return
    nodes = tuple(name for names, _ in chosen for name in names)
    share = sum(squared for _, squared in chosen) / total
    exclude = tuple(dict.fromkeys((*precision.exclude, *nodes)))
    fix = precision_fix(evidence, "keep them in float: exclude=(…)", exclude=exclude)
    yield finding(
        f"{len(chosen)} of {len(ordered)} layers cause{'s' * (len(chosen) == 1)} most of the error",
        f"{share * 100:.0f} % of the squared error; the worst has an error of "
        f"{chosen[0][1] ** 0.5 * 100:.0f} % of its output",
        forecast=Forecast.unknown("accuracy", "likely", nodes),
        fix=replace(fix, code=EXCLUDE),
    )


@rule(
    "accuracy-lost",
    needs=("accuracy",),
    recognised="on labelled examples the accuracy is below the baseline's, with its whole interval",
    advice="keep the layers that cause it in float; calibrate on real data; or use 16-bit floats",
    source="the evaluation set of the model, paired item by item",
)
def accuracy_lost(evidence: Evidence) -> FindingRecords:
    """The accuracy dropped."""
    score = None if evidence.accuracy is None else evidence.accuracy.score(evidence.label)
    lost = None if score is None else score.against
    if lost is None or lost.high is None or lost.low is None or lost.high >= 0:
        return
    yield finding(
        f"The accuracy is {-lost.value * 100:.2g} points lower than the baseline's",
        f"95 % interval {-lost.high * 100:.2g} to {-lost.low * 100:.2g} points",
        forecast=Forecast.unknown("accuracy", "sure"),
        fix=_find_layers(evidence),
    )


@rule(
    "channels-lost-in-a-common-scale",
    needs=("agreement",),
    recognised="quantized channels that became constant, or too far off on their own scale, after a Concat",
    advice="leave the tail in float: exclude=(the Concat and the nodes behind it)",
    source="arithmetic: boxes up to 640 and scores up to 1 in 8 bits have one scale of 2.5",
)
def channels_lost_in_a_common_scale(evidence: Evidence) -> FindingRecords:
    """A Concat joins large and small values, and one scale for both destroys the small ones."""
    precision = evidence.config.precision
    if not isinstance(precision, StaticInt8):
        return
    lost = [row for row in evidence.agreement or () if row.agrees is False and row.tail]
    tail = tuple(dict.fromkeys(name for row in lost for name in row.tail))
    if not tail or set(tail) <= set(precision.exclude):
        return
    exclude = tuple(dict.fromkeys((*precision.exclude, *tail)))
    nodes = [node for node in evidence.source_nodes if node.name in tail]
    yield finding(
        f"{len(lost)} output{'s' * (len(lost) > 1)} lose{'s' * (len(lost) == 1)} channels in a scale that "
        "suits others",
        *(f"{row.output[:60]}: {row.reason[:200]}" for row in lost[:3]),
        forecast=Forecast.unknown("accuracy", "sure", nodes or tail),
        fix=precision_fix(evidence, "leave the tail in float: exclude=(…)", exclude=exclude),
    )


@rule(
    "outputs-far-from-float",
    needs=("agreement",),
    recognised="another arithmetic than the baseline's, and an output with an SQNR below 20 dB",
    advice="look at the error of each layer: wb.layer_errors",
    source="20 dB is an error of a tenth of the output",
)
def outputs_far_from_float(evidence: Evidence) -> FindingRecords:
    """The outputs are far from the baseline's."""
    if evidence.config.precision is None or not evidence.agreement:
        return
    far = [row for row in evidence.agreement if row.sqnr_db is not None and row.sqnr_db < LOW_SQNR_DB]
    if not far:
        return
    yield finding(
        f"{len(far)} output{'s' * (len(far) > 1)} differ{'s' * (len(far) == 1)} from the baseline by a tenth "
        "or more",
        *(f"{row.output[:60]}: {row.sqnr_db:.0f} dB" for row in far[:3]),
        forecast=Forecast.unknown("accuracy", "likely"),
        fix=_find_layers(evidence),
        caution="random inputs and random weights exaggerate it; labelled examples decide",
    )


def _find_layers(evidence: Evidence) -> Fix:
    """Return the search for what to leave in float, which `try_fix` makes."""
    is_half = isinstance(evidence.config.precision, Float16)
    what, error = ("operators", FLOAT16_ERROR_LEFT) if is_half else ("layers", MOST_ERROR_LEFT)
    code = f"wb.exclude_for(model, config, max_error={error})"
    if isinstance(evidence.config.precision, PreparedModel):
        return Fix("note", "prepare the file anew with fewer layers in integers")
    return Fix("note", f"find the {what} that cause it, and keep these in float", code=code, max_error=error)


def _settled(evidence: Evidence) -> DynamicInt8 | StaticInt8 | None:
    """Return the int8 of the config with what it leaves open as this processor settles it."""
    precision = evidence.config.precision
    if isinstance(precision, DynamicInt8):
        return defaults.dynamic_int8(precision, evidence.cpu_family)[0]
    if isinstance(precision, StaticInt8):
        return defaults.static_int8(precision, evidence.cpu_family)[0]
    return None


def _range(evidence: Evidence, weight: Weight) -> float | None:
    """Return the range over the output channels: the columns of a matrix as it is, else the first axis."""
    model = evidence.source_structure or evidence.structure
    readers = [node for graph in with_bodies(model.graph) for node in graph.node if weight.name in node.input]
    plain = any(
        node.op_type == "MatMul" or (node.op_type == "Gemm" and not _transposes(node)) for node in readers
    )
    return weight.column_range if plain else weight.channel_range if readers else None


def _transposes(node: NodeProto) -> bool:
    return any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
