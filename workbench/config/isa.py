"""Which of ORT's int8 variants is fastest on this processor, and why."""

from __future__ import annotations

import platform
from functools import cache
from typing import Literal

from workbench.cpu import read_cpu

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
    """Return the family of a processor from its flags (as `workbench.cpu` names them) and architecture."""
    if "avx512_vnni" in flags or "avx_vnni" in flags:
        return "vnni"
    if machine.lower() in ("arm64", "aarch64", "armv7l", "arm64ec"):
        return "arm"
    return "avx" if machine.lower() in ("x86_64", "amd64", "i686", "i386") else "other"


@cache
def family() -> Family:
    """Return the family of this machine's processor."""
    return family_of(read_cpu().isa_flags, platform.machine())
