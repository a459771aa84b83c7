"""The system's counters of this process; None on a system without the counter."""

from __future__ import annotations

import os
import sys


def rss_bytes() -> int | None:
    return _status_bytes("VmRSS") if sys.platform == "linux" else _psutil("rss")


def peak_rss_bytes() -> int | None:
    """Return Linux's VmHWM: `ru_maxrss` survives exec and would count the parent."""
    if sys.platform == "linux":
        return _status_bytes("VmHWM")
    if sys.platform == "win32":
        return _psutil("peak_wset")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


def thread_count() -> int | None:
    return len(os.listdir("/proc/self/task")) if sys.platform == "linux" else None  # noqa: PTH208


def run_delay_ns() -> int | None:
    """Return how long runnable threads of this process waited for a core (Linux's schedstat)."""
    if sys.platform != "linux":
        return None
    waited = []
    for thread in os.listdir("/proc/self/task"):  # noqa: PTH208
        try:
            with open(f"/proc/self/task/{thread}/schedstat", "rb") as file:  # noqa: PTH123
                waited.append(int(file.read().split()[1]))
        except (OSError, IndexError, ValueError):  # a thread that ended, or a kernel without the figure
            continue
    return sum(waited) if waited else None


def _status_bytes(field: str) -> int | None:
    with open("/proc/self/status") as file:  # noqa: PTH123
        for line in file:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return None


def _psutil(field: str) -> int | None:
    try:
        import psutil
    except ImportError:
        return None
    value = getattr(psutil.Process().memory_info(), field, None)
    return None if value is None else int(value)
