"""The graph view: the provider and the fate of every node."""

from workbench.views.graph.view import GraphView, graph_view

__all__ = ["GraphView", "graph_view"]
