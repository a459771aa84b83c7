"""What a config can run on in an environment: its ONNX Runtime and the other engines there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.core.bundle.machine import ORT_PACKAGES
from workbench.core.config.engines import GenAi, OpenVino, PyTorch, TensorRt
from workbench.core.config.runtime import interpreter, name_of
from workbench.core.worker.packages import packages_of

ENGINES: dict[str, type[PyTorch] | type[OpenVino] | type[TensorRt] | type[GenAi]] = {
    "torch": PyTorch,
    "openvino": OpenVino,
    "tensorrt": TensorRt,
    "onnxruntime-genai": GenAi,
}  # by package
ORT = "ONNX Runtime"
RunsOn = tuple[Any, str | None]  # the engine and the runtime of a config


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment and the versions of the engines in it. `runtime` is None for this one."""

    runtime: str | None
    onnxruntime: str | None
    engines: tuple[tuple[str, str], ...]  # package, version

    @property
    def choices(self) -> dict[str, RunsOn]:
        """What a config can run on here, by its words."""
        where = "" if self.runtime is None else f" ({name_of(self.runtime)})"
        choices: dict[str, RunsOn] = {}
        if self.runtime is not None and self.onnxruntime is not None:
            choices[f"{ORT} {self.onnxruntime}{where}"] = (None, self.runtime)
        for package, version in self.engines:
            choices[f"{ENGINES[package].LABEL} {version}{where}"] = (ENGINES[package](), self.runtime)
        return choices


def read_environment(runtime: str | None) -> Environment:
    """Ask an environment for its engines; raise a WorkbenchError where there is none."""
    packages = packages_of(interpreter(runtime), (*ORT_PACKAGES, *ENGINES))
    build = packages.onnxruntime
    engines = tuple((name, packages.versions[name]) for name in ENGINES if name in packages.versions)
    return Environment(runtime, None if build is None else packages.versions[build], engines)


def choices(environments: tuple[Environment, ...]) -> dict[str, RunsOn]:
    """Return everything that a config can run on, the default of this environment first."""
    here = environments[0] if environments else Environment(None, None, ())
    version = f" {here.onnxruntime}" if here.onnxruntime else ""
    offered: dict[str, RunsOn] = {f"default: {ORT}{version}": (None, None)}
    for environment in environments:
        offered |= environment.choices
    installed = {package for package, _ in here.engines}
    missing = {package: part for package, part in ENGINES.items() if package not in installed}
    return offered | {f"{part.LABEL} (not installed here)": (part(), None) for part in missing.values()}


def runs_on_of(path: str) -> RunsOn:
    """Return the ONNX Runtime of the environment that a path names."""
    interpreter(path)
    return None, str(Path(path).expanduser().absolute())


def runs_on_in_words(runs_on: RunsOn) -> str:
    """Return what a config runs on, and where."""
    engine, runtime = runs_on
    name = ORT if engine is None else str(engine)
    return name if runtime is None else f"{name} ({name_of(runtime)})"
