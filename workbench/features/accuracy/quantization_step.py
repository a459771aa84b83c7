"""The file before and after quantization: tensors and nodes of both have the same names."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from workbench.core.config import Config, Float16, PreparedModel, StaticInt8
from workbench.core.errors import ConfigError
from workbench.core.measure.limits import OnProgress, Progress
from workbench.core.models.model import Model
from workbench.core.prepare.preparing import prepare

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto


LAYERS = frozenset(
    {"Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU", "Attention", "EmbedLayerNormalization"}
)
MOVING = frozenset(  # values as they are, which float16 rounds no further
    {
        *(
            "Cast",
            "Concat",
            "Constant",
            "ConstantOfShape",
            "Expand",
            "Flatten",
            "Gather",
            "Identity",
            "MaxPool",
        ),
        *("Pad", "Reshape", "Shape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze", "Where"),
    }
)
REST = "all other operators"
_MOST_LAYERS = 32  # more layers are grouped into blocks, unless asked otherwise
MOST_BLOCKS = 24
By = Literal["layer", "block", "auto"]


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """One layer, or a block of them: the nodes of the float file that `exclude` takes.

    For float16, all nodes of one type, with the type that `blocked_ops` takes in place of their names.
    """

    name: str
    nodes: tuple[str, ...]
    op_types: tuple[str, ...]


def layer_groups(before: ModelProto, after: ModelProto, by: By = "auto") -> tuple[LayerGroup, ...]:
    """Return the groups of layers, from the float file before quantization and the quantized file, in order.

    Operators without weights that were quantized too are one group together.
    """
    changed = quantized_nodes(before, after)
    layers = [node for node in changed if node.op_type in LAYERS]
    rest = [node for node in changed if node.op_type not in LAYERS]
    together = by == "block" or (by == "auto" and len(layers) > _MOST_LAYERS)
    groups = _blocks(layers) if together else [(node.name, [node]) for node in layers]
    layer_groups = [_group(name, nodes) for name, nodes in groups]
    return (*layer_groups, _group(REST, rest)) if rest else tuple(layer_groups)


def operator_groups(before: ModelProto, blocked: Container[str]) -> tuple[LayerGroup, ...]:
    """Return a group for each type of operator that float16 computes with, in the order of the graph."""
    types = dict.fromkeys(node.op_type for node in before.graph.node)
    return tuple(
        LayerGroup(name, (name,), (name,)) for name in types if name not in MOVING and name not in blocked
    )


def quantized_nodes(before: ModelProto, after: ModelProto) -> list[NodeProto]:
    """Return the nodes that are gone, replaced, or read a DequantizeLinear in the quantized file."""
    constants = {tensor.name for tensor in after.graph.initializer}
    makers = {output: node.op_type for node in after.graph.node for output in node.output}
    restored = {  # without rows that a Gather took from an integer table: their readers stay float
        output
        for node in after.graph.node
        if node.op_type == "DequantizeLinear"
        and (node.input[0] in constants or makers.get(node.input[0]) == "QuantizeLinear")
        for output in node.output
    }

    def is_restored(name: str) -> bool:
        return name in restored or (name in constants and name.endswith("_quantized"))

    later = {node.name: node for node in after.graph.node}
    changed = []
    for node in before.graph.node:
        other = later.get(node.name)
        if other is None or other.op_type != node.op_type or any(is_restored(name) for name in other.input):
            changed.append(node)
    # A node that the quantizer only removed (a Relu replaced by clipping, a Constant) is no group.
    return [node for node in changed if node.name in later or _is_integer_now(node, makers, after)]


def _is_integer_now(node: NodeProto, made: Container[str], after: ModelProto) -> bool:
    """Return whether another operator makes the output now, or its quantized form exists."""
    names = [
        name
        for output in node.output
        for name in (output, f"{output}_quantized", f"{output}_output_quantized")
    ]
    if any(name in made for name in names):
        return True
    return any(other.name.startswith(node.name) for other in after.graph.node if node.name)


def _blocks(layers: Sequence[NodeProto]) -> list[tuple[str, list[NodeProto]]]:
    """Group by the longest module paths that leave at most MOST_BLOCKS groups."""
    paths = [node.name.strip("/").split("/") for node in layers]
    deepest = max((len(path) for path in paths), default=1)
    best: dict[str, list[NodeProto]] = {}
    for depth in range(1, deepest + 1):
        groups: dict[str, list[NodeProto]] = {}
        for node, path in zip(layers, paths, strict=True):
            key = "/".join(path[: min(depth, max(1, len(path) - 1))])
            groups.setdefault(key, []).append(node)
        if len(groups) > MOST_BLOCKS:
            break
        best = groups
    return list((best or _runs(layers)).items())


def _runs(layers: Sequence[NodeProto]) -> dict[str, list[NodeProto]]:
    """Group neighbours in the graph, where names have no modules."""
    size = -(-len(layers) // MOST_BLOCKS)
    parts = [list(layers[at : at + size]) for at in range(0, len(layers), size)]
    return {f"{part[0].name} … {part[-1].name}" if len(part) > 1 else part[0].name: part for part in parts}


def _group(name: str, nodes: Sequence[NodeProto]) -> LayerGroup:
    op_types = dict.fromkeys(node.op_type for node in nodes)
    return LayerGroup(name, tuple(node.name for node in nodes), tuple(op_types))


@dataclass(frozen=True, eq=False, slots=True)
class BeforeAfter:
    """Two files: before and after the step that changed the arithmetic."""

    before: Model
    after: Model
    notes: tuple[str, ...]


def before_and_after(
    model: Model,
    config: Config,
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_progress: OnProgress = lambda _: None,
) -> BeforeAfter:
    """Prepare the config, and return the files around its precision step; pre-processing comes before it."""
    precision = check_precision(config)
    on_step = step_reporter(on_progress, "preparing")
    prepared = prepare(model, config, calibration=calibration, cancel=cancel, on_step=on_step)
    files = (model, *prepared.stages)
    names = [step.name for step in prepared.steps]
    at = names.index(precision.LABEL) if precision.LABEL in names else len(names) - 1
    return BeforeAfter(files[at], files[at + 1], prepared.notes)


def step_reporter(on_progress: OnProgress, subject: str) -> Callable[[str], None]:
    """Return a function that reports a step with the seconds since now; the end is not known."""
    began = time.perf_counter()

    def report(step: str) -> None:
        elapsed_s = time.perf_counter() - began
        on_progress(Progress(f"{subject}: {step}", 0, elapsed_s, elapsed_s, None, None))

    return report


def check_precision(config: Config) -> Any:
    """Return the precision of a config; refuse a config without one."""
    if config.precision is None:
        raise ConfigError(
            "this config has no precision, so nothing of it was quantized",
            "give one: wb.Config(precision=wb.StaticInt8())",
        )
    return config.precision


def as_qdq(config: Config) -> tuple[Config, tuple[str, ...]]:
    """Return the config with Q and DQ nodes, and a note; integer operators have no float tensors."""
    precision = config.precision
    if not isinstance(precision, StaticInt8) or precision.format == "qdq":
        return config, ()
    note = "compared in the form of Q and DQ nodes: integer operators have no float tensors"
    return config.replace(precision=replace(precision, format="qdq")), (note,)


def float_field(config: Config) -> str:
    """Return the field of the precision that names what stays in float; refuse a precision without one."""
    precision = check_precision(config)
    if isinstance(precision, PreparedModel):
        raise ConfigError(
            f"{precision.LABEL} cannot leave out single nodes",
            "use wb.StaticInt8(), wb.DynamicInt8() or wb.WeightOnly(), which have exclude=(…), or "
            "wb.Float16(), which has blocked_ops=(…)",
        )
    return "blocked_ops" if isinstance(precision, Float16) else "exclude"
