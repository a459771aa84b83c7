"""Settings that a search may vary: those of the findings of a model, and those of its providers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.core.bundle.goal import Goal, Objective
from workbench.core.bundle.machine import Machine
from workbench.core.config import Config, Float16, Provider, TransformerFusion
from workbench.core.config.catalogue import catalogue
from workbench.core.config.provider import CPU
from workbench.core.home import cache_folder
from workbench.core.models import Inputs, Model
from workbench.core.prepare.shape import transformer_shape
from workbench.core.text import in_mib
from workbench.features.findings.gather import gather
from workbench.features.findings.record import FindingRecord
from workbench.features.findings.rule import look
from workbench.features.tune.space import JOINED

MOST_BYTES = 256 << 20  # of a file; explaining and profiling a larger model takes as long as rounds do
OWN = ("free_dimensions",)  # chosen from the sizes that were given, not from guessed ones


def finding_axes(
    model: Model,
    inputs: Inputs,
    base: Config,
    goal: Goal,
    objectives: Sequence[Objective],
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> dict[str, tuple[Config, ...]]:
    """Return the fixes that are worth a try under these objectives, by axis.

    The model is explained, and profiled for a moment; a file of more than 256 MiB is not looked at.
    """
    if model.file_bytes > MOST_BYTES:
        on_step(f"findings are not looked for in a file of more than {in_mib(MOST_BYTES)}")
        return {}
    on_step("looking for findings")
    record = look(gather(model, base, inputs, calibration=calibration, cancel=cancel))
    return axes_of(record.large, base, goal, objectives)


def axes_of(
    findings: Iterable[FindingRecord], base: Config, goal: Goal, objectives: Sequence[Objective]
) -> dict[str, tuple[Config, ...]]:
    """Return the fixes of these findings that are worth a try under these objectives, by axis."""
    axes: dict[str, tuple[Config, ...]] = {}
    for finding in findings:
        change = change_of(finding, base) if finding.gain.subject in ("time", *objectives) else None
        if change is None or (change.precision is not None and not goal.allows_other_arithmetic):
            continue
        name = axis_of(finding, change)
        axes[name] = tuple(dict.fromkeys((*axes.get(name, ()), change)))
    return axes


def change_of(finding: FindingRecord, base: Config) -> Config | None:
    """Return what the fix adds to the base; None if it is no config, or takes something out of the base."""
    fixed = finding.fix.config
    if finding.fix.kind != "config" or fixed is None:
        return None
    before, after = base.changed(), fixed.changed()
    differing = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if not differing or differing & {*OWN} or not differing <= {*after}:
        return None
    values = {}
    for name in differing:
        added, held = after[name], before.get(name, ())
        if name in JOINED:
            if not {*held} <= {*added}:
                return None
            added = tuple(value for value in added if value not in held)
        values[name] = added
    return Config().replace(**values)


def axis_of(finding: FindingRecord, change: Config) -> str:
    """Return the name of the axis: the setting, or the finding whose fix has several."""
    (name, value), *others = change.changed().items()
    if others or (name in JOINED and len(value) > 1):
        return f"findings.{finding.id}"
    if name not in JOINED:
        return name
    return f"{name}.{value[0]}" if isinstance(value[0], str) else f"{name}.{value[0][0]}"


CUDA, TENSORRT = "CUDAExecutionProvider", "TensorrtExecutionProvider"
OPENVINO = "OpenVINOExecutionProvider"
LONGEST_BUILD = 5  # the builder level of TensorRT that searches longest; the default is 3
MOST_STREAMS = 4
_CONTROL_FLOW = ("If", "Loop", "Scan")  # their bodies wait for values on the CPU: no CUDA graph


@dataclass(frozen=True, slots=True)
class ProviderAxes:
    """The axes of the providers in `names`, all of which work here.

    `sizes` are those of all symbolic dims; None: some are open or guessed. `plugins` are providers that
    installed plugins offer here.
    """

    names: Sequence[str]
    plugins: Sequence[str]
    model: Model
    machine: Machine
    cores: int
    goal: Goal
    objectives: Sequence[Objective]
    sizes: tuple[tuple[str, int], ...] | None
    is_convolutional: bool

    def options(self) -> dict[str, tuple[Config, ...]]:
        """Return the options by axis; precision and fusion are those that pay on a GPU alone."""
        plugins = [Config(providers=(Provider(name, library="auto"), Provider(CPU))) for name in self.plugins]
        axes: dict[str, list[Config]] = {"providers": [*map(self._on, self.names), *plugins]}
        for provider, settings in (
            (CUDA, self._cuda()),
            (TENSORRT, self._tensorrt()),
            (OPENVINO, self._openvino()),
        ):
            for axis, change in settings if provider in self.names else ():
                axes.setdefault(axis, []).append(change)
        return {axis: tuple(changes) for axis, changes in axes.items()}

    def _cuda(self) -> Iterator[tuple[str, Config]]:
        """Yield what may pay with CUDA."""
        if self.goal.allows_other_arithmetic:
            yield "precision", self._on(CUDA, precision=Float16())
        shape = transformer_shape(self.model.structure)
        if shape.model_type is not None and shape.num_heads is not None:
            yield "fusion", self._on(CUDA, fusion=TransformerFusion())
        yield "io_binding", self._on(CUDA, io_binding=True)
        operators = dict(self.model.describe().operators)
        if self.sizes is not None and not any(name in operators for name in _CONTROL_FLOW):
            graph = {"enable_cuda_graph": True}
            yield _named(CUDA, graph), self._on(CUDA, graph, io_binding=True, free_dimensions=self.sizes)
        yield self._option(CUDA, use_tf32=False)  # float32 in full, where the outputs with TF32 differ
        if self.is_convolutional:
            yield self._option(CUDA, cudnn_conv_algo_search="HEURISTIC")
            yield self._option(CUDA, prefer_nhwc=True)

    def _tensorrt(self) -> Iterator[tuple[str, Config]]:
        """Yield what may pay with TensorRT."""
        yield "io_binding", self._on(TENSORRT, io_binding=True)
        if self.goal.allows_other_arithmetic:
            yield self._option(TENSORRT, trt_fp16_enable=True)
        # the name of a cached engine does not tell the level that built it
        level = {"trt_builder_optimization_level": LONGEST_BUILD, "trt_engine_cache_prefix": "longest"}
        yield _named(TENSORRT, level), self._on(TENSORRT, level)

    def _openvino(self) -> Iterator[tuple[str, Config]]:
        """Yield what may pay with OpenVINO."""
        yield self._option(OPENVINO, num_of_threads=self.cores)
        if "throughput" in self.objectives and self.cores > 1:
            yield self._option(OPENVINO, num_streams=min(self.cores, MOST_STREAMS))
        if "load" in self.objectives:
            yield self._option(OPENVINO, cache_dir=self._cache("openvino"))
        if any("intel" in gpu.name.lower() for gpu in self.machine.gpus):
            # the plugin for GPUs computes in 16 bits unless it is told otherwise
            for precision in ("FP32", "FP16") if self.goal.allows_other_arithmetic else ("FP32",):
                yield self._option(OPENVINO, device_type="GPU", precision=precision)

    def _option(self, name: str, **options: Any) -> tuple[str, Config]:
        return _named(name, options), self._on(name, options)

    def _on(self, name: str, options: Mapping[str, Any] | None = None, **changes: Any) -> Config:
        """Return the change to a provider, followed by those that take the nodes that it leaves."""
        own = dict(options or {})
        rest = [CPU]
        if name == TENSORRT:
            own |= {
                "trt_engine_cache_enable": True,
                "trt_engine_cache_path": self._cache("tensorrt"),
                "trt_timing_cache_enable": True,
            }
            rest = [CUDA, CPU] if CUDA in self.names else rest
        is_known = name in (card.name for card in catalogue().providers)
        listed = (Provider(name, own), *map(Provider, rest))
        return Config(providers=listed, allow_unknown=not is_known, **changes)

    def _cache(self, kind: str) -> str:
        """Return the folder of what is compiled for this model: a name of an engine tells no weights."""
        return str(cache_folder() / f"{kind}-{self.model.sha256[:16]}")


def _named(provider: str, options: Mapping[str, Any]) -> str:
    """Return the name of the axis, after the first of the options."""
    return f"providers.{provider}.{next(iter(options))}"
