"""The fields of each precision in words, as knobs.py has those of a config."""

from __future__ import annotations

from workbench.config.kinds import Choice, Count, Flag, Number, Switch, Text
from workbench.config.name_kinds import Entries, Texts
from workbench.config.parts import PartKnob

BLOCKS = (16, 32, 64, 128, 256)


_MACHINE = "what wins on this machine"
_PER_CHANNEL = Flag(
    "per_channel",
    _MACHINE,
    "One scale for each output channel of a weight instead of one for the whole. Default: what wins here.",
    "On keeps more accuracy where channels differ widely (convolutions); off can be faster.",
    label="scale per channel",
)
_REDUCE_RANGE = Flag(
    "reduce_range",
    _MACHINE,
    "Weights keep 7 of their 8 bits. Default: on where the processor's kernels saturate (x86 without VNNI).",
    "The result must be right on processors without VNNI too.",
    label="reduced range",
)
_OP_TYPES = Texts(
    "op_types",
    "all that ORT can",
    "Only operators of these types become integer, such as MatMul and Gemm. Default: all that ORT can.",
    "One type of operator costs accuracy, or is slower as integers.",
    label="operators",
)
_EXCLUDE = Texts(
    "exclude",
    "none",
    "Nodes that stay in float, by name. Default: none.",
    "A single layer costs most of the accuracy.",
    label="excluded nodes",
)
_WEIGHT = Choice(
    "weight",
    _MACHINE,
    "Signed or unsigned weights. Default: what wins here.",
    "The accelerator wants the other kind.",
    ("int8", "uint8"),
    label="weights",
)
_KEEP_IO = Switch(
    "keep_io",
    "on",
    "Inputs and outputs stay float32, with a cast at each. Default: on.",
    "Off where the caller has 16-bit data anyway.",
    label="float32 inputs and outputs",
)
_BLOCKED = Texts(
    "blocked_ops",
    "ORT's list",
    "Operators of these types stay in float32, besides those that ORT leaves out. Default: none more.",
    "One type of operator overflows in 16 bits, or has no 16-bit kernel.",
    label="blocked operators",
)

DYNAMIC = (_WEIGHT, _PER_CHANNEL, _REDUCE_RANGE, _OP_TYPES, _EXCLUDE)
STATIC = (
    Choice(
        "format",
        "qdq",
        "Pairs of QuantizeLinear and DequantizeLinear that ORT fuses at load (qdq), or integer operators "
        "in the file (qoperator). Default: qdq.",
        "Only to see the difference: qdq is what ORT's kernels and other providers are made for.",
        ("qdq", "qoperator"),
    ),
    Choice(
        "activation",
        _MACHINE,
        "How activations are kept. Default: what wins here: unsigned on x86, signed on Arm.",
        "The accelerator wants another kind; 16 bits where 8 cost too much accuracy.",
        ("uint8", "int8", "uint16", "int16"),
        label="activations",
    ),
    _WEIGHT,
    _PER_CHANNEL,
    _REDUCE_RANGE,
    Choice(
        "calibrator",
        "minmax",
        "How ranges follow from the calibration data: extremes, least information lost, or cut tails. "
        "Default: minmax.",
        "Single outliers widen the range: entropy or percentile cut them.",
        ("minmax", "entropy", "percentile", "distribution"),
    ),
    Number(
        "percentile",
        "ORT's 99.999",
        "Per cent of the values that the range covers, with calibrator='percentile'. Default: 99.999.",
        "Tails are long and unimportant.",
    ),
    Count(
        "samples",
        "200, where there are as many",
        "How many examples are run to measure the ranges. Default: 200, where there are as many.",
        "More for data of many kinds; fewer to be done sooner.",
        label="calibration samples",
    ),
    _OP_TYPES,
    _EXCLUDE,
)
WEIGHTS = (
    Count("bits", "4", "Bits of each weight: 4 or 8. Default: 4.", "8 keeps more accuracy."),
    Count(
        "block",
        "32",
        f"Weights that share a scale: {', '.join(map(str, BLOCKS))}. Default: 32.",
        "Smaller is more accurate and larger; 128 is smaller and faster to read.",
    ),
    Choice(
        "accuracy_level",
        "int8",
        "Arithmetic of the product: float32, or activations made int8 on the way. Default: int8, since "
        "float32 is slower than no quantization on most processors.",
        "float32 where the activations have outliers.",
        ("int8", "float32"),
    ),
    Switch(
        "symmetric",
        "on",
        "Zero is in the middle of the range, so no zero points are stored. Default: on.",
        "Off where the weights of a block lie to one side.",
    ),
    _EXCLUDE,
)
HALF = (_KEEP_IO, _BLOCKED)
GIVEN = (
    Text(
        "model",
        "none",
        "The path of an .onnx file, or a sample's name: it is loaded in place of the model's own file.",
        "The model was quantized elsewhere, or trained with quantization, and both are to be compared.",
        label="file",
    ),
    Entries(
        "renamed_outputs",
        "none",
        "Outputs that have another name in the file: the model's name, and the file's. Default: none.",
        "An export or a rewrite gave outputs other names.",
    ),
    Switch(
        "compare_outputs",
        "on",
        "Outputs are compared with the baseline's before any speed is shown. Default: on.",
        "Off for two different nets: then their times alone are compared, and the verdict says so.",
        label="outputs compared",
    ),
    PartKnob(
        "precision",
        "as in the file",
        "Change the arithmetic of the file before loading. Default: as in the file.",
        "The file is another export or another net in floats, and it is to run in int8 or 16 bits.",
    ),
)
