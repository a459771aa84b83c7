"""What a config can run on: the engines of this environment, and of those that were used before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.apps.panels.recent import ENVIRONMENTS, recent, remember
from workbench.core.bundle.machine import ORT_PACKAGES
from workbench.core.config.engines import GenAi, OpenVino, PyTorch, TensorRt
from workbench.core.config.option import ELSEWHERE
from workbench.core.config.runtime import interpreter, name_of
from workbench.core.errors import WorkbenchError
from workbench.core.worker.packages import packages_of

if TYPE_CHECKING:
    from workbench.apps.panels.bench import Bench

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


def known_environments() -> tuple[Environment, ...]:
    """Return this environment, and those that were used before and still answer."""
    environments = [read_environment(None)]
    for runtime in recent(ENVIRONMENTS):
        try:
            environments.append(read_environment(runtime))
        except WorkbenchError:  # it was moved or removed
            continue
    return tuple(environments)


def named_environment(runtime: str) -> tuple[Environment, ...]:
    """Return an environment that a config names, and remember it."""
    environment = read_environment(runtime)
    remember(runtime, ENVIRONMENTS)
    return (environment,)


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


class Environments:
    """Keeps `state.environments`: this one, those of earlier kernels, and each that a config names."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self._asked: set[str | None] = {None}
        self._look(known_environments)
        self.state.observe(lambda _: self._ask(), names=["a", "b", "more"])

    def _ask(self) -> None:
        """Look at the environments that the configs name and that nobody looked at yet."""
        for runtime in {config.runtime for config in self.state.configs.values()} - self._asked:
            if runtime is not None and not runtime.startswith(ELSEWHERE):
                self._asked.add(runtime)
                self._look(partial(named_environment, runtime))

    def _look(self, work: Callable[[], tuple[Environment, ...]]) -> None:
        self.bench.in_background(work, self._add, partial(setattr, self.state, "run_error"), light=True)

    def _add(self, environments: tuple[Environment, ...]) -> None:
        known = {environment.runtime: environment for environment in self.state.environments}
        added = {environment.runtime: environment for environment in environments}
        self.state.environments = tuple({**known, **added}.values())
        self._asked |= added.keys()
        self._ask()
