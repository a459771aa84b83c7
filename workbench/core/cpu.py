"""Read which processor this is and which of its instruction sets matter to ORT's kernels."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

# What MLAS and the CPU provider choose their kernels by; x86 names as Linux writes them, then Arm's.
ISA_FLAGS = (
    *("sse4_1", "avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512vl"),
    *("avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"),
    *("neon", "asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "sme"),
)

X86_INT8 = ("avx512_vnni", "avx_vnni", "amx_int8")  # they multiply bytes and add without saturation
ARM_INT8 = ("asimddp", "i8mm")
INT8_FLAGS = (*X86_INT8, *ARM_INT8)  # without one of them, int8 is rarely faster than float32

ARM_PARTS = {  # MIDR part numbers of Arm's own cores that run inference today
    "0xd08": "Cortex-A72",
    "0xd0b": "Cortex-A76",
    "0xd0c": "Neoverse N1",
    "0xd40": "Neoverse V1",
    "0xd49": "Neoverse N2",
    "0xd4f": "Neoverse V2",
    "0xd8e": "Neoverse N3",
    "0xd84": "Neoverse V3",
}
MAC_FEATURES = {  # our flag: the sysctl names that say it
    "avx2": ("hw.optional.avx2_0",),
    "fma": ("hw.optional.fma",),
    "avx512f": ("hw.optional.avx512f",),
    "avx512bw": ("hw.optional.avx512bw",),
    "avx512vl": ("hw.optional.avx512vl",),
    "asimd": ("hw.optional.arm.AdvSIMD", "hw.optional.neon"),
    "asimdhp": ("hw.optional.arm.FEAT_FP16",),
    "asimddp": ("hw.optional.arm.FEAT_DotProd",),
    "i8mm": ("hw.optional.arm.FEAT_I8MM",),
    "bf16": ("hw.optional.arm.FEAT_BF16",),
    "sme": ("hw.optional.arm.FEAT_SME",),
}
WINDOWS_FEATURES = {"sse4_1": 37, "avx": 39, "avx2": 40, "avx512f": 41, "asimd": 19, "asimddp": 43}


@dataclass(frozen=True, slots=True)
class Cpu:
    """One processor as the system describes it."""

    name: str
    isa_flags: tuple[str, ...]
    physical_cores: int | None


def read_cpu() -> Cpu:
    """Return the processor of this machine; what the system does not report is None or left out."""
    if sys.platform == "darwin":
        return _read_mac()
    if sys.platform == "win32":
        return _read_windows()
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return parse_cpuinfo(text)


def parse_cpuinfo(text: str) -> Cpu:
    """Return the processor that the text of /proc/cpuinfo describes, x86 or Arm."""
    packages = [_fields(part) for part in text.split("\n\n") if part.strip()]
    first: dict[str, str] = {}
    for fields in packages:
        first = {**fields, **first}
    present = set((first.get("flags") or first.get("Features") or "").split())
    cores = {(p["physical id"], p["core id"]) for p in packages if "physical id" in p and "core id" in p}
    return Cpu(_name(first), tuple(flag for flag in ISA_FLAGS if flag in present), len(cores) or None)


def _fields(part: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in part.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _name(fields: dict[str, str]) -> str:
    named = fields.get("model name") or fields.get("Model") or fields.get("Hardware")
    if named:
        return named
    part = fields.get("CPU part")
    if fields.get("CPU implementer") == "0x41" and part in ARM_PARTS:
        return f"Arm {ARM_PARTS[part]}"
    if part:
        return f"Arm, implementer {fields.get('CPU implementer')}, part {part}"
    return platform.processor() or platform.machine() or "unknown"


def _read_mac() -> Cpu:
    import ctypes

    library = ctypes.CDLL(None)

    def ask(name: str) -> bytes | None:
        size = ctypes.c_size_t(256)
        value = ctypes.create_string_buffer(256)
        failed = library.sysctlbyname(name.encode(), value, ctypes.byref(size), None, 0)
        return None if failed else value.raw[: size.value]

    def number(name: str) -> int | None:
        value = ask(name)
        return None if value is None else int.from_bytes(value, sys.byteorder)

    flags = tuple(flag for flag, names in MAC_FEATURES.items() if any(number(name) for name in names))
    name = (ask("machdep.cpu.brand_string") or b"").rstrip(b"\0").decode(errors="replace")
    return Cpu(name or platform.processor() or "unknown", flags, number("hw.physicalcpu"))


def _read_windows() -> Cpu:
    import psutil

    name = platform.processor() or "unknown"
    flags: tuple[str, ...] = ()
    if sys.platform == "win32":  # repeated, so that the type checker reads this on Windows only
        import ctypes
        import winreg

        key = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
            name = str(winreg.QueryValueEx(opened, "ProcessorNameString")[0]).strip()
        has = ctypes.windll.kernel32.IsProcessorFeaturePresent
        flags = tuple(flag for flag, number in WINDOWS_FEATURES.items() if has(number))
    return Cpu(name, flags, psutil.cpu_count(logical=False))


def int8_flags(isa_flags: Iterable[str]) -> tuple[str, ...]:
    """Return those flags that stand for instructions for products of bytes."""
    return tuple(flag for flag in INT8_FLAGS if flag in isa_flags)


def lacks_int8(isa_flags: Sequence[str], system: str) -> bool:
    """Return whether a processor is known to have no instructions for products of bytes.

    `system` is the platform of the machine: Windows does not report those of x86.
    """
    is_reported = bool(isa_flags) and not (system.startswith("Windows") and "asimd" not in isa_flags)
    return is_reported and not int8_flags(isa_flags)


def usable_cores() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    import psutil

    process = psutil.Process()
    return len(process.cpu_affinity()) if hasattr(process, "cpu_affinity") else os.cpu_count() or 1
