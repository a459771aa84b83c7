"""The module that each optimized node belongs to, also where ORT gave it a name of its own.

Exporters put the module path into names (`/encoder/layer.0/Add`) or into the metadata of nodes. A node that
ORT made keeps the name of the tensor that it computes, which leads back to both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.core.rewrites.graphs import with_bodies
from workbench.features.explain.graph.modules import dotted, module_of

_ADDED = ("_nchwc", "_nhwc", "_reorder", "_output_0")  # by ORT and exporters, to the name of a tensor


def scope_of(name: str) -> str:
    """Return the module path that exporters put before the last slash; "" where there is none."""
    return name.rpartition("/")[0]


def scopes_of(optimized: Any, source: Any) -> dict[str, str]:
    """Return modules by node of the optimized model, for nodes whose own name does not hold one."""
    known = dict(_told(source))
    scopes: dict[str, str] = {}
    for node in (node for graph in with_bodies(optimized.graph) for node in graph.node):
        if scope_of(node.name):
            continue
        for name in (*node.output, node.name):
            scope = next(
                (known[spelling] for spelling in _spellings(name) if spelling in known), None
            ) or scope_of(name)
            if scope:
                scopes[node.name] = scope
                break
    return scopes


def _told(model: Any) -> Iterator[tuple[str, str]]:
    """Yield modules from metadata, by the names of nodes and of their outputs."""
    for node in (node for graph in with_bodies(model.graph) for node in graph.node):
        scope = "/".join(dotted(module_of(node)))
        if scope:
            for name in (node.name, *node.output):
                yield name, scope


def _spellings(name: str) -> Iterator[str]:
    yield name
    for ending in _ADDED:
        name = name.removesuffix(ending)
        yield name
