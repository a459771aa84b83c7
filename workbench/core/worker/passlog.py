"""Readers of ORT's verbose log, without colors: the effect and messages of each graph transformer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_LEVEL = re.compile(r"Applying \d+ graph transformer\(s\) for level (\d+)")
_APPLYING = re.compile(r"Applying graph transformer (\S+) on step (\d+)")
_DONE = re.compile(r"GraphTransformer (\S+) modified: ([01])")
_MESSAGE = re.compile(r"\[[VIWEF]:[^\]]*?,\s*(?P<place>[^\]]*?)\]\s?(?P<text>.*)$")
_HOUSEKEEPING = ("graph_transformer", "graph.cc", "constant_folding.cc", "bfc_arena", "allocat")
# "CUDA kernel not found in registries for Op type: X node name: Y", "Force fallback to CPU execution for
# node: Y because …", "Operator type: [X] index: [3] name: [Y] supported: [0]", "X node `Y` is not supported"
_LEFT = re.compile(
    r"kernel not found|[Ff]orce fallback|supported: \[?0|not supported|[Uu]nsupported|fall(?:ing)? back to"
)
MOST_WORDS = 200  # messages of one transformer: a large model has too many candidates
_MOST_LETTERS = 300


def read_passes(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Return the applications in order: level, step, name, whether the graph changed, and the messages."""
    passes: list[dict[str, Any]] = []
    level = 0
    current: dict[str, Any] | None = None
    for line in lines:
        if match := _LEVEL.search(line):
            level = int(match[1])
        elif match := _APPLYING.search(line):
            current = {"level": level, "step": int(match[2]), "name": match[1], "fired": False, "said": []}
            passes.append(current)
        elif match := _DONE.search(line):
            if current is not None and current["name"] == match[1]:
                current["fired"] = match[2] == "1"
                current = None
        elif current is not None and len(current["said"]) < MOST_WORDS:
            current["said"] += _messages(line)
    return passes


def _messages(line: str) -> list[str]:
    """Return the message in a line, if there is one of a transformer."""
    message = _MESSAGE.search(line)
    is_own = message is not None and not message["place"].startswith(_HOUSEKEEPING)
    return [message["text"][:_MOST_LETTERS]] if message and is_own else []


def read_partitioning(lines: Iterable[str]) -> list[str]:
    """Return the messages of providers and ORT's partitioner about nodes that a provider rejected."""
    lines_left: dict[str, None] = {}
    for line in lines:
        message = _MESSAGE.search(line)
        if message and _LEFT.search(message["text"]) and len(lines_left) < MOST_WORDS:
            lines_left[message["text"][:_MOST_LETTERS]] = None
    return list(lines_left)
