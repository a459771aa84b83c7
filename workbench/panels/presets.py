"""Configs to begin with, as deployments use them: for latency, for throughput, in int8, for a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.config import Config, DynamicInt8, Provider
from workbench.cpu import usable_cores
from workbench.home import cache_folder
from workbench.preparation.int8_choice import suited_int8

LATENCY_THREADS = 4  # more threads seldom help a single request, and synchronizing them costs time


@dataclass(frozen=True, slots=True)
class Preset:
    """A named config for a purpose; `make` gets the open model, or None."""

    name: str
    hint: str
    make: Callable[[Any], Config]


def defaults(_: Any) -> Config:
    """Return the defaults of ORT."""
    return Config()


def latency_cpu(_: Any) -> Config:
    """Return a config for one request at a time."""
    threads = min(LATENCY_THREADS, usable_cores())
    return Config(level="all", intra_op_threads=threads, execution_mode="sequential", memory_pattern=True)


def throughput_cpu(_: Any) -> Config:
    """Return a config for a server with many requests: one thread each, none of which spins."""
    return Config(level="all", intra_op_threads=1, execution_mode="sequential", spinning=False)


def int8_cpu(model: Any) -> Config:
    """Return a config with 8-bit weights: static for convolutional nets, dynamic for transformers."""
    precision = DynamicInt8() if model is None else suited_int8(model)
    return latency_cpu(model).replace(precision=precision)


def cuda(_: Any) -> Config:
    """Return a config for an NVIDIA GPU, with nothing to build first."""
    options: dict[str, str | int] = {
        "device_id": 0,
        "arena_extend_strategy": "kSameAsRequested",
        "cudnn_conv_algo_search": "EXHAUSTIVE",
        "cudnn_conv_use_max_workspace": True,
    }
    return Config(level="all", providers=(Provider("cuda", options), Provider("cpu")), io_binding=True)


def tensorrt(_: Any) -> Config:
    """Return a config for an NVIDIA GPU with float16 engines, built at the first load and kept."""
    options: dict[str, str | int] = {
        "trt_fp16_enable": True,
        "trt_engine_cache_enable": True,
        "trt_engine_cache_path": str(cache_folder() / "tensorrt"),
        "trt_timing_cache_enable": True,
        "trt_builder_optimization_level": 5,
    }
    providers = (Provider("tensorrt", options), Provider("cuda"), Provider("cpu"))
    return Config(level="all", providers=providers, io_binding=True)


PRESETS = (
    Preset("ORT defaults", "Nothing is set.", defaults),
    Preset("latency on the CPU", "One request at a time: all passes, few threads.", latency_cpu),
    Preset("throughput on the CPU", "Many requests at once: one thread each, no spinning.", throughput_cpu),
    Preset("int8 on the CPU", "8-bit weights: static for convolutional nets, dynamic else.", int8_cpu),
    Preset("CUDA", "An NVIDIA GPU: exhaustive search of convolutions, bound buffers.", cuda),
    Preset("TensorRT with cache", "An NVIDIA GPU: float16 engines that are kept.", tensorrt),
)
