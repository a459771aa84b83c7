"""Job: save the graph after each pass that changes it, from sessions with only the first k passes on.

All sessions share one process and never run. On systems with a null device, the saved graphs name the null
device as their file of weights, so weights are not written.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from workbench.core.worker.graph_capture import GraphCapture, OutOfTime


def run(
    plan: dict[str, Any],
    folder: str,
    model: str | None = None,
    weights_folder: str | None = None,
    weightless: str | None = None,
    first: dict[str, Any] | None = None,
    passes: list[list[Any]] | None = None,
    budget_s: float = 0.0,
) -> dict[str, Any]:
    """Return the final graph of `model`, ORT's log and the placement; with `first`, return the snapshots.

    `first` is the answer of the call without it. Snapshots show `weightless`, the model without weights.
    `weights_folder` is the folder of external data, if not the model's own. `passes` holds the rules as rows
    of (name, level, part_of); transformers are read from the log.
    """
    if first is None:
        return GraphCapture(str(model), plan, Path(folder)).final(weights_folder)
    capture = GraphCapture(str(weightless), plan, Path(folder), time.monotonic() + budget_s)
    return _follow(capture, first, passes or [], budget_s)


def _follow(
    capture: GraphCapture, first: dict[str, Any], rules: list[list[Any]], budget_s: float
) -> dict[str, Any]:
    """Return the snapshots in order, each with its file and its pass, and why some are missing."""
    capture.stem = "pass"
    problem = None
    if not first["file"]:
        capture.only_cpu()
    most = capture.level if first["file"] else min(capture.level, 1)
    walk = _Walk(capture, first["applied"], rules, most)
    try:
        walk.all_levels()
    except OutOfTime:
        problem = f"the pass snapshots were stopped after {budget_s:g} s"
    except Exception as error:  # noqa: BLE001 - a pass that fails without its partners is a fact about ORT
        problem = f"{walk.doing}: {str(error)[:500]}"
    return {"snapshots": walk.snapshots, "problem": problem}


class _Walk:
    """A walk over the passes in ORT's order, which enables one after the other and keeps each new graph."""

    def __init__(
        self, capture: GraphCapture, applied: list[dict[str, Any]], rules: list[list[Any]], most: int
    ) -> None:
        self.capture, self.most, self.snapshots = capture, most, list[dict[str, Any]]()
        self.doing = "before any pass"
        self.rules = {
            transformer: [row[0] for row in rules if row[2] == transformer]
            for transformer in {row[2] for row in rules}
        }
        self.names = dict.fromkeys(entry["name"] for entry in applied)
        self.names.update(dict.fromkeys(name for group in self.rules.values() for name in group))
        self.order = {
            level: list(
                dict.fromkeys(
                    entry["name"] for entry in applied if entry["fired"] and entry["level"] == level
                )
            )
            for level in range(1, most + 1)
        }
        self.on: set[str] = set()
        self.last = ""

    def all_levels(self) -> None:
        self._keep(0, None, self.capture.take(0, ()))
        for level in range(1, self.most + 1):
            if not self.order[level]:
                continue
            self.doing = f"level {level}"
            again = [name for name in self.order[level] if name in self.on]
            self._keep(level, again[0] if again else None, self._with(level, self.on))
            for name in self.order[level]:
                self.doing = name
                if name in self.rules:
                    self._split(level, name)
                elif name not in self.on:
                    self.on.add(name)
                    self._keep(level, name, self._with(level, self.on))

    def _split(self, level: int, transformer: str) -> None:
        """Keep the graph of each effective rule of a rule-based transformer, by bisection."""
        rules = self.rules[transformer]
        first = len(self.on)
        begin = set(self.on) | {transformer}
        shots: dict[int, tuple[str, str]] = {}

        def shot(count: int) -> tuple[str, str]:
            if count not in shots:
                shots[count] = self._with(level, begin | set(rules[:count]))
            return shots[count]

        def search(low: int, high: int) -> None:
            if shot(low)[1] == shot(high)[1]:
                return
            if high - low == 1:
                self._keep(level, rules[low], shot(high))
                return
            middle = (low + high) // 2
            search(low, middle)
            search(middle, high)

        shots[0] = ("", self.last) if first or self.snapshots else self._with(level, begin)
        search(0, len(rules))
        self.on |= begin | set(rules)

    def _with(self, level: int, names: set[str]) -> tuple[str, str]:
        return self.capture.take(level, tuple(name for name in self.names if name not in names))

    def _keep(self, level: int, name: str | None, shot: tuple[str, str]) -> None:
        file, fingerprint = shot
        if fingerprint == self.last:
            return
        self.snapshots.append({"file": file, "level": level, "name": name})
        self.last = fingerprint
