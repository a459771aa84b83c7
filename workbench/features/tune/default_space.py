"""The default space of a model on this machine: what fires, what applies, what may be lost.

The order is that of importance on CPUs: precision, threads, level, single passes, sizes; the settings of
memory and of loading take part only where they are the objective.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from workbench.core.bundle.goal import Goal, Objective
from workbench.core.bundle.machine import Machine
from workbench.core.config import Config, DynamicInt8, StaticInt8, WeightOnly
from workbench.core.config.provider import CPU
from workbench.core.cpu import lacks_int8
from workbench.core.measure.machine import read_machine
from workbench.core.measure.providers import AZURE, working_plugins, working_providers
from workbench.core.models import Inputs, Model
from workbench.core.models.declared import declared_inputs
from workbench.core.models.samples import trained_sample
from workbench.core.models.sizes import free_dims, is_guessed
from workbench.core.prepare.int8 import suited_int8
from workbench.features.explain.observe import Observation, observe
from workbench.features.findings.gather import measured_sizes
from workbench.features.findings.record import FindingRecord
from workbench.features.tune.axes import ProviderAxes, axes_of, finding_axes
from workbench.features.tune.space import Dimension, Space

SLOW_ON_CPU = "SkipLayerNormFusion"  # its kernel took 3.4 to 7.2 times as long as the parts it replaces
LAYOUT = ("NchwcTransformer", "NhwcTransformer", "TransposeOptimizer")
LARGE_KERNEL = 9  # convolutions from this size on may be faster without the blocked layout
_MOST_PASSES = 4
FEW_ROWS = 8
LARGE_WEIGHTS_BYTES = 128 << 20  # about 4 times a last-level cache
PARALLEL_CORES = 4
WIDE = 2.0  # a graph with fewer branches has nothing to run at once, and the parallel mode costs time
MANY_CORES = (
    4  # with more of them the last parts of a loop, which one thread may wait for, are worth making smaller
)
_BLOCKS = "session.dynamic_block_base"
FIRST_EXTENDED = 2  # the level of fusions; basic ones never cost time


def default_space(
    model: Model,
    inputs: Inputs,
    *,
    base: Config | None = None,
    goal: Goal | None = None,
    objectives: Sequence[Objective] = ("latency",),
    pacing_s: float | None = None,
    calibration: Any = None,
    harmful: Sequence[str] = (),
    findings: Sequence[FindingRecord] | None = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Space:
    """Return the settings that may pay for this model here, those that its findings name included.

    The model is explained and profiled for a moment, nothing is measured against anything.
    `harmful` are passes that were found to cost time: each may be switched off. `findings` are those of the
    base where they are known; they are not looked for again.
    """
    base, goal = base or Config(), goal or Goal()
    on_step("which passes fire")
    observation = observe(model, base, passes=False, calibration=calibration, cancel=cancel)
    machine = read_machine()
    axes: dict[str, tuple[Config, ...]] = {}
    sizes = tuple(  # guessed ones stay free: the config would refuse all others
        (dim, size) for dim, size in measured_sizes(model, inputs) if not is_guessed(dim, inputs.guesses)
    )
    dims = free_dims(declared_inputs(model.structure))
    on_step("which providers work here")
    of_providers = ProviderAxes(
        names=working_providers(machine, base.interpreter, without=(CPU, AZURE)),
        plugins=working_plugins(base.interpreter),
        model=model,
        machine=machine,
        cores=_cores(machine),
        goal=goal,
        objectives=objectives,
        sizes=sizes if {dim for _, _, dim in dims} <= {*dict(sizes)} else None,
        is_convolutional=_is_convolutional(model),
    ).options()
    precisions = (
        Config(precision=precision) for precision in _precisions(model, inputs, goal, machine, calibration)
    )
    axes["precision"] = (*precisions, *of_providers.pop("precision", ()))
    axes |= of_providers
    if findings is None:
        of_findings = finding_axes(
            model, inputs, base, goal, objectives, calibration=calibration, cancel=cancel, on_step=on_step
        )
    else:
        of_findings = axes_of(findings, base, goal, objectives)
    axes |= {name: () for name in of_findings if name not in axes}  # early: a gain is predicted
    axes["intra_op_threads"] = tuple(
        Config(intra_op_threads=count) for count in (1, 2, 4, 8, 16, 32) if count < _cores(machine)
    )
    if _cores(machine) >= PARALLEL_CORES and _width(model) >= WIDE:
        axes["execution_mode"] = (Config(execution_mode="parallel"),)
    axes["level"] = () if _is_convolutional(model) else (Config(level="basic"), Config(level="disabled"))
    for name in dict.fromkeys((*harmful, *_passes(model, observation))):
        axes[f"disabled_passes.{name}"] = (Config(disabled_passes=(name,)),)
    starts: tuple[Config, ...] = ()
    if sizes:
        fixed = Config(free_dimensions=sizes)
        axes["free_dimensions"] = (fixed,)
        starts = (fixed.replace(disabled_passes=(SLOW_ON_CPU,)),)  # known sizes let that fusion fire
    if pacing_s is not None:
        axes["spinning"] = (Config(spinning=False),)
    if _cores(machine) > MANY_CORES:
        axes[f"session_entries.{_BLOCKS}"] = (Config(session_entries=((_BLOCKS, "4"),)),)
    if {*objectives} & {"memory", "load"}:
        axes["session_entries.session.disable_prepacking"] = (
            Config(session_entries=(("session.disable_prepacking", "1"),)),
        )
        axes["cpu_arena"] = (Config(cpu_arena=False),)
    if "memory" in objectives:
        axes["memory_pattern"] = (Config(memory_pattern=False),)
    if {*objectives} & {"memory", "load"}:
        axes["saved_graph"] = (Config(saved_graph="onnx"), Config(saved_graph="ort"))
    for name, options in of_findings.items():
        axes[name] = tuple(dict.fromkeys((*axes.get(name, ()), *options)))
    return Space(tuple(Dimension(name, options) for name, options in axes.items() if options), starts)


def _precisions(
    model: Model, inputs: Inputs, goal: Goal, machine: Machine, calibration: Any
) -> Iterator[DynamicInt8 | StaticInt8 | WeightOnly]:
    """Yield other arithmetic that may pay, if a limit guards the outputs."""
    if not goal.allows_other_arithmetic:
        return
    if not lacks_int8(machine.isa_flags, machine.platform):
        suited = suited_int8(model)
        has_examples = calibration is not None or trained_sample(model) is not None
        if isinstance(suited, DynamicInt8) or has_examples:
            yield suited
    if _rows(inputs) <= FEW_ROWS and model.description.size_bytes > LARGE_WEIGHTS_BYTES:
        yield WeightOnly(bits=8)
        yield WeightOnly(bits=4)


def _passes(model: Model, observation: Observation) -> Iterator[str]:
    """Yield fusions that fired, the suspect first; without those that only ever pay."""
    fired = [step for step in observation.applied if step.fired and step.level >= FIRST_EXTENDED]
    names = dict.fromkeys(step.name for step in fired)
    ordered = sorted(names, key=lambda name: name != SLOW_ON_CPU)
    yield from [name for name in ordered if name not in LAYOUT][:_MOST_PASSES]
    if LAYOUT[0] in names and _has_large_kernel(model):
        yield LAYOUT[0]


def _has_large_kernel(model: Model) -> bool:
    return any(
        max(attribute.ints, default=0) >= LARGE_KERNEL
        for node in model.structure.graph.node
        if node.op_type == "Conv"
        for attribute in node.attribute
        if attribute.name == "kernel_shape"
    )


def _width(model: Model) -> float:
    """Return how many nodes could run at once on average: nodes over the longest path."""
    depth: dict[str, int] = {}
    nodes = [node for node in model.structure.graph.node if node.op_type != "Constant"]
    for node in nodes:
        below = 1 + max((depth.get(name, 0) for name in node.input), default=0)
        depth.update(dict.fromkeys(node.output, below))
    return len(nodes) / max(depth.values(), default=1)


def _is_convolutional(model: Model) -> bool:
    """Return whether convolutions dominate: their fast layout needs the highest level."""
    return isinstance(suited_int8(model), StaticInt8)


def _rows(inputs: Inputs) -> int:
    """Return the number of rows of the largest input: sequences times positions."""
    rows = [
        getattr(value, "size", 1) for feed in inputs.feeds[:1] for value in feed.values() if value is not None
    ]
    return int(max(rows, default=1))


def _cores(machine: Machine) -> int:
    return machine.usable_cores if machine.quota_cores is None else max(1, int(machine.quota_cores))
