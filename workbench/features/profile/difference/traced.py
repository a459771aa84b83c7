"""What profiles ask an explanation: its graphs, and which source nodes each optimized node comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from workbench.core.models.graph import Graph


class Traced(Protocol):
    """An optimized graph whose nodes are traced to the source; `wb.explain` makes such."""

    @property
    def source(self) -> Graph: ...
    @property
    def optimized(self) -> Graph: ...
    @property
    def inserted(self) -> frozenset[str]: ...  # names of nodes that carry a value: reorders, copies, casts
    @property
    def fates(self) -> Mapping[str, str]: ...  # of each source node
    def ancestors(self, source: Graph | None = None) -> Mapping[str, frozenset[str]]: ...  # by name
