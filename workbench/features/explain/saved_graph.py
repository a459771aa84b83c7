"""A graph that ORT saved without its weights, with what only the source graph says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from workbench.core.models.graph import Graph
from workbench.core.models.graph_walk import read_graph

_BODIES = ("then_branch", "else_branch", "body")  # attributes of If, Loop and Scan


def read_saved(file: str, source: Graph) -> Graph:
    """Read a graph that ORT saved without its weights; tensors of the source keep their names."""
    from onnx import ModelProto

    saved = read_graph(ModelProto.FromString(Path(file).read_bytes()))
    return informed(with_branch_constants(saved, source), source)


def informed(graph: Graph, source: Graph) -> Graph:
    """Return the graph with types and shapes of the tensors that the source has too: ORT saves neither."""
    infos = {name: source.infos[name] for name in graph.producers if name in source.infos}
    return replace(graph, infos=infos | dict(graph.infos))


def with_branch_constants(graph: Graph, source: Graph) -> Graph:
    """Return a saved graph with the Constant nodes of bodies that ORT writes where it changed no node.

    In a file with weights beside, those in bodies of the main graph become initializers of the same names.
    """
    bodies = {f"{node.key}/{body}" for node in source.nodes if not node.scope for body in _BODIES}
    inside = [node for node in source.nodes if node.scope in bodies and node.kind == "Constant"]
    restored = {node.outputs[0]: node for node in inside if node.outputs[0] in graph.constants}
    if not restored or _without_constants(graph) != _without_constants(source):
        return graph
    constants = {name: info for name, info in graph.constants.items() if name not in restored}
    infos = {name: graph.constants[name] for name in restored}
    nodes = (*restored.values(), *graph.nodes)
    return replace(graph, nodes=nodes, constants=constants, infos=infos | dict(graph.infos))


def _without_constants(graph: Graph) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return key, kind and inputs of each node but the Constant nodes, in the order of keys."""
    return sorted((node.key, node.kind, node.inputs) for node in graph.nodes if node.kind != "Constant")
