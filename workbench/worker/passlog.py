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
# "CUDA kernel not found in registries for Op type: X node name: Y", "Force fallback to CPU execution for
# node: Y because …", "Operator type: [X] index: [3] name: [Y] supported: [0]", "X node `Y` is not supported"
_LEFT = re.compile(
    r"kernel not found|[Ff]orce fallback|supported: \[?0|not supported|[Uu]nsupported|fall(?:ing)? back to"
)
MOST_WORDS = 200  # of one transformer: what it said about every candidate of a large model is too much
MOST_LETTERS = 300


def read_passes(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Each application in order: level, step, name, whether it changed the graph, what it said meanwhile."""
    passes: list[dict[str, Any]] = []
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
            passes.append(current)
        elif match := _DONE.search(line):
            if current is not None and current["name"] == match[1]:
                current["fired"] = match[2] == "1"
                current = None
        elif current is not None and len(current["said"]) < MOST_WORDS:
            message = _MESSAGE.search(line)
            if message and not message["place"].startswith(_HOUSEKEEPING):
                current["said"].append(message["text"][:MOST_LETTERS])
    return passes


def names_applications(lines: Iterable[str]) -> bool:
    """Whether this ORT names a transformer, with its level, before it applies it; ORT 1.24 does not."""
    return any(_APPLYING.search(line) for line in lines)


def read_results(lines: Iterable[str], registered: Iterable[tuple[str, int]] = ()) -> list[dict[str, Any]]:
    """Each application by its result alone; its level is the earliest possible by where names are registered.

    What was said before a result was said by the transformer whose result it is.
    """
    levels: dict[str, set[int]] = {}
    for name, level in registered:
        levels.setdefault(name, set()).add(level)
    passes: list[dict[str, Any]] = []
    level, reported, reasons = 1, set[tuple[int, str]](), list[str]()
    step = 1
    for line in _clean(lines):
        if match := _DONE.search(line):
            name = match[1]
            later = min((entry for entry in levels.get(name, ()) if entry >= level), default=level)
            step = 1 if later > level else step + ((later, name) in reported)
            if (later, name) in reported or later > level:
                reported = {entry for entry in reported if entry[0] != later}
            level = later
            reported.add((level, name))
            passes.append(
                {"level": level, "step": step, "name": name, "fired": match[2] == "1", "said": reasons}
            )
            reasons = []
        elif len(reasons) < MOST_WORDS and (message := _MESSAGE.search(line)):
            reasons += [] if message["place"].startswith(_HOUSEKEEPING) else [message["text"][:MOST_LETTERS]]
    return passes


def read_partitioning(lines: Iterable[str]) -> list[str]:
    """What a provider or ORT's partitioner said of nodes that the provider left, in their words."""
    lines_left: dict[str, None] = {}
    for line in _clean(lines):
        message = _MESSAGE.search(line)
        if message and _LEFT.search(message["text"]) and len(lines_left) < MOST_WORDS:
            lines_left[message["text"][:MOST_LETTERS]] = None
    return list(lines_left)


def without_colors(text: str) -> str:
    """The text without the escape sequences that ORT puts around its errors."""
    return _ANSI.sub("", text)


def _clean(lines: Iterable[str]) -> Iterator[str]:
    return (without_colors(line).rstrip("\n") for line in lines)
