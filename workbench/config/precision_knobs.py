"""The fields of each precision in words, as knobs.py has those of a config."""

from __future__ import annotations

from workbench.config.knobs import Knob

BLOCKS = (16, 32, 64, 128, 256)


def _knob(field: str, label: str, kind: str, unset: str, help: str, when: str, *choices: str) -> Knob:
    return Knob(field, label, "precision", kind, unset, help, when, choices)  # type: ignore[arg-type]


_MACHINE = "what wins on this machine"
_PER_CHANNEL = _knob(
    "per_channel",
    "scale per channel",
    "flag",
    _MACHINE,
    "One scale for each output channel of a weight instead of one for the whole. Default: what wins here.",
    "On keeps more accuracy where channels differ widely (convolutions); off can be faster.",
)
_REDUCE_RANGE = _knob(
    "reduce_range",
    "reduced range",
    "flag",
    _MACHINE,
    "Weights keep 7 of their 8 bits. Default: on where the processor's kernels saturate (x86 without VNNI).",
    "The result must be right on processors without VNNI too.",
)
_OP_TYPES = _knob(
    "op_types",
    "operators",
    "texts",
    "all that ORT can",
    "Only operators of these types become integer, such as MatMul and Gemm. Default: all that ORT can.",
    "One type of operator costs accuracy, or is slower as integers.",
)
_EXCLUDE = _knob(
    "exclude",
    "excluded nodes",
    "texts",
    "none",
    "Nodes that stay in float, by name. Default: none.",
    "A single layer costs most of the accuracy.",
)
_WEIGHT = _knob(
    "weight",
    "weights",
    "choice",
    _MACHINE,
    "Signed or unsigned weights. Default: what wins here.",
    "The accelerator wants the other kind.",
    "int8",
    "uint8",
)
_KEEP_IO = _knob(
    "keep_io",
    "float32 inputs and outputs",
    "switch",
    "on",
    "Inputs and outputs stay float32, with a cast at each. Default: on.",
    "Off where the caller has 16-bit data anyway.",
)
_BLOCKED = _knob(
    "blocked_ops",
    "blocked operators",
    "texts",
    "ORT's list",
    "Operators of these types stay in float32, besides those that ORT leaves out. Default: none more.",
    "One type of operator overflows in 16 bits, or has no 16-bit kernel.",
)

DYNAMIC = (_WEIGHT, _PER_CHANNEL, _REDUCE_RANGE, _OP_TYPES, _EXCLUDE)
STATIC = (
    _knob(
        "format",
        "format",
        "choice",
        "qdq",
        "Pairs of QuantizeLinear and DequantizeLinear that ORT fuses at load (qdq), or integer operators "
        "in the file (qoperator). Default: qdq.",
        "Only to see the difference: qdq is what ORT's kernels and other providers are made for.",
        "qdq",
        "qoperator",
    ),
    _knob(
        "activation",
        "activations",
        "choice",
        _MACHINE,
        "How activations are kept. Default: what wins here: unsigned on x86, signed on Arm.",
        "The accelerator wants another kind; 16 bits where 8 cost too much accuracy.",
        "uint8",
        "int8",
        "uint16",
        "int16",
    ),
    _WEIGHT,
    _PER_CHANNEL,
    _REDUCE_RANGE,
    _knob(
        "calibrator",
        "calibrator",
        "choice",
        "minmax",
        "How ranges follow from the calibration data: extremes, least information lost, or cut tails. "
        "Default: minmax.",
        "Single outliers widen the range: entropy or percentile cut them.",
        "minmax",
        "entropy",
        "percentile",
        "distribution",
    ),
    _knob(
        "percentile",
        "percentile",
        "number",
        "ORT's 99.999",
        "Per cent of the values that the range covers, with calibrator='percentile'. Default: 99.999.",
        "Tails are long and unimportant.",
    ),
    _knob(
        "samples",
        "calibration samples",
        "count",
        "200, where there are as many",
        "How many examples are run to measure the ranges. Default: 200, where there are as many.",
        "More for data of many kinds; fewer to be done sooner.",
    ),
    _OP_TYPES,
    _EXCLUDE,
)
WEIGHTS = (
    _knob("bits", "bits", "count", "4", "Bits of each weight: 4 or 8. Default: 4.", "8 keeps more accuracy."),
    _knob(
        "block",
        "block",
        "count",
        "32",
        f"Weights that share a scale: {', '.join(map(str, BLOCKS))}. Default: 32.",
        "Smaller is more accurate and larger; 128 is smaller and faster to read.",
    ),
    _knob(
        "accuracy_level",
        "accuracy level",
        "choice",
        "int8",
        "Arithmetic of the product: float32, or activations made int8 on the way. Default: int8, since "
        "float32 is slower than no quantization on most processors.",
        "float32 where the activations have outliers.",
        "int8",
        "float32",
    ),
    _knob(
        "symmetric",
        "symmetric",
        "switch",
        "on",
        "Zero is in the middle of the range, so no zero points are stored. Default: on.",
        "Off where the weights of a block lie to one side.",
    ),
    _EXCLUDE,
)
HALF = (_KEEP_IO, _BLOCKED)
GIVEN = (
    _knob(
        "model",
        "file",
        "text",
        "none",
        "The path of an .onnx file, or a sample's name: it is loaded in place of the model's own file.",
        "The model was quantized elsewhere, or trained with quantization, and both are to be compared.",
    ),
)
