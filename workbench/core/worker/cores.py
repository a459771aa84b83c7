"""The core that the calling thread is held to while it is measured, the same for all configs of a round."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def cores_for_calls() -> list[int]:
    """Return the cores that no thread of a pool is bound to, first the one that the calling thread ran on.

    Nothing where the system cannot hold a thread to a core, or does not tell.
    """
    if sys.platform != "linux":
        return []
    try:
        current, threads = _current_core(), os.listdir("/proc/self/task")  # noqa: PTH208
    except OSError:  # a sandbox without these files
        return []
    allowed = os.sched_getaffinity(0)
    free = allowed.copy()
    for thread in threads:
        try:
            bound_to = os.sched_getaffinity(int(thread))
        except OSError:  # it ended
            continue
        if bound_to < allowed:
            free -= bound_to
    return sorted(free, key=lambda core: (core != current, core))


def hold_to(core: int) -> None:
    """Let the calling thread run on this core only, unless the system forbids it."""
    with suppress(OSError):  # a sandbox, or a cpuset that changed meanwhile: it runs where the system puts it
        os.sched_setaffinity(0, {core})


def _current_core() -> int:
    with open("/proc/thread-self/stat") as file:  # noqa: PTH123
        return int(file.read().rpartition(")")[2].split()[36])
