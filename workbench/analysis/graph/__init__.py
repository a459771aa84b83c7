"""A graph as plain frozen values: nodes, tensors, subgraphs, without weights."""

from workbench.analysis.graph.model import Graph, Node, TensorInfo, informed, with_branch_constants
from workbench.analysis.graph.reading import read_graph
from workbench.models.naming import name_nodes, unnamed

__all__ = [
    "Graph",
    "Node",
    "TensorInfo",
    "informed",
    "name_nodes",
    "read_graph",
    "unnamed",
    "with_branch_constants",
]
