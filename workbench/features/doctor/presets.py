"""Configs to begin with, as deployments use them: for latency, for throughput, in int8, for a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from workbench.core.config import Config, DynamicInt8, Provider, StaticInt8
from workbench.core.config.defaults import family
from workbench.core.cpu import usable_cores
from workbench.core.home import cache_folder
from workbench.core.text import one_line
from workbench.features.doctor.provider_words import do_not_work

SMALL_BYTES = 2_000_000  # of the file; it fits the caches, and a run takes less than a millisecond
_MOST_LETTERS = 40  # of a model's name
LATENCY_THREADS = 4  # more threads seldom help a single request, and synchronizing them costs time


@dataclass(frozen=True, slots=True)
class Preset:
    """A named config for a purpose. `make` gets the open model or None; `caution` also the doctor."""

    name: str
    hint: str
    make: Callable[[Any], Config]
    caution: Callable[[Any, Any], str] = lambda *_: ""  # why it usually loses here; empty: it may win


def latency_cpu(_: Any) -> Config:
    """Return a config for one request at a time: all passes are on by default, and few cores are all used."""
    return Config(intra_op_threads=LATENCY_THREADS if usable_cores() > LATENCY_THREADS else None)


def int8_cpu(model: Any) -> Config:
    """Return a config with 8-bit weights: static for convolutional nets, dynamic for transformers."""
    if model is None:
        return latency_cpu(None).replace(precision=DynamicInt8())
    from workbench.core.prepare.int8 import suited_int8  # and onnx with it

    return latency_cpu(model).replace(precision=suited_int8(model))


def cuda(_: Any) -> Config:
    """Return a config for an NVIDIA GPU, with nothing to build first."""
    provider = Provider("cuda", device_id=0, cudnn_conv_use_max_workspace=True)
    return Config(providers=(provider, Provider("cpu")), io_binding=True)


def tensorrt(_: Any) -> Config:
    """Return a config for an NVIDIA GPU with float16 engines, built at the first load and kept."""
    provider = Provider(
        "tensorrt",
        trt_fp16_enable=True,
        trt_engine_cache_enable=True,
        trt_engine_cache_path=str(cache_folder() / "tensorrt"),
        trt_timing_cache_enable=True,
        trt_builder_optimization_level=5,
    )
    return Config(providers=(provider, Provider("cuda"), Provider("cpu")), io_binding=True)


def few_threads(*_: Any) -> str:
    """Return why one thread usually loses a comparison of latencies."""
    words = "One request at a time is usually slower with one thread: the gain is in requests side by side."
    return words if usable_cores() > 1 else ""


def int8_here(model: Any, _: Any) -> str:
    """Return why int8 usually loses on this model or on this processor."""
    if model is not None and model.describe().size_bytes < SMALL_BYTES:
        return "A model this small usually gets slower: quantizing activations costs more than it saves."
    if model is not None and not _has_integer_form(model):
        return "Its convolutions and products are in If, Loop or Scan, where ORT's quantizer leaves them."
    if isinstance(int8_cpu(model).precision, StaticInt8) and family() == "avx":
        return "Convolutions in int8 are often no faster on this processor: it has no VNNI."
    return ""


def first_question(model: Any, a: Config) -> tuple[str, Config] | None:
    """Return what to ask first about a model that runs as `a`, and the config that answers it."""
    if a.engine is not None:
        return None
    name = one_line(model.name, _MOST_LETTERS)
    is_plain = a.precision is None and not a.providers and model.describe().quantized is None
    if is_plain and not int8_here(model, None):
        return f"Does int8 pay on {name}? Compare", a.replace(precision=int8_cpu(model).precision)
    if a.level is None:
        return f"What are ORT's graph optimizations worth on {name}? Compare", a.replace(level="disabled")
    return None


def _has_integer_form(model: Any) -> bool:
    """Return whether the main graph has a convolution or product, which int8 makes faster."""
    from workbench.core.prepare.int8 import CONVOLUTIONS, PRODUCTS

    return any(node.op_type in (*CONVOLUTIONS, *PRODUCTS) for node in model.structure.graph.node)


def on_gpu(name: str, _: Any, doctor: Any) -> str:
    """Return why a preset for a GPU cannot win here, as far as the doctor knows."""
    if doctor is None:
        return "Whether it works here was not checked: open the row providers, which checks it."
    why = do_not_work(doctor).get(Provider(name).name)
    return f"{name} does not work here ({why}), so nothing would run on a GPU." if why else ""


PRESETS = (
    Preset("ORT defaults", "Nothing is set.", lambda _: Config()),
    Preset(
        "latency on the CPU",
        "One request at a time: at most 4 threads; on so few cores, the default.",
        latency_cpu,
    ),
    Preset(
        "throughput on the CPU",
        "Many requests at once: one thread each, no spinning.",
        lambda _: Config(intra_op_threads=1, spinning=False),
        few_threads,
    ),
    Preset(
        "int8 on the CPU", "8-bit weights: static for convolutional nets, dynamic else.", int8_cpu, int8_here
    ),
    Preset(
        "CUDA",
        "An NVIDIA GPU: inputs and outputs are bound to its memory.",
        cuda,
        partial(on_gpu, "cuda"),
    ),
    Preset(
        "TensorRT with cache",
        "An NVIDIA GPU: float16 engines that are kept.",
        tensorrt,
        partial(on_gpu, "tensorrt"),
    ),
)
