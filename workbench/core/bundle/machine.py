"""The machine and the software that made a record."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

# Builds of ONNX Runtime share an import name; the first that is installed is taken to be the one in use.
ORT_PACKAGES = (
    *("onnxruntime-gpu", "onnxruntime-openvino", "onnxruntime-directml", "onnxruntime-qnn"),
    *("onnxruntime-rocm", "onnxruntime-migraphx", "onnxruntime-training", "onnxruntime"),
)
NOT_INSTALLED = "not installed"


@dataclass(frozen=True, slots=True)
class Gpu:
    """One accelerator, as its driver names it."""

    name: str
    memory_bytes: int | None
    driver: str | None


@dataclass(frozen=True, slots=True)
class Machine:
    """The measured machine. Comparing records of different machines needs the user's consent."""

    cpu: str
    isa_flags: tuple[str, ...]
    physical_cores: int | None
    logical_cores: int
    usable_cores: int  # cores available to this process (affinity), before any quota
    quota_cores: float | None  # CPU time that the container may use; None: no limit
    memory_bytes: int
    memory_limit_bytes: int | None
    gpus: tuple[Gpu, ...]
    platform: str  # "Linux-6.1-x86_64": system, release and architecture, no host name


@dataclass(frozen=True, slots=True)
class SoftwareVersions:
    """The software that took part. `onnxruntime` is what the worker reported."""

    workbench: str
    python: str
    onnxruntime: str
    onnx: str
    numpy: str


def installed(*packages: str) -> str | None:
    """Return the version of the first of these packages in this environment, without importing it."""
    for package in packages:
        with suppress(PackageNotFoundError):
            return version(package)
    return None
