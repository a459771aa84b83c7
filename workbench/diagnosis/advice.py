"""Derive advice from facts: pure rules over what was read."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.diagnosis.records import Advice, Survey
from workbench.diagnosis.remedies import for_more
from workbench.records.machine import Machine

BUSY_SHARE = 0.05  # of the usable cores; below it the comparison's own bounds on other load take over
INT8_FLAGS = ("avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm")


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
    int8_flags = [flag for flag in INT8_FLAGS if flag in flags]
    if not int8_flags and not machine.platform.startswith("Windows"):  # Windows does not report VNNI
        yield Advice(
            "int8",
            "no instructions for 8-bit dot products (VNNI, AMX, Arm dot product): on this CPU int8 will "
            "rarely be faster than float32 and, with AVX2 or AVX-512 alone, its sums may saturate",
        )
    elif int8_flags:
        yield Advice("int8", f"{', '.join(int8_flags)}: quantized models can be faster on this CPU")
    if "asimdhp" not in flags:  # ORT's half-precision kernels exist for Arm only
        yield Advice("fp16", "on this CPU ORT casts float16 models to float32: smaller files, no speed")


def _about_load(machine: Machine, others_cores: float | None) -> Iterator[Advice]:
    if others_cores is not None and others_cores > BUSY_SHARE * machine.usable_cores:
        yield Advice(
            "other load",
            f"other programs keep {others_cores:.2g} of {machine.usable_cores} cores busy now: stop them "
            "before a comparison, or it may only be able to say unknown",
        )
