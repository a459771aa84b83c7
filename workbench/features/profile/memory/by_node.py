"""Memory of a run, node by node: the arena from the profiler, live activations from the graph."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from workbench.core.bundle.codec import TABLE
from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.models.graph import Graph
from workbench.core.text import in_mib
from workbench.features.profile.flops.shapes import profiled_shapes
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.trace import SIGNED, EventKind, node_name

MEMORY_BUDGET_S = 0.1  # every run allocates alike


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """One node of the last run. None: the trace does not say."""

    position: int
    node: str
    op_type: str | None
    allocated_bytes: int | None = field(metadata=SIGNED)  # from the arena, less what the node freed
    in_use_bytes: int | None = field(metadata=SIGNED)  # after it ran
    held_bytes: int | None = field(metadata=SIGNED)  # by the arena, from the system
    output_bytes: int | None = field(metadata=SIGNED)
    live_bytes: int | None  # activations that it or a later node needs, by the graph

    @property
    def temporary_bytes(self) -> int | None:
        """Scratch space: allocated beyond the outputs. None where a planned block hides it."""
        if self.allocated_bytes is None or self.output_bytes is None or not self.allocated_bytes:
            return None
        return max(0, self.allocated_bytes - self.output_bytes)


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """The last run of a profile, node by node, and its totals. None: not known."""

    nodes: tuple[NodeMemory, ...] = field(metadata=TABLE)
    weights_bytes: int | None
    peak_live_bytes: int | None
    arena_peak_bytes: int | None = field(metadata=SIGNED)
    arena_held_bytes: int | None = field(metadata=SIGNED)

    def to_frame(self) -> DataFrame:
        """One row per node, in the order of execution."""
        names = (
            *("position", "node", "op_type", "allocated_bytes", "temporary_bytes", "in_use_bytes"),
            *("held_bytes", "output_bytes", "live_bytes"),
        )
        return frame_of(self.nodes, names)

    def __str__(self) -> str:
        parts = (
            ("weights", self.weights_bytes),
            ("activations alive at once", self.peak_live_bytes),
            ("arena in use at its peak", self.arena_peak_bytes),
            ("held by the arena", self.arena_held_bytes),
        )
        return ", ".join(f"{name} {in_mib(size) or 'not known'}" for name, size in parts)


def memory_of(profile: SessionProfile) -> MemoryRecord:
    """Read the last run. Each node's own allocations show only without the memory pattern."""
    trace, tree = profile.trace, profile.tree
    last = len(tree.runs) - 1
    events = (
        np.flatnonzero((tree.kind == EventKind.NODE) & (tree.run == last)) if last >= 0 else np.array([], int)
    )
    events = events[np.argsort(trace.start_us[events], kind="stable")]
    live = live_bytes(profile)
    nodes = []
    for position, event in enumerate(events.tolist()):
        call, arena = trace.call_of(event), trace.arena_of(event)
        name = node_name(trace.name_of(event))
        nodes.append(
            NodeMemory(
                position=position,
                node=name,
                op_type=None if call is None else call.op_type,
                allocated_bytes=None if arena is None else arena.in_use_delta_bytes,
                in_use_bytes=None if arena is None else arena.in_use_bytes,
                held_bytes=None if arena is None else arena.held_bytes,
                output_bytes=None if call is None else call.output_bytes,
                live_bytes=live.get(name),
            )
        )
    states = [state for event in range(len(trace)) if (state := trace.arena_of(event)) is not None]
    return MemoryRecord(
        nodes=tuple(nodes),
        weights_bytes=None if profile.graph is None else _weights(profile.graph),
        peak_live_bytes=max(live.values(), default=None),
        arena_peak_bytes=max((s.peak_bytes for s in states if s.peak_bytes is not None), default=None),
        arena_held_bytes=max((s.held_bytes for s in states if s.held_bytes is not None), default=None),
    )


def memory_as_asked(by_node: SessionProfile, as_asked: SessionProfile) -> MemoryRecord:
    """Join the nodes of a run without the memory pattern with the arena's totals of the config as it is.

    With the pattern ORT plans one block, so nodes allocate nothing that shows; without it the arena holds
    more than the user's session would.
    """
    totals = memory_of(as_asked)
    return replace(
        memory_of(by_node), arena_peak_bytes=totals.arena_peak_bytes, arena_held_bytes=totals.arena_held_bytes
    )


def live_bytes(profile: SessionProfile) -> dict[str, int]:
    """Return the bytes of live activations by node of the main graph; empty without the graph.

    A tensor lives from the node that makes it to the last node that reads it, an output of the graph to the
    end. Where the size of a tensor is not known the sums would be wrong, so the result is empty.
    """
    if profile.graph is None:
        return {}
    nodes = [node for node in profile.graph.nodes if not node.scope]
    shapes = profiled_shapes(profile.graph, profile.measured)
    last_use = {name: position for position, node in enumerate(nodes) for name in node.reads}
    last_use |= dict.fromkeys(profile.graph.outputs, len(nodes))
    changes = np.zeros(len(nodes) + 2, np.int64)
    for position, node in enumerate(nodes):
        for name in filter(None, node.outputs):
            size = shapes[name].size_bytes if name in shapes else None
            if size is None:
                return {}
            changes[position] += size
            changes[max(position, last_use.get(name, position)) + 1] -= size
    return {node.name: int(alive) for node, alive in zip(nodes, changes.cumsum(), strict=False)}


def _weights(graph: Graph) -> int | None:
    sizes = [tensor.size_bytes for tensor in graph.constants.values()]
    return None if None in sizes else sum(size for size in sizes if size is not None)
