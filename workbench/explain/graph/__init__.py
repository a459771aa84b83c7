"""A graph as plain frozen values: nodes, tensors, subgraphs, without weights."""

from workbench.explain.graph.model import Graph, Node, TensorInfo, informed
from workbench.explain.graph.naming import name_nodes, unnamed
from workbench.explain.graph.reading import read_graph

__all__ = ["Graph", "Node", "TensorInfo", "informed", "name_nodes", "read_graph", "unnamed"]
