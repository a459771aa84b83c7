"""A graph as plain frozen values: nodes, tensors, subgraphs, without weights."""

from workbench.core.models.naming import named_copy, unnamed
from workbench.features.explain.graph.model import Graph, Node, TensorInfo, informed, with_branch_constants
from workbench.features.explain.graph.reading import read_graph

__all__ = [
    "Graph",
    "Node",
    "TensorInfo",
    "informed",
    "named_copy",
    "read_graph",
    "unnamed",
    "with_branch_constants",
]
