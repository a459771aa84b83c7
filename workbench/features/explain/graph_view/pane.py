"""A graph as rows and wires, without its drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from workbench.core.models.element_type import ElementType
from workbench.core.models.graph import Graph, TensorInfo
from workbench.features.explain.graph_view.scopes import Path, paths_of
from workbench.features.explain.graph_view.tree import INPUTS, OUTPUTS, BoxTree, tree_of

MOST_FAN_OUT = 8  # readers of a tensor that is drawn as lines: masks and shared constants become stubs
MOST_PORTS = 4  # inputs or outputs of the model that stand loose; more get a box
_NAMES = {"float": "float32", "double": "float64"}  # that numpy has for those of ONNX

Kind = Literal["node", "input", "output"]
NOT_COMPARED, NOT_FINITE = "not compared", "NaN or infinity"
ERROR_CLASSES = {  # the most times the tolerance
    "under a tenth of the tolerance": 0.1,
    "within the tolerance": 1.0,
    "beyond the tolerance": 10.0,
    "over ten times the tolerance": math.inf,
}


@dataclass(frozen=True, slots=True)
class TensorErrors:
    """How far tensors are from those of another config, as shares of their values."""

    by_tensor: Mapping[str, float | None]  # None: NaN or infinity
    tolerance: float

    def words(self, tensors: Iterable[str]) -> str:
        """Return the class of the worst of these tensors: those that a node makes or has swallowed."""
        known = [self.by_tensor[name] for name in tensors if name in self.by_tensor]
        if not known:
            return NOT_COMPARED
        if None in known:
            return NOT_FINITE
        times = max(error for error in known if error is not None) / self.tolerance
        return next(name for name, most in ERROR_CLASSES.items() if times <= most)


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A node, or an input or output of the model. None: not known of this graph."""

    node: str
    op_type: str
    kind: Kind = "node"
    provider: str | None = None
    partition: int | None = None
    fate: str | None = None
    inserted: bool = False
    passes: tuple[str, ...] = ()
    shapes: str = ""
    time_s: float | None = None
    size_bytes: int | None = None
    note: str = ""
    error: str = ""  # the class of its error; empty: the graph was compared with none


@dataclass(frozen=True, slots=True)
class Wire:
    """One tensor from one row to another. `hub`: drawn as a stub; `crosses`: into another partition."""

    source: int
    target: int
    tensor: str
    size_bytes: int | None
    hub: bool
    crosses: bool


@dataclass(frozen=True, slots=True)
class Pane:
    """A graph as a tree of modules and, if it has several, as a tree of partitions."""

    title: str
    note: str
    rows: tuple[GraphRow, ...]
    wires: tuple[Wire, ...]
    modules: BoxTree
    partitions: BoxTree | None

    @property
    def trees(self) -> dict[str, BoxTree]:
        """The trees by the names that the view has for them."""
        return {"modules": self.modules} | ({"partitions": self.partitions} if self.partitions else {})

    @property
    def nodes(self) -> int:
        return sum(row.kind == "node" for row in self.rows)


def pane_of(
    graph: Graph, rows: Mapping[str, GraphRow], known: Mapping[str, Path] = {}, *, title: str, note: str = ""
) -> Pane:
    """Return the pane of rows by node key; add the inputs and outputs of the model. `known` paths win."""
    bodies = {node.scope for node in graph.nodes if node.scope}
    inputs = [
        name for name in graph.inputs if name in graph.readers and name.rpartition("::")[0] not in bodies
    ]
    listed = [
        *(_port(graph, name, "input") for name in inputs),
        *(rows[node.key] for node in graph.nodes),
        *(_port(graph, name, "output") for name in graph.outputs),
    ]
    whole: list[Path] = [
        *((INPUTS,) if len(inputs) > MOST_PORTS else () for _ in inputs),
        *paths_of(graph, known).values(),
        *((OUTPUTS,) if len(graph.outputs) > MOST_PORTS else () for _ in graph.outputs),
    ]
    return Pane(
        title=title,
        note=note,
        rows=tuple(listed),
        wires=_wires(graph, listed, len(inputs)),
        modules=_tree(listed, whole),
        partitions=_by_partition(listed, whole),
    )


def _port(graph: Graph, name: str, kind: Kind) -> GraphRow:
    return GraphRow(name, kind, kind, shapes=shape_text(graph.info(name)), size_bytes=_size(graph, name))


def _by_partition(rows: Sequence[GraphRow], paths: Sequence[Path]) -> BoxTree | None:
    """Return the same paths within each partition, or None for a single partition."""
    numbers = {row.partition for row in rows if row.partition is not None}
    if len(numbers) < 2:
        return None
    within = [
        path if row.partition is None else (f"{short_provider(row.provider)} {row.partition}", *path)
        for row, path in zip(rows, paths, strict=True)
    ]
    return _tree(rows, within, keep=1)


def _tree(rows: Sequence[GraphRow], paths: Sequence[Path], keep: int = 0) -> BoxTree:
    words = [row.op_type.rpartition("::")[2] for row in rows]
    ports = frozenset(index for index, row in enumerate(rows) if row.kind != "node")
    return tree_of(paths, words, alone=ports, keep=keep)


def short_provider(name: str | None) -> str:
    return "unknown" if name is None else name.removesuffix("ExecutionProvider")


def _wires(graph: Graph, rows: Sequence[GraphRow], inputs: int) -> tuple[Wire, ...]:
    at = {node.key: inputs + index for index, node in enumerate(graph.nodes)}
    makers: dict[str, int] = {row.node: index for index, row in enumerate(rows[:inputs])}
    makers |= {name: at[node.key] for name, node in graph.producers.items()}
    readers: dict[str, list[int]] = {}
    for node in graph.nodes:
        for name in node.reads:
            if name in makers and makers[name] != at[node.key]:
                readers.setdefault(name, []).append(at[node.key])
    for index, name in enumerate(graph.outputs, inputs + len(graph.nodes)):
        if name in makers:
            readers.setdefault(name, []).append(index)
    wires = []
    for name, targets in readers.items():
        source, hub, size = makers[name], len(targets) > MOST_FAN_OUT, _size(graph, name)
        for target in targets:
            wires.append(Wire(source, target, name, size, hub, _crosses(rows[source], rows[target])))
    return tuple(wires)


def _crosses(source: GraphRow, target: GraphRow) -> bool:
    return None not in (source.partition, target.partition) and source.partition != target.partition


def _size(graph: Graph, tensor: str) -> int | None:
    info = graph.info(tensor)
    return info.size_bytes if info else None


@lru_cache(maxsize=4096)
def shape_text(info: TensorInfo | None) -> str:
    """Return a text such as `float32 1×128×768`, with a question mark for what is not known."""
    if info is None or (info.element is None and info.dims is None):
        return ""
    known = next((item.name.casefold() for item in ElementType if item == info.element), "?")
    element = _NAMES.get(known, known)
    if info.dims is None:
        return f"{element}, shape unknown"
    dims = "×".join("?" if dim is None else str(dim) for dim in info.dims)
    return f"{element} {dims}" if dims else f"{element} scalar"
