"""The doctor: what this machine and this ORT can do, and what to install for more."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import closing

from workbench._version import __version__
from workbench.core.bundle.machine import Machine, installed
from workbench.core.config import Config
from workbench.core.cpu import int8_flags, lacks_int8
from workbench.core.errors import RunFailed, StorageError, WorkerError
from workbench.core.measure.interference import LoadWatch, others_cpu_s, threads_of
from workbench.core.measure.machine import read_machine
from workbench.core.measure.providers import (
    AMD,
    GPU_EXTRA,
    NVIDIA,
    PROBE_TIMEOUT_S,
    ProviderState,
    has_nvidia,
    is_of,
    plugin_devices,
    try_provider,
)
from workbench.core.text import in_digits
from workbench.core.worker.launch import call_job
from workbench.features.doctor.records import Advice, Device, Doctor, Plugin, Survey


def survey(machine: Machine, python: str = sys.executable) -> Survey:
    """Return what works here. A provider that ends its process is reported like one that refuses."""
    try:
        facts = call_job("probe", {}, timeout_s=PROBE_TIMEOUT_S, python=python)
    except (WorkerError, RunFailed, StorageError) as error:
        return Survey(None, None, (), (), (), error.problem)
    return Survey(
        onnxruntime=str(facts["version"]),
        build=str(facts["build"]),
        distributions=tuple(str(item) for item in facts["distributions"]),
        providers=tuple(try_provider(str(name), machine, python) for name in facts["available"]),
        devices=tuple(Device(*(str(part) for part in device)) for device in facts["devices"]),
        problem=None,
        plugins=tuple(_plugin(python, *map(str, plugin)) for plugin in facts["plugins"]),
        cuda=tuple((str(asked), str(installed)) for asked, installed in facts["cuda"]),
    )


def _plugin(python: str, module: str, package: str, *vendors: str) -> Plugin:
    """Register a plugin in a process of its own: one that crashes ends that process only."""
    try:
        return Plugin(package, plugin_devices(module, python), "", vendors)
    except (WorkerError, RunFailed, StorageError) as error:
        return Plugin(package, (), error.problem, vendors)


BUSY_SHARE = 0.05  # of the usable cores; below it the comparison's own bounds on other load take over
_OWN = "in an environment of its own, since every build of ORT has the same import name"


def advise(machine: Machine, survey: Survey, others_cores: float | None) -> tuple[Advice, ...]:
    """Return all advice for this machine; empty where there is none."""
    return (
        *_about_ort(survey),
        *_about_cores(machine),
        *_about_isa(machine),
        *_about_load(machine, others_cores),
        *(Advice("more", text) for text in for_more(machine, tuple(p.name for p in survey.providers))),
    )


def _about_ort(survey: Survey) -> Iterator[Advice]:
    if survey.problem is not None:
        yield Advice(
            "onnxruntime",
            "nothing can be measured until it starts: reinstall it with "
            "pip install --force-reinstall onnxruntime (or onnxruntime-gpu)",
        )
    builds = [name for name in survey.distributions if not name.startswith(("onnxruntime-ep", "ort-"))]
    if len(builds) > 1:
        yield Advice(
            "two builds",
            f"{', '.join(builds)} have the same import name and overwrite each other: uninstall all of "
            "them, then install one",
        )
    for asked, present in survey.cuda:
        yield Advice(
            "CUDA packages",
            f"this build of onnxruntime-gpu was made for {asked}, and {present} is installed: each may "
            f"load, together they do not. Uninstall it, then {GPU_EXTRA}",
        )


def _about_cores(machine: Machine) -> Iterator[Advice]:
    quota = machine.quota_cores
    if quota is not None and quota < machine.usable_cores:
        threads = max(1, int(quota))
        yield Advice(
            "quota",
            f"the container may use {quota:g} cores, but ORT sees {machine.usable_cores} and starts as many "
            f"threads; they are then throttled. Set intra_op_threads={threads}",
        )
    elif machine.usable_cores < machine.logical_cores:
        yield Advice(
            "affinity",
            f"this process may use {machine.usable_cores} of {machine.logical_cores} cores; "
            f"set intra_op_threads={machine.usable_cores} or fewer",
        )


def _about_isa(machine: Machine) -> Iterator[Advice]:
    flags = machine.isa_flags
    if not flags:
        yield Advice("instruction sets", "the system does not report them: measure int8 to know its speed")
        return
    if "asimd" not in flags and "avx2" not in flags:
        yield Advice("AVX2", "missing: ORT falls back to its slowest kernels on this processor")
    if lacks_int8(flags, machine.platform):
        yield Advice(
            "int8",
            "no instructions for 8-bit dot products (VNNI, AMX, Arm dot product): on this CPU int8 will "
            "rarely be faster than float32 and, with AVX2 or AVX-512 alone, its sums may saturate",
        )
    elif known := int8_flags(flags):
        yield Advice("int8", f"{', '.join(known)}: quantized models can be faster on this CPU")
    if "asimdhp" not in flags:  # ORT's half-precision kernels exist for Arm only
        yield Advice("fp16", "on this CPU ORT casts float16 models to float32: smaller files, no speed")


def _about_load(machine: Machine, others_cores: float | None) -> Iterator[Advice]:
    if others_cores is not None and others_cores > BUSY_SHARE * machine.usable_cores:
        yield Advice(
            "other load",
            f"other programs keep {in_digits(others_cores, 2)} of {machine.usable_cores} cores busy now: "
            "stop them before a comparison, or it may only be able to say unknown",
        )


def for_more(machine: Machine, providers: tuple[str, ...]) -> tuple[str, ...]:
    """Return other builds of ORT that bring a provider which suits this machine and is missing."""
    system, _, processor = machine.platform.partition("-")
    x86 = processor.lower().endswith(("x86_64", "amd64"))
    builds = []
    if x86 and system in ("Linux", "Windows") and "OpenVINOExecutionProvider" not in providers:
        builds.append(f"OpenVINO, for the CPU or Intel's GPUs: install onnxruntime-openvino {_OWN}")
    if x86 and system in ("Linux", "Windows") and has_nvidia(machine) and not set(NVIDIA) & set(providers):
        builds.append(f"CUDA and TensorRT: install onnxruntime-gpu instead of onnxruntime, then {GPU_EXTRA}")
    if system == "Windows" and "DmlExecutionProvider" not in providers:
        builds.append(f"DirectML, for any GPU on Windows: install onnxruntime-directml {_OWN}")
    if system == "Linux" and any(is_of(gpu, *AMD) for gpu in machine.gpus):
        builds.append(f"MIGraphX, for AMD's GPUs: install AMD's build onnxruntime-migraphx {_OWN}")
    if system == "Darwin" and "CoreMLExecutionProvider" not in providers:
        builds.append("CoreML: the plain onnxruntime wheel for macOS brings it")
    if system == "Windows" and "qualcomm" in machine.cpu.lower() and "QNNExecutionProvider" not in providers:
        builds.append(f"QNN, for Qualcomm's NPU: install onnxruntime-qnn {_OWN}")
    return tuple(builds)


LOOK_S = 0.3  # long enough for the scheduler's ticks, short enough for a person

__all__ = ["Advice", "Device", "Doctor", "ProviderState", "Survey", "doctor"]


def doctor(runtime: str | None = None) -> Doctor:
    """Look at this machine and try every provider of this environment's ONNX Runtime.

    `runtime`: the interpreter of another environment, whose ONNX Runtime is tried instead.

    >>> import workbench as wb
    >>> report = wb.doctor()
    >>> [provider.state for provider in report.survey.providers if provider.name == "CPUExecutionProvider"]
    ['works']
    """
    python = Config(runtime=runtime).interpreter
    machine = read_machine()
    others = _others_cores()  # before our own workers make the machine busy
    surveyed = survey(machine, python)
    return Doctor(machine, _versions(surveyed), surveyed, others, advise(machine, surveyed, others))


def _others_cores() -> float | None:
    with closing(LoadWatch()) as watch:
        before = watch.read()
        time.sleep(LOOK_S)
        after = watch.read()
    spent = others_cpu_s(before, after, threads_of(os.getpid()))
    return None if spent is None or before is None or after is None else spent / (after.at - before.at)


def _versions(surveyed: Survey) -> tuple[tuple[str, str | None], ...]:
    names = ("onnx", "numpy", "jupyterlab", "plotly")
    return (
        ("workbench", __version__),
        ("python", platform.python_version()),
        ("onnxruntime", surveyed.onnxruntime),
        *((name, installed(name)) for name in names),
    )
