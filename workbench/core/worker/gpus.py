"""The GPUs that drivers on this machine report: NVIDIA's through NVML, others through Linux's card list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.core.bundle.machine import Gpu
from workbench.core.installed import need

_VENDORS = {"0x1002": "AMD", "0x8086": "Intel"}


def read_gpus() -> tuple[Gpu, ...]:
    """Return every GPU that a driver reports."""
    return nvidia_gpus() + drm_gpus(Path("/sys/class/drm"))


def nvidia_gpus() -> tuple[Gpu, ...]:
    """Return NVIDIA's GPUs from NVML, the driver's library: nvidia-smi would cost a process and a second."""
    need("pynvml")
    import pynvml  # type: ignore[import-untyped]

    def asked(ask: Callable[..., Any], *of: Any) -> Any:
        try:
            return ask(*of)
        except pynvml.NVMLError:  # a GPU that shares the machine's memory has no size of its own
            return None

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:  # no driver
        return ()
    driver, gpus = asked(pynvml.nvmlSystemGetDriverVersion), []
    for index in range(asked(pynvml.nvmlDeviceGetCount) or 0):
        if (handle := asked(pynvml.nvmlDeviceGetHandleByIndex, index)) is not None:
            name, memory = (
                asked(ask, handle) for ask in (pynvml.nvmlDeviceGetName, pynvml.nvmlDeviceGetMemoryInfo)
            )
            gpus.append(Gpu(name or "NVIDIA GPU", int(memory.total) if memory else None, driver))
    asked(pynvml.nvmlShutdown)
    return tuple(gpus)


def drm_gpus(folder: Path) -> tuple[Gpu, ...]:
    """Return AMD's and Intel's cards from the Linux kernel's list."""
    gpus = []
    for card in sorted(folder.glob("card[0-9]*")):
        device = card / "device"
        vendor = _VENDORS.get(_text(device / "vendor") or "")
        if vendor is None or "-" in card.name:  # card0-HDMI-1 is a connector, not a card
            continue
        name = _text(device / "product_name") or f"{vendor} GPU {_text(device / 'device') or ''}".strip()
        size = _text(device / "mem_info_vram_total")
        driver = (device / "driver").resolve().name if (device / "driver").exists() else None
        gpus.append(Gpu(name, int(size) if size and size.isdigit() else None, driver))
    return tuple(gpus)


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
