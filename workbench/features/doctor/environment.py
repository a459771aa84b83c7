"""Ask the ORT of this environment what it has, and try each of its providers in a process of its own."""

from __future__ import annotations

import sys

from workbench.core.bundle.machine import Machine
from workbench.core.errors import RunFailed, StorageError, WorkerError
from workbench.core.measure.providers import PROBE_TIMEOUT_S, plugin_devices, try_provider
from workbench.core.worker.launch import call_job
from workbench.features.doctor.records import Device, Plugin, Survey


def survey(machine: Machine, python: str = sys.executable) -> Survey:
    """Return what works here. A provider that ends its process is reported like one that refuses."""
    try:
        facts = call_job("probe", {}, timeout_s=PROBE_TIMEOUT_S, python=python)
    except (WorkerError, RunFailed, StorageError) as error:
        return Survey(None, None, (), (), (), error.problem)
    return Survey(
        onnxruntime=str(facts["version"]),
        build=str(facts["build"]),
        distributions=tuple(str(item) for item in facts["distributions"]),
        providers=tuple(try_provider(str(name), machine, python) for name in facts["available"]),
        devices=tuple(Device(*(str(part) for part in device)) for device in facts["devices"]),
        problem=None,
        plugins=tuple(_plugin(python, *map(str, plugin)) for plugin in facts["plugins"]),
        cuda=tuple((str(asked), str(installed)) for asked, installed in facts["cuda"]),
    )


def _plugin(python: str, module: str, package: str, *vendors: str) -> Plugin:
    """Register a plugin in a process of its own: one that crashes ends that process only."""
    try:
        return Plugin(package, plugin_devices(module, python), "", vendors)
    except (WorkerError, RunFailed, StorageError) as error:
        return Plugin(package, (), error.problem, vendors)
