"""The path of modules of a node, from its metadata, its name or its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from workbench.core.models.graph import Graph, Node
from workbench.core.models.graph_walk import dotted

Path = tuple[str, ...]
MOST_DEPTH = 24  # a name of a thousand slashes is no module path


def module_path(name: str) -> Path | None:
    """Return the modules before the last part of `/encoder/layer.0/MatMul` or `encoder.layer.0.MatMul`.

    What stands before the first slash of an absolute name is ORT's own, as in `fused /model/Gemm`.
    """
    if "/" in name:
        head, _, rest = name.partition("/")
        absolute = head == "" or head.endswith(" ")
        parts = [part for part in (rest if absolute else name).split("/") if part]
        return tuple(parts[:-1][:MOST_DEPTH])
    if "." in name:
        return dotted_path(name.rpartition(".")[0])
    return None


def dotted_path(text: str) -> Path:
    """Return `encoder.layer.0.attention` as (encoder, layer.0, attention)."""
    return tuple(dotted(text)[:MOST_DEPTH])


def common_path(paths: Sequence[Path]) -> Path:
    """Return the modules that all paths begin with."""
    same = takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))
    return tuple(parts[0] for parts in same)


def paths_of(graph: Graph, known: Mapping[str, Path] = {}) -> dict[str, Path]:
    """Return a path for each node by its key, in the order of the graph; `known` paths win."""
    own = {node.key: known.get(node.key, _own_path(node)) for node in graph.nodes}
    own |= {node.key: None for node in graph.nodes if node.scope}  # put beside the node with the body below
    _from_neighbours(graph, own)
    paths = {key: path or () for key, path in own.items()}
    _into_bodies(graph, paths)
    return paths


def _own_path(node: Node) -> Path | None:
    if node.module:
        return dotted_path(node.module)
    names = (node.name, *node.outputs)
    return next((path for name in names if name and (path := module_path(name)) is not None), None)


def _from_neighbours(graph: Graph, paths: dict[str, Path | None]) -> None:
    """Put a node without a path of its own beside what it reads, since a weight has the path of its layer.

    If that has no path of its own either, put the node beside its readers, else where its inputs were put.
    """
    before = dict(paths)

    def first(paths: Mapping[str, Path | None], nodes: list[Node]) -> Path | None:
        return next((path for node in nodes if (path := paths[node.key])), None)

    for node in graph.nodes:
        if paths[node.key] is None:
            paths[node.key] = first(before, graph.makers_of(node)) or first(before, graph.readers_of(node))
    for node in graph.nodes:
        if paths[node.key] is None:
            paths[node.key] = first(paths, graph.makers_of(node))
    for node in reversed(graph.nodes):
        if paths[node.key] is None:
            paths[node.key] = first(paths, graph.readers_of(node))


def _into_bodies(graph: Graph, paths: dict[str, Path]) -> None:
    """Put the nodes of a body into a box of their own beside the node that has the body."""
    nodes = {node.key: node for node in graph.nodes}
    made: dict[str, Path] = {}

    def path_of(scope: str) -> Path:
        if scope not in made:
            owner, _, branch = scope.rpartition("/")
            made[scope] = (scope,)  # without an owner, or in a damaged graph where it is its own
            if owner in nodes:
                node = nodes[owner]
                outer = path_of(node.scope) if node.scope else paths[owner]
                made[scope] = (*outer, f"{leaf(node.name or node.op_type)} {branch}")
        return made[scope]

    for node in graph.nodes:
        if node.scope:
            paths[node.key] = path_of(node.scope)


def leaf(name: str) -> str:
    """Return the last part of a name."""
    return next((part for part in reversed(name.split("/")) if part), name)
