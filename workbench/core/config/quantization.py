"""Weights and activations as integers of 8 or 4 bits: fields at None take what wins on this processor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

from workbench.core.config.kinds import Choice, Count, Flag, Number, Switch
from workbench.core.config.name_kinds import Texts
from workbench.core.config.parts import ConfigPart
from workbench.core.errors import ConfigError

# The error budget of a comparison whose arithmetic differs: signal over noise of each output. Below it the
# verdict is "outputs differ". 10 dB is an error of a third of the output: no judgement of accuracy, but a
# larger error means broken outputs.
INTEGER_LEAST_SQNR_DB = 10.0

_BLOCKS = (16, 32, 64, 128, 256)
ACCURACY_LEVELS = {"float32": 1, "int8": 4}  # of MatMulNBits
RANDOM_SAMPLES = 32  # calibration examples that are drawn where there are no others
_MACHINE = "what wins on this machine"
_PER_CHANNEL = partial(
    Flag.declare,
    _MACHINE,
    "One scale for each output channel of a weight instead of one for the whole. Default: what wins here.",
    "On keeps more accuracy where channels differ widely (convolutions); off can be faster.",
    label="scale per channel",
)
_REDUCE_RANGE = partial(
    Flag.declare,
    _MACHINE,
    "Weights keep 7 of their 8 bits. Default: on where the processor's kernels saturate (x86 without VNNI).",
    "The result must be right on processors without VNNI too.",
    label="reduced range",
)
_OP_TYPES = partial(
    Texts.declare,
    "all that ORT can",
    "Only operators of these types become integer, such as MatMul and Gemm. Default: all that ORT can.",
    "One type of operator costs accuracy, or is slower as integers.",
    label="operators",
)
_EXCLUDE = partial(
    Texts.declare,
    "none",
    "Nodes that stay in float, by name. Default: none.",
    "A single layer costs most of the accuracy.",
    label="excluded nodes",
)
_WEIGHT = partial(
    Choice.declare,
    _MACHINE,
    "Signed or unsigned weights. Default: what wins here.",
    "The accelerator wants the other kind.",
    label="weights",
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DynamicInt8(ConfigPart):
    """8-bit weights, activations quantized while running, no calibration: for transformers, not convolutions.

    >>> import workbench as wb
    >>> wb.Config(precision=wb.DynamicInt8(per_channel=True)).precision
    DynamicInt8(per_channel=True)
    """

    LEAST_SQNR_DB: ClassVar[float] = INTEGER_LEAST_SQNR_DB
    FIELD: ClassVar[str] = "precision"
    KIND: ClassVar[str] = "dynamic_int8"
    LABEL: ClassVar[str] = "dynamic int8"

    weight: Literal["int8", "uint8"] | None = _WEIGHT()
    per_channel: bool | None = _PER_CHANNEL()
    reduce_range: bool | None = _REDUCE_RANGE()
    op_types: tuple[str, ...] = _OP_TYPES()
    exclude: tuple[str, ...] = _EXCLUDE()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StaticInt8(ConfigPart):
    """8-bit weights and activations, with the ranges of activations measured beforehand on calibration data.

    >>> import workbench as wb
    >>> wb.StaticInt8(format="qoperator", calibrator="entropy")
    StaticInt8(format='qoperator', calibrator='entropy')
    """

    LEAST_SQNR_DB: ClassVar[float] = INTEGER_LEAST_SQNR_DB
    FIELD: ClassVar[str] = "precision"
    KIND: ClassVar[str] = "static_int8"
    LABEL: ClassVar[str] = "static int8"

    format: Literal["qdq", "qoperator"] = Choice.declare(
        "qdq",
        "Pairs of QuantizeLinear and DequantizeLinear that ORT fuses at load (qdq), or integer operators "
        "in the file (qoperator). Default: qdq.",
        "Only to see the difference: qdq is what ORT's kernels and other providers are made for.",
        default="qdq",
    )
    activation: Literal["uint8", "int8", "uint16", "int16"] | None = Choice.declare(
        _MACHINE,
        "How activations are kept. Default: what wins here: unsigned on x86, signed on Arm.",
        "The accelerator wants another kind; 16 bits where 8 cost too much accuracy.",
        label="activations",
    )
    weight: Literal["int8", "uint8"] | None = _WEIGHT()
    per_channel: bool | None = _PER_CHANNEL()
    reduce_range: bool | None = _REDUCE_RANGE()
    calibrator: Literal["minmax", "entropy", "percentile", "distribution"] = Choice.declare(
        "minmax",
        "How ranges follow from the calibration data: extremes, least information lost, or cut tails. "
        "Default: minmax.",
        "Single outliers widen the range: entropy or percentile cut them.",
        default="minmax",
    )
    percentile: float | None = Number.declare(
        "ORT's 99.999",
        "Per cent of the values that the range covers, with calibrator='percentile'. Default: 99.999.",
        "Tails are long and unimportant.",
    )
    samples: int | None = Count.declare(
        "200, where there are as many",
        "How many examples are run to measure the ranges. Default: 200, where there are as many.",
        "More for data of many kinds; fewer to be done sooner.",
        label="calibration samples",
    )
    op_types: tuple[str, ...] = _OP_TYPES()
    exclude: tuple[str, ...] = _EXCLUDE()

    def check(self) -> None:
        for name in ("format", "calibrator"):
            if getattr(self, name) is None:
                raise ConfigError(f"{name} cannot be None.", "Leave it out for its default.")
        if self.percentile is not None and (self.calibrator != "percentile" or self.percentile > 100):
            raise ConfigError(
                f"percentile={self.percentile:g} does not fit calibrator={self.calibrator!r}.",
                "Give calibrator='percentile' with a percentile up to 100, or leave it out.",
            )
        if self.activation in ("uint16", "int16") and self.format == "qoperator":
            raise ConfigError(
                "ORT's integer operators take no 16-bit activations.",
                "Use format='qdq', or 8-bit activations.",
            )
        if self.activation == "int8" and self.weight == "uint8":
            raise ConfigError(
                "ORT has no kernels for signed activations with unsigned weights.",
                "Use weight='int8', or activation='uint8'.",
            )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WeightOnly(ConfigPart):
    """Weights of matrix products in 2, 4 or 8 bits, a scale for each block; arithmetic stays in float.

    >>> import workbench as wb
    >>> wb.WeightOnly(bits=8, block=64)
    WeightOnly(bits=8, block=64)
    """

    LEAST_SQNR_DB: ClassVar[float] = INTEGER_LEAST_SQNR_DB
    FIELD: ClassVar[str] = "precision"
    KIND: ClassVar[str] = "weight_only"
    LABEL: ClassVar[str] = "weight-only"

    bits: int = Count.declare(
        "4",
        "Bits of each weight: 2, 4 or 8. Default: 4.",
        "8 keeps more accuracy; 2 is smaller, not faster, and ruins most models.",
        default=4,
    )
    block: int = Count.declare(
        "32",
        f"Weights that share a scale: {', '.join(map(str, _BLOCKS))}. Default: 32.",
        "Smaller is more accurate and larger; 128 is smaller and faster to read.",
        default=32,
    )
    accuracy_level: Literal["int8", "float32"] = Choice.declare(
        "int8",
        "Arithmetic of the product: float32, or activations made int8 on the way. Default: int8, since "
        "float32 is slower than no quantization on most processors.",
        "float32 where the activations have outliers.",
        default="int8",
    )
    symmetric: bool = Switch.declare(
        "on",
        "Zero is in the middle of the range, so no zero points are stored. Default: on.",
        "Off where the weights of a block lie to one side.",
        default=True,
    )
    algorithm: Literal["rounding", "k_quant", "hqq"] = Choice.declare(
        "rounding",
        "How the scale of a block is found: by rounding to the nearest, or by a search for fewer errors "
        "(k-quant and HQQ, 4 bits; HQQ needs PyTorch). Default: rounding.",
        "Another try where 4 bits lose too much.",
        default="rounding",
    )
    exclude: tuple[str, ...] = _EXCLUDE()

    def check(self) -> None:
        if self.bits not in (2, 4, 8):
            raise ConfigError(f"bits cannot be {self.bits}.", "Use 2, 4 or 8.")
        if self.algorithm != "rounding" and self.bits != 4:
            raise ConfigError(
                f"{self.algorithm} makes 4 bits, not {self.bits}.", "Use bits=4, or algorithm='rounding'."
            )
        if self.block not in _BLOCKS:
            raise ConfigError(f"block cannot be {self.block}.", f"Use one of {', '.join(map(str, _BLOCKS))}.")
        if self.accuracy_level is None:
            raise ConfigError("accuracy_level cannot be None.", "Use 'int8' or 'float32'.")
