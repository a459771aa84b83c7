"""The machine of a comparison, read without the host name."""

from __future__ import annotations

import os
import platform

from workbench.core.bundle.machine import Machine
from workbench.core.cgroup import own_texts, read_limits
from workbench.core.cpu import read_cpu, usable_cores
from workbench.core.worker.gpus import read_gpus


def read_machine() -> Machine:
    """Return the machine as this process sees it; unknown values are None."""
    import psutil

    cpu, limits = read_cpu(), read_limits(*own_texts())
    memory = int(psutil.virtual_memory().total)
    limit = limits.memory_bytes
    return Machine(
        cpu=cpu.name,
        isa_flags=cpu.isa_flags,
        physical_cores=cpu.physical_cores or psutil.cpu_count(logical=False),
        logical_cores=os.cpu_count() or 1,
        usable_cores=usable_cores(),
        quota_cores=limits.cores,
        memory_bytes=memory,
        memory_limit_bytes=limit if limit is not None and limit < memory else None,
        gpus=read_gpus(),
        platform=f"{platform.system()}-{platform.release()}-{platform.machine()}",
    )
