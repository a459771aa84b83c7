"""What a precision leaves open: which of ORT's int8 variants is fastest on a processor, and why."""

from __future__ import annotations

import platform
from dataclasses import replace
from functools import cache
from typing import Any, Literal, TypeVar

from workbench.core.config.quantization import DynamicInt8, StaticInt8
from workbench.core.cpu import X86_INT8, read_cpu

Int8 = TypeVar("Int8", DynamicInt8, StaticInt8)
Family = Literal["vnni", "avx", "arm", "other"]
REASONS: dict[Family, str] = {
    "vnni": "this processor multiplies unsigned by signed bytes in one instruction (VNNI), "
    "which adds without saturation",
    "avx": "this processor has no VNNI: its kernels multiply unsigned by signed bytes and saturate "
    "at 16 bits, so weights keep 7 bits",
    "arm": "Arm's kernels take signed by signed bytes without saturation",
    "other": "nothing is known of this processor's integer kernels; most take unsigned by signed bytes",
}


def family_of(flags: tuple[str, ...], machine: str) -> Family:
    """Return the family of a processor from its flags (as `core.cpu` names them) and architecture."""
    if any(flag in X86_INT8 for flag in flags):
        return "vnni"
    if machine.lower() in ("arm64", "aarch64", "armv7l", "arm64ec"):
        return "arm"
    return "avx" if machine.lower() in ("x86_64", "amd64", "i686", "i386") else "other"


@cache
def family() -> Family:
    """Return the family of this machine's processor."""
    return family_of(read_cpu().isa_flags, platform.machine())


def dynamic_int8(asked: DynamicInt8, family: Family) -> tuple[DynamicInt8, str]:
    """Choose signed weights and a scale a tensor, which is fastest; 7 bits where the kernels saturate."""
    return _settled(asked, family, per_channel=False)


def static_int8(asked: StaticInt8, family: Family) -> tuple[StaticInt8, str]:
    """Choose unsigned activations and signed weights on x86, both signed on Arm; a scale for each channel."""
    return _settled(asked, family, per_channel=True, activation="int8" if family == "arm" else "uint8")


def _settled(asked: Int8, family: Family, **fastest: Any) -> tuple[Int8, str]:
    """Return the precision with the fastest value of each field that is None, and the reason for them."""
    fastest |= {"weight": "int8", "reduce_range": family == "avx"}
    left_open = {name: value for name, value in fastest.items() if getattr(asked, name) is None}
    return replace(asked, **left_open), REASONS[family] if left_open else ""
