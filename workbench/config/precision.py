"""The arithmetic of a config: 8-bit integers, 4-bit weights, 16-bit floats.

A field at None takes what wins on this processor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from workbench.config import precision_knobs
from workbench.config.knob import Knob
from workbench.config.parts import Part
from workbench.config.precision_knobs import BLOCKS
from workbench.errors import ConfigError
from workbench.text import QUOTED, one_line

# The error budget of a comparison whose arithmetic differs: signal over noise of each output. Below it the
# verdict is "outputs differ". 10 dB is an error of a third of the output: no judgement of accuracy, but a
# larger error means broken outputs.
INTEGER_LEAST_SQNR_DB = 10.0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DynamicInt8(Part):
    """8-bit weights, activations quantized while running, no calibration: for transformers, not convolutions.

    >>> import workbench as wb
    >>> wb.Config(precision=wb.DynamicInt8(per_channel=True)).precision
    DynamicInt8(per_channel=True)
    """

    LEAST_SQNR_DB: ClassVar[float] = INTEGER_LEAST_SQNR_DB
    FIELD: ClassVar[str] = "precision"
    KIND: ClassVar[str] = "dynamic_int8"
    LABEL: ClassVar[str] = "dynamic int8"
    KNOBS: ClassVar[tuple[Knob, ...]] = precision_knobs.DYNAMIC

    weight: Literal["int8", "uint8"] | None = None
    per_channel: bool | None = None
    reduce_range: bool | None = None
    op_types: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StaticInt8(Part):
    """8-bit weights and activations, with the ranges of activations measured beforehand on calibration data.

    >>> import workbench as wb
    >>> wb.StaticInt8(format="qoperator", calibrator="entropy")
    StaticInt8(format='qoperator', calibrator='entropy')
    """

    LEAST_SQNR_DB: ClassVar[float] = INTEGER_LEAST_SQNR_DB
    FIELD: ClassVar[str] = "precision"
    KIND: ClassVar[str] = "static_int8"
    LABEL: ClassVar[str] = "static int8"
    KNOBS: ClassVar[tuple[Knob, ...]] = precision_knobs.STATIC

    format: Literal["qdq", "qoperator"] = "qdq"
    activation: Literal["uint8", "int8", "uint16", "int16"] | None = None
    weight: Literal["int8", "uint8"] | None = None
    per_channel: bool | None = None
    reduce_range: bool | None = None
    calibrator: Literal["minmax", "entropy", "percentile", "distribution"] = "minmax"
    percentile: float | None = None
    samples: int | None = None
    op_types: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

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
class WeightOnly(Part):
    """Weights of matrix products in 4 or 8 bits, a scale for each block of them; arithmetic stays in float.

    >>> import workbench as wb
    >>> wb.WeightOnly(bits=8, block=64)
    WeightOnly(bits=8, block=64)
    """

    LEAST_SQNR_DB: ClassVar[float] = INTEGER_LEAST_SQNR_DB
    FIELD: ClassVar[str] = "precision"
    KIND: ClassVar[str] = "weight_only"
    LABEL: ClassVar[str] = "weight-only"
    KNOBS: ClassVar[tuple[Knob, ...]] = precision_knobs.WEIGHTS

    bits: int = 4
    block: int = 32
    accuracy_level: Literal["int8", "float32"] = "int8"
    symmetric: bool = True
    exclude: tuple[str, ...] = ()

    def check(self) -> None:
        if self.bits not in (4, 8):
            raise ConfigError(f"bits cannot be {self.bits}.", "Use 4 or 8.")
        if self.block not in BLOCKS:
            raise ConfigError(f"block cannot be {self.block}.", f"Use one of {', '.join(map(str, BLOCKS))}.")
        if self.accuracy_level is None:
            raise ConfigError("accuracy_level cannot be None.", "Use 'int8' or 'float32'.")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Float16(Part):
    """16-bit floats: half the memory; faster on GPUs, rarely on a CPU, which computes most of it in float32.

    >>> import workbench as wb
    >>> wb.Float16(keep_io=False)
    Float16(keep_io=False)
    """

    LEAST_SQNR_DB: ClassVar[float] = 40.0  # 1 % of the output
    FIELD: ClassVar[str] = "precision"
    KIND: ClassVar[str] = "float16"
    LABEL: ClassVar[str] = "float16"
    KNOBS: ClassVar[tuple[Knob, ...]] = precision_knobs.HALF

    keep_io: bool = True
    blocked_ops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BFloat16(Part):
    """bfloat16: float32's range with 8 bits of precision, for providers that have kernels for it (no CPU).

    >>> import workbench as wb
    >>> wb.BFloat16()
    BFloat16()
    """

    LEAST_SQNR_DB: ClassVar[float] = 20.0  # 10 %
    FIELD: ClassVar[str] = "precision"
    KIND: ClassVar[str] = "bfloat16"
    LABEL: ClassVar[str] = "bfloat16"
    KNOBS: ClassVar[tuple[Knob, ...]] = precision_knobs.HALF

    keep_io: bool = True
    blocked_ops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class PreparedModel(Part):
    """A file that was prepared elsewhere, such as by training with quantization, in place of the model's own.

    `precision` is applied to that file, as to the model's own.

    >>> import workbench as wb
    >>> wb.Config(precision=wb.PreparedModel("digits-conv-qat")).precision
    PreparedModel(model='digits-conv-qat')
    """

    LEAST_SQNR_DB: ClassVar[float] = INTEGER_LEAST_SQNR_DB
    FIELD: ClassVar[str] = "precision"
    KIND: ClassVar[str] = "prepared_model"
    LABEL: ClassVar[str] = "prepared file"
    KNOBS: ClassVar[tuple[Knob, ...]] = precision_knobs.GIVEN

    model: str | None = None
    renamed_outputs: tuple[tuple[str, str], ...] = ()
    compare_outputs: bool = True
    precision: Part | None = None  # applied to the file

    def __str__(self) -> str:
        settings = [(knob, value) for knob, value in self.items() if knob.field != "model"]
        others = [f"{knob.label} {knob.words(value)}" for knob, value in settings]
        more = f" ({', '.join(others)})" if others else ""
        return f"{self.LABEL} {file_words(self.model or '')}{more}"

    def check(self) -> None:
        if not self.model:
            raise ConfigError(
                "wb.PreparedModel names no file.",
                "Give a path or a sample's name: wb.PreparedModel('model.onnx').",
            )
        if isinstance(self.precision, PreparedModel):
            raise ConfigError(
                "wb.PreparedModel names a second file as its precision.",
                "Name the file alone: wb.PreparedModel('model.onnx').",
            )


UNNAMED = "model.onnx"  # the name that most exports have
DIGEST = re.compile(r"[0-9a-f]{12,}")


def file_words(path: str) -> str:
    """Return a file's name as people know it: without folders, but with that of a `model.onnx`.

    A cache names folders by digests, which are left out, and files of models in memory.
    """
    if digest := DIGEST.fullmatch(re.split(r"[/\\]", path)[-1].removesuffix(".onnx")):
        return f"in memory ({digest[0][:4]})"
    parts = [part for part in re.split(r"[/\\]", path) if part]
    is_named = parts[-1:] != [UNNAMED] or DIGEST.fullmatch(parts[-2:][0])
    return one_line("/".join(parts[-1:] if is_named else parts[-2:]), QUOTED)


Precision = DynamicInt8 | StaticInt8 | WeightOnly | Float16 | BFloat16 | PreparedModel
