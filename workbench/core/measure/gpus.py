"""The GPUs that drivers on this machine report: NVIDIA's through NVML, others through Linux's card list."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from workbench.core.bundle.machine import Gpu

VENDORS = {"0x1002": "AMD", "0x8086": "Intel"}
_TEXT = 96  # NVML's maximum length of a name


class _Memory(ctypes.Structure):
    """The structure nvmlMemory_t."""

    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


def read_gpus() -> tuple[Gpu, ...]:
    """Return every GPU that a driver reports."""
    return nvidia_gpus() + drm_gpus(Path("/sys/class/drm"))


def nvidia_gpus() -> tuple[Gpu, ...]:
    """Return NVIDIA's GPUs from NVML, the driver's library: nvidia-smi would cost a process and a second."""
    try:
        nvml = ctypes.CDLL("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
        if nvml.nvmlInit_v2():
            return ()
    except (OSError, AttributeError):  # no driver, or one too old for these functions
        return ()
    try:
        return _nvml_gpus(nvml)
    finally:
        nvml.nvmlShutdown()


def _nvml_gpus(nvml: ctypes.CDLL) -> tuple[Gpu, ...]:
    driver, count = ctypes.create_string_buffer(_TEXT), ctypes.c_uint()
    has_driver = nvml.nvmlSystemGetDriverVersion(driver, _TEXT) == 0
    if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)):
        return ()
    gpus = []
    for index in range(count.value):
        handle, name, memory = ctypes.c_void_p(), ctypes.create_string_buffer(_TEXT), _Memory()
        if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)):
            continue
        named = nvml.nvmlDeviceGetName(handle, name, _TEXT) == 0
        sized = nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0
        gpus.append(
            Gpu(
                name.value.decode(errors="replace") if named else "NVIDIA GPU",
                int(memory.total) if sized else None,
                driver.value.decode(errors="replace") if has_driver else None,
            )
        )
    return tuple(gpus)


def drm_gpus(folder: Path) -> tuple[Gpu, ...]:
    """Return AMD's and Intel's cards from the Linux kernel's list."""
    gpus = []
    for card in sorted(folder.glob("card[0-9]*")):
        device = card / "device"
        vendor = VENDORS.get(_text(device / "vendor") or "")
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
