"""The arithmetic of a config: integers, 16-bit floats, or another file in the model's place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from workbench.core.config.kinds import Switch, Text
from workbench.core.config.name_kinds import Entries, Texts
from workbench.core.config.parts import ConfigPart, PartKnob
from workbench.core.config.quantization import INTEGER_LEAST_SQNR_DB, DynamicInt8, StaticInt8, WeightOnly
from workbench.core.errors import ConfigError
from workbench.core.text import QUOTED, has_login, one_line, public_address, shorten


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Float16(ConfigPart):
    """16-bit floats: half the memory; faster on GPUs, rarely on a CPU, which computes most of it in float32.

    >>> import workbench as wb
    >>> wb.Float16(keep_io=False)
    Float16(keep_io=False)
    """

    LEAST_SQNR_DB: ClassVar[float] = 40.0  # 1 % of the output
    FIELD: ClassVar[str] = "precision"
    KIND: ClassVar[str] = "float16"
    LABEL: ClassVar[str] = "float16"

    keep_io: bool = Switch.declare(
        "on",
        "Inputs and outputs stay float32, with a cast at each. Default: on.",
        "Off where the caller has 16-bit data anyway.",
        label="float32 inputs and outputs",
        default=True,
    )
    blocked_ops: tuple[str, ...] = Texts.declare(
        "ORT's list",
        "Operators of these types stay in float32, besides those that ORT leaves out. Default: none more.",
        "One type of operator overflows in 16 bits, or has no 16-bit kernel.",
        label="blocked operators",
    )


@dataclass(frozen=True, slots=True, repr=False)
class PreparedModel(ConfigPart):
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

    model: str | None = Text.declare(
        "none",
        "The path of an .onnx file, or a sample's name: it is loaded in place of the model's own file.",
        "The model was quantized elsewhere, or trained with quantization, and both are to be compared.",
        label="file",
    )
    renamed_outputs: tuple[tuple[str, str], ...] = Entries.declare(
        "none",
        "Outputs that have another name in the file: the model's name, and the file's. Default: none.",
        "An export or a rewrite gave outputs other names.",
    )
    compare_outputs: bool = Switch.declare(
        "on",
        "Outputs are compared with the baseline's before any speed is shown. Default: on.",
        "Off for two different nets: then their times alone are compared, and the verdict says so.",
        label="outputs compared",
        default=True,
    )
    precision: ConfigPart | None = PartKnob.declare(
        "as in the file",
        "Change the arithmetic of the file before loading. Default: as in the file.",
        "The file is another export or another net in floats, and it is to run in int8 or 16 bits.",
    )  # applied to the file

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
        if has_login(self.model):
            raise ConfigError(
                f"wb.PreparedModel: {shorten(public_address(self.model))} has a user or a password, "
                "and a config is saved and shared.",
                "Leave them out, or download the file yourself and give its path.",
            )
        if isinstance(self.precision, PreparedModel):
            raise ConfigError(
                "wb.PreparedModel names a second file as its precision.",
                "Name the file alone: wb.PreparedModel('model.onnx').",
            )


_UNNAMED = "model.onnx"  # the name that most exports have
DIGEST = re.compile(r"[0-9a-f]{12,}")


def file_words(path: str) -> str:
    """Return a file's name as people know it: without folders, but with that of a `model.onnx`.

    A cache names folders by digests, which are left out, and files of models in memory.
    """
    path = public_address(path)
    if digest := DIGEST.fullmatch(re.split(r"[/\\]", path)[-1].removesuffix(".onnx")):
        return f"in memory ({digest[0][:4]})"
    parts = [part for part in re.split(r"[/\\]", path) if part]
    is_named = parts[-1:] != [_UNNAMED] or DIGEST.fullmatch(parts[-2:][0])
    return one_line("/".join(parts[-1:] if is_named else parts[-2:]), QUOTED)


Precision = DynamicInt8 | StaticInt8 | WeightOnly | Float16 | PreparedModel
