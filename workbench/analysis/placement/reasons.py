"""Why a node did not get the first provider, where ORT or the provider says it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.analysis.graph import Node

_QUOTES = r"[\s\[\]'\"`:,;()]"
_LISTED = re.compile(r"Op type: (\S+)|OpType[: ]+(\S+)|Operator type: \[(\S+?)\]")


class Reasons:
    """Messages of ORT and providers about nodes that were left to others, found by node and operator."""

    def __init__(
        self,
        requested: tuple[str, ...],
        in_effect: tuple[str, ...],
        not_loaded: Mapping[str, str],
        left: tuple[str, ...],
    ) -> None:
        self.first = requested[0] if requested else None
        self.in_effect = in_effect
        self.not_loaded = not_loaded
        self.by_name: dict[str, str] = {}
        self.by_op: dict[str, str] = {}
        for text in left:
            for word in re.split(_QUOTES, text):
                if word:
                    self.by_name.setdefault(word, text)
            if match := _LISTED.search(text):
                self.by_op.setdefault(next(word for word in match.groups() if word), text)

    def of(self, node: Node, provider: str | None) -> str | None:
        """Return the reason; None where the node runs on the first provider, or its provider is unknown."""
        if self.first is None or provider in (self.first, None):
            return None
        if self.first in self.not_loaded:
            return f"{self.first} did not load: {self.not_loaded[self.first].splitlines()[0]}"
        reason = self.by_name.get(node.name) or self.by_op.get(node.op_type)
        if reason is not None:
            return reason
        return f"{self.first} did not take it, and neither it nor ORT says why"
