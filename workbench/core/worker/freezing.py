"""Suspend and resume a process with all its threads."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import Literal

HAS_SIGNALS = os.name == "posix"
_STOP_S = 0.02


def stop(group: int, pid: int) -> bool:
    """Suspend the `group`, or the `pid` on systems without groups; return whether all threads stand still."""
    try:
        if HAS_SIGNALS:
            return not send(group, signal.SIGSTOP) or _await_stop(pid)
        _windows(pid, "suspend")
    except PermissionError:
        return False
    return True


def go_on(group: int, pid: int) -> None:
    with contextlib.suppress(PermissionError):  # a process that cannot be stopped runs already
        if HAS_SIGNALS:
            send(group, signal.SIGCONT)
        else:
            _windows(pid, "resume")


def send(group: int, number: signal.Signals) -> bool:
    """Send a signal; return False if the group has ended."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def _windows(pid: int, action: Literal["suspend", "resume"]) -> None:
    import psutil  # only where POSIX signals do not exist

    try:
        getattr(psutil.Process(pid), action)()
    except psutil.NoSuchProcess:  # the next request reports the end
        return
    except psutil.AccessDenied as error:
        raise PermissionError(str(error)) from error


def _await_stop(pid: int) -> bool:
    """Wait until no thread runs (Linux only): a spinning pool thread may need a scheduler tick."""
    if sys.platform != "linux":
        return True
    deadline = time.perf_counter() + _STOP_S
    while time.perf_counter() < deadline:
        try:
            if _states(pid) <= {b"T", b"Z", b"X"}:
                return True
        except (OSError, IndexError):  # a thread ended between the listing and the reading
            continue
        os.sched_yield()  # a thread stops only once it has a core, and this loop may hold the one it needs
    return False


def _states(pid: int) -> set[bytes]:
    """Return the states of all threads: R runs, S sleeps, T is stopped."""
    states = set()
    for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - called between all blocks
        with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:  # noqa: PTH123
            states.add(file.read().rpartition(b")")[2].split()[0])
    return states
