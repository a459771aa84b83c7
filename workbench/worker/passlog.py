"""ORT's verbose log, read as what each graph transformer said and did. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_LEVEL = re.compile(r"Applying \d+ graph transformer\(s\) for level (\d+)")
_APPLYING = re.compile(r"Applying graph transformer (\S+) on step (\d+)")
_DONE = re.compile(r"GraphTransformer (\S+) modified: ([01])")
_MESSAGE = re.compile(r"\[[VIWEF]:[^\]]*?,\s*(?P<place>[^\]]*?)\]\s?(?P<text>.*)$")
_HOUSEKEEPING = ("graph_transformer", "graph.cc", "constant_folding.cc", "bfc_arena", "allocat")
MOST_WORDS = 200  # of one transformer: what it said about every candidate of a large model is too much
MOST_LETTERS = 300


def read_passes(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Each application in order: level, step, name, whether it changed the graph, what it said meanwhile."""
    found: list[dict[str, Any]] = []
    level = 0
    current: dict[str, Any] | None = None
    for line in _clean(lines):
        if match := _LEVEL.search(line):
            level = int(match[1])
        elif match := _APPLYING.search(line):
            current = {
                "level": level,
                "step": int(match[2]),
                "name": match[1],
                "fired": False,
                "said": [],
            }
            found.append(current)
        elif match := _DONE.search(line):
            if current is not None and current["name"] == match[1]:
                current["fired"] = match[2] == "1"
                current = None
        elif current is not None and len(current["said"]) < MOST_WORDS:
            told = _MESSAGE.search(line)
            if told and not told["place"].startswith(_HOUSEKEEPING):
                current["said"].append(told["text"][:MOST_LETTERS])
    return found


def without_colors(text: str) -> str:
    """The text without the escape sequences that ORT puts around its errors."""
    return _ANSI.sub("", text)


def _clean(lines: Iterable[str]) -> Iterator[str]:
    return (without_colors(line).rstrip("\n") for line in lines)
