"""Other engines that run a model beside ONNX Runtime, as values of a config."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from workbench.core.config.kinds import Choice, Count, Text
from workbench.core.config.option import check_text
from workbench.core.config.parts import ConfigPart
from workbench.core.errors import ConfigError
from workbench.core.text import quoted

FACTORY = "engine.factory"  # code that a config of a stranger may not name unseen


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PyTorch(ConfigPart):
    """PyTorch, eager or compiled, running a module of your own or a sample's architecture.

    >>> import workbench as wb
    >>> wb.PyTorch(compile="default")
    PyTorch(compile='default')
    """

    FIELD: ClassVar[str] = "engine"
    KIND: ClassVar[str] = "pytorch"
    LABEL: ClassVar[str] = "PyTorch"

    factory: str | None = Text.declare(
        "the sample's own architecture",
        "What makes the module: 'package.module:function' or '/path/file.py:function'. It takes the path "
        "of the model file and returns a torch.nn.Module. Default: a sample's own architecture, with the "
        "weights of its ONNX file.",
        "The model is yours: its outputs are compared with those of the ONNX file.",
    )
    compile: Literal["default", "reduce-overhead", "max-autotune"] | None = Choice.declare(
        "eager",
        "Compile the module with torch.compile, in one of its modes. Default: eager.",
        "The comparison should be with PyTorch at its best.",
        label="torch.compile",
    )
    device: Literal["cpu", "cuda"] | None = Choice.declare(
        "cpu",
        "Where the module runs. Default: cpu.",
        "The machine has an NVIDIA GPU.",
    )

    def check(self) -> None:
        if self.factory is None:
            return
        check_text("factory", self.factory)
        place, colon, function = self.factory.rpartition(":")
        if not colon or not place or not function.isidentifier():
            raise ConfigError(
                f"factory={quoted(self.factory)} names no function.",
                "Write 'package.module:function' or '/path/file.py:function'.",
            )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OpenVino(ConfigPart):
    """The OpenVINO runtime reading the ONNX file, without ONNX Runtime.

    >>> import workbench as wb
    >>> wb.OpenVino(hint="latency")
    OpenVino(hint='latency')
    """

    FIELD: ClassVar[str] = "engine"
    KIND: ClassVar[str] = "openvino"
    LABEL: ClassVar[str] = "OpenVINO"

    device: str | None = Text.declare(
        "CPU",
        "OpenVINO's name of the device: CPU, GPU, NPU, AUTO… Default: CPU.",
        "The machine has an Intel GPU or NPU.",
    )
    hint: Literal["latency", "throughput"] | None = Choice.declare(
        "OpenVINO's choice",
        "What OpenVINO optimizes for. Default: its own choice.",
        "One caller waits for each answer (latency), or many share the machine (throughput).",
        label="performance hint",
    )
    precision: Literal["float32", "bfloat16", "float16"] | None = Choice.declare(
        "float32",
        "The arithmetic that OpenVINO may use. By itself it takes 16 bits where the processor is quick "
        "at them; here the default is float32, as in ONNX Runtime.",
        "Less precise outputs are acceptable.",
        label="arithmetic",
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TensorRt(ConfigPart):
    """TensorRT by its own Python package, without ONNX Runtime. Needs an NVIDIA GPU.

    >>> import workbench as wb
    >>> wb.TensorRt(precision="float16")
    TensorRt(precision='float16')
    """

    FIELD: ClassVar[str] = "engine"
    KIND: ClassVar[str] = "tensorrt"
    LABEL: ClassVar[str] = "TensorRT"

    precision: Literal["float32", "tf32", "float16"] | None = Choice.declare(
        "float32",
        "The arithmetic that TensorRT may use. Default: float32, without TF32.",
        "Less precise outputs are acceptable.",
        label="arithmetic",
    )
    workspace_bytes: int | None = Count.declare(
        "TensorRT's choice",
        "Most GPU memory that building may use, in bytes. Default: TensorRT's own bound.",
        "The GPU is shared.",
        label="workspace",
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GenAi(ConfigPart):
    """ONNX Runtime GenAI with the folder of the model file, whose genai_config.json it reads; for wb.decode.

    >>> import workbench as wb
    >>> wb.GenAi()
    GenAi()
    """

    FIELD: ClassVar[str] = "engine"
    KIND: ClassVar[str] = "genai"
    LABEL: ClassVar[str] = "ONNX Runtime GenAI"


EnginePart = PyTorch | OpenVino | TensorRt | GenAi
