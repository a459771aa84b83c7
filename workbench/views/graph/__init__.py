"""The graph view: what runs where, what became of what."""

from workbench.views.graph.view import GraphView, graph_view

__all__ = ["GraphView", "graph_view"]
