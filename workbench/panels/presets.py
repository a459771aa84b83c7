"""Configs to begin with, as deployments use them: for latency, for throughput, for a GPU, in int8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.config import Config, DynamicInt8, Provider
from workbench.cpu import usable_cores
from workbench.home import cache_folder

LATENCY_THREADS = 4  # more seldom helps a single request, and synchronizing them costs


@dataclass(frozen=True, slots=True)
class Preset:
    """A config under a name, and what it is for."""

    name: str
    told: str
    make: Callable[[], Config]


def latency_cpu() -> Config:
    """One request at a time, as fast as it goes."""
    threads = min(LATENCY_THREADS, usable_cores())
    return Config(level="all", intra_op_threads=threads, execution_mode="sequential", memory_pattern=True)


def throughput_cpu() -> Config:
    """Many requests at once in a server: a thread each, and none of them spins while another could work."""
    return Config(level="all", intra_op_threads=1, execution_mode="sequential", spinning=False)


def cuda() -> Config:
    """An NVIDIA GPU, nothing to build first."""
    options: dict[str, str | int] = {
        "device_id": 0,
        "arena_extend_strategy": "kSameAsRequested",
        "cudnn_conv_algo_search": "EXHAUSTIVE",
        "cudnn_conv_use_max_workspace": True,
    }
    return Config(level="all", providers=(Provider("cuda", options), Provider("cpu")), io_binding=True)


def tensorrt() -> Config:
    """An NVIDIA GPU through engines in float16, built at the first load and kept for the next."""
    options: dict[str, str | int] = {
        "trt_fp16_enable": True,
        "trt_engine_cache_enable": True,
        "trt_engine_cache_path": str(cache_folder() / "tensorrt"),
        "trt_timing_cache_enable": True,
        "trt_builder_optimization_level": 5,
    }
    listed = (Provider("tensorrt", options), Provider("cuda"), Provider("cpu"))
    return Config(level="all", providers=listed, io_binding=True)


def int8_cpu() -> Config:
    """8-bit weights without calibration data: for transformers; a convolutional net wants static int8."""
    return latency_cpu().replace(precision=DynamicInt8())


PRESETS = (
    Preset("ORT's defaults", "What ORT does when told nothing.", Config),
    Preset("latency on the CPU", "One request at a time: all passes, few threads.", latency_cpu),
    Preset("throughput on the CPU", "Many requests at once: one thread each, no spinning.", throughput_cpu),
    Preset("int8 on the CPU", "Dynamic int8: 8-bit weights, no calibration data.", int8_cpu),
    Preset("CUDA", "An NVIDIA GPU: exhaustive search of convolutions, bound buffers.", cuda),
    Preset("TensorRT with cache", "An NVIDIA GPU: float16 engines that are kept.", tensorrt),
)
