"""The path of modules of a node, from its metadata, its name or its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.analysis.graph import Graph, Node
from workbench.analysis.graph.modules import dotted

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
    if not paths:
        return ()
    first, last = min(paths), max(paths)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def paths_of(graph: Graph, known: Mapping[str, Path] | None = None) -> list[Path]:
    """Return a path for each node, in the order of the graph. `known` paths, by key, win."""
    known_paths: list[Path | None] = []
    for node in graph.nodes:
        if node.scope:
            known_paths.append(None)  # settled below, from the node whose body it is
        elif known is not None and node.key in known:
            known_paths.append(known[node.key])
        else:
            known_paths.append(_own_path(node))
    _from_neighbours(graph, known_paths)
    paths = [path or () for path in known_paths]
    _into_bodies(graph, paths)
    return paths


def _own_path(node: Node) -> Path | None:
    if node.module:
        return dotted_path(node.module)
    names = (node.name, *node.outputs)
    return next((path for name in names if name and (path := module_path(name)) is not None), None)


def _from_neighbours(graph: Graph, paths: list[Path | None]) -> None:
    """Put a node without a path of its own beside what it reads, since a weight has the path of its layer.

    If that has no path of its own either, put the node beside its readers, else where its inputs were put.
    """
    position = {node.key: index for index, node in enumerate(graph.nodes)}
    before = list(paths)

    def first(paths: Sequence[Path | None], nodes: list[Node]) -> Path | None:
        return next((path for node in nodes if (path := paths[position[node.key]])), None)

    for index, node in enumerate(graph.nodes):
        if paths[index] is None:
            paths[index] = first(before, graph.makers_of(node)) or first(before, graph.readers_of(node))
    for index, node in enumerate(graph.nodes):
        if paths[index] is None:
            paths[index] = first(paths, graph.makers_of(node))
    for index in reversed(range(len(paths))):
        if paths[index] is None:
            paths[index] = first(paths, graph.readers_of(graph.nodes[index]))


def _into_bodies(graph: Graph, paths: list[Path]) -> None:
    """Put the nodes of a body into a box of their own beside the node that has the body."""
    position = {node.key: index for index, node in enumerate(graph.nodes)}
    made: dict[str, Path] = {}

    def path_of(scope: str) -> Path:
        if scope not in made:
            owner, _, branch = scope.rpartition("/")
            at = position.get(owner)
            if at is None:
                made[scope] = (scope,)
            else:
                node = graph.nodes[at]
                outer = path_of(node.scope) if node.scope else paths[at]
                made[scope] = (*outer, f"{leaf(node.name or node.op_type)} {branch}")
        return made[scope]

    for index, node in enumerate(graph.nodes):
        if node.scope:
            paths[index] = path_of(node.scope)


def leaf(name: str) -> str:
    """Return the last part of a name."""
    return next((part for part in reversed(name.split("/")) if part), name)
