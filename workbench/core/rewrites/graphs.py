"""One walk over the graphs of a model: the main one, its functions, and the bodies of control flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


def graphs(model: onnx.ModelProto) -> Iterator[onnx.GraphProto | onnx.FunctionProto]:
    """Yield the main graph, every subgraph, and every function of the model with its subgraphs."""
    for graph in (model.graph, *model.functions):
        yield graph
        yield from bodies_inside(graph)


def with_bodies(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and every graph inside of it."""
    yield graph
    yield from bodies_inside(graph)


def bodies_inside(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.GraphProto]:
    """Yield every graph inside of a graph or function, however deep."""
    waiting = [*_bodies(attributes(graph))]
    while waiting:
        body = waiting.pop()
        yield body
        waiting.extend(_bodies(attributes(body)))


def bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yield the subgraphs of one node: the branches of an If, the body of a Loop or Scan."""
    yield from _bodies(node.attribute)


def attributes(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.AttributeProto]:
    """Yield the attributes of the nodes, and the defaults of a function."""
    yield from getattr(graph, "attribute_proto", ())
    yield from (attribute for node in graph.node for attribute in node.attribute)


def _bodies(holders: Iterable[onnx.AttributeProto]) -> Iterator[onnx.GraphProto]:
    for attribute in holders:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs
