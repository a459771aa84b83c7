"""Names for nodes that have none, as every part of the workbench gives them."""

from workbench.models.naming import name_nodes, unnamed

__all__ = ["name_nodes", "unnamed"]
