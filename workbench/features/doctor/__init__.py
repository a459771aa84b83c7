"""The doctor: what this machine and this ORT can do, and what to install for more."""

from __future__ import annotations

import os
import platform
import time
from contextlib import closing

from workbench._version import __version__
from workbench.core.bundle.machine import installed
from workbench.core.config import Config
from workbench.core.measure.interference import LoadWatch, others_cpu_s, threads_of
from workbench.core.measure.machine import read_machine
from workbench.core.measure.providers import ProviderState
from workbench.features.doctor.advice import advise
from workbench.features.doctor.environment import survey
from workbench.features.doctor.records import Advice, Device, Doctor, Survey

LOOK_S = 0.3  # long enough for the scheduler's ticks, short enough for a person

__all__ = ["Advice", "Device", "Doctor", "ProviderState", "Survey", "doctor"]


def doctor(runtime: str | None = None) -> Doctor:
    """Look at this machine and try every provider of this environment's ONNX Runtime.

    `runtime`: the interpreter of another environment, whose ONNX Runtime is tried instead.

    >>> import workbench as wb
    >>> report = wb.doctor()
    >>> [provider.state for provider in report.survey.providers if provider.name == "CPUExecutionProvider"]
    ['works']
    """
    python = Config(runtime=runtime).interpreter
    machine = read_machine()
    others = _others_cores()  # before our own workers make the machine busy
    surveyed = survey(machine, python)
    return Doctor(machine, _versions(surveyed), surveyed, others, advise(machine, surveyed, others))


def _others_cores() -> float | None:
    with closing(LoadWatch()) as watch:
        before = watch.read()
        time.sleep(LOOK_S)
        after = watch.read()
    spent = others_cpu_s(before, after, threads_of(os.getpid()))
    return None if spent is None or before is None or after is None else spent / (after.at - before.at)


def _versions(surveyed: Survey) -> tuple[tuple[str, str | None], ...]:
    names = ("onnx", "numpy", "jupyterlab", "plotly")
    return (
        ("workbench", __version__),
        ("python", platform.python_version()),
        ("onnxruntime", surveyed.onnxruntime),
        *((name, installed(name)) for name in names),
    )
