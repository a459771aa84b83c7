"""The memory of a worker, the free memory of the machine, and the bound at which a worker is stopped.

Only memory that the worker itself can free counts: the system reclaims pages of mapped files (weights beside
a model, libraries) when memory runs short.
"""

from __future__ import annotations

import os
import sys
from functools import cache

from workbench.core.cgroup import memory_left

_LEAST_BYTES = 256 << 20  # a worker below this does not fill a machine
_RESERVE_SHARE = 20  # a twentieth of the memory stays free for the kernel, Jupyter and the desktop…
_RESERVE_BYTES = (256 << 20, 2 << 30)  # …within these bounds


def held_bytes(pid: int) -> int | None:
    """Return the memory of the process; None after its end, or on a system without the figure."""
    if sys.platform == "linux":
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123 - asked ten times a second
                _, resident, shared, *_ = file.read().split()
        except (OSError, ValueError):
            return None
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return None


def available_bytes() -> int:
    """Return the memory available without swapping, within the container's limit."""
    machine, group = _machine_bytes(), memory_left()
    return machine if group is None else min(machine, group)


@cache
def reserve_bytes() -> int:
    """Return the memory to keep free for everything else."""
    import psutil

    least, most = _RESERVE_BYTES
    return max(least, min(most, int(psutil.virtual_memory().total) // _RESERVE_SHARE))


def too_much(pid: int, bound_bytes: int | None) -> int | None:
    """Return the exceeded bound, the given one or the machine's, or None."""
    held = held_bytes(pid)
    if held is None:
        return None
    if bound_bytes is not None:
        return bound_bytes if held > bound_bytes else None
    if held < _LEAST_BYTES:
        return None
    short = reserve_bytes() - available_bytes()
    return max(0, held - short) if short > 0 else None


def _machine_bytes() -> int:
    if sys.platform == "linux":
        with open("/proc/meminfo", "rb") as file:  # noqa: PTH123 - psutil reads far more
            for line in file:
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1]) * 1024
    import psutil

    return int(psutil.virtual_memory().available)
