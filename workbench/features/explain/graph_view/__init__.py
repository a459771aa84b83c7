"""The graph view: the provider and the fate of every node."""

from workbench.features.explain.graph_view.view import GraphView, graph_view

__all__ = ["GraphView", "graph_view"]
