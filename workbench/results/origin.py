"""Whose a result is, found when it is made: the model's hash, this machine, the versions in use."""

from __future__ import annotations

import sys
import threading
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

from workbench._version import __version__
from workbench.config import Config
from workbench.measure.machine import read_machine
from workbench.models import Inputs, Model
from workbench.records.machine import Versions
from workbench.records.origin import Origin, origin_now

_RUNTIMES = ("onnxruntime-gpu", "onnxruntime")


def origin_of(
    model: Model | None,
    config: Config | None = None,
    inputs: Inputs | None = None,
    *,
    cancel: threading.Event | None = None,
) -> Origin:
    """Return the origin of a result made now, on this machine. Reads the model once, for its hash."""
    other = config is not None and config.interpreter != sys.executable
    return origin_now(
        None if model is None else model.record(cancel),
        config,
        None if inputs is None else inputs.record(),
        read_machine(),
        Versions(
            workbench=__version__,
            python=python_version(),
            onnxruntime="that of another environment" if other else _first_installed(_RUNTIMES),
            onnx=_first_installed(("onnx",)),
            numpy=_first_installed(("numpy",)),
        ),
    )


def _first_installed(names: tuple[str, ...]) -> str:
    for name in names:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "not installed"
