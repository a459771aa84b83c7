"""Job: the graph as ORT leaves it after each pass that changes it, from sessions with the first k on.

One process for all of them, none of them ever run. Weights are written nowhere: where the system has a null
device the saved graphs name it as their file of weights.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import onnxruntime as ort

from workbench.worker.passlog import read_passes, without_colors
from workbench.worker.session import session_options

LEVELS = {  # ORT's numbers: the log says 4 where the enumeration says ALL
    0: ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    1: ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    2: ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    3: ort.GraphOptimizationLevel.ORT_ENABLE_LAYOUT,
    4: ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
CPU = "CPUExecutionProvider"
MIN_EXTERNAL_BYTES = "1024"  # smaller constants stay in the graph: shapes, axes and scales explain it
WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
RECORD = "session.record_ep_graph_assignment_info"


def run(
    model: str,
    ghost: str,
    plan: dict[str, Any],
    folder: str,
    passes: list[list[Any]],
    budget_s: float,
    weights_folder: str | None = None,
) -> dict[str, Any]:
    """The final graph is that of `model`; the snapshots are of `ghost`, the same without its weights.

    `passes`: rows of (name, level, part_of) of the rules; transformers are read from the log.
    `weights_folder`: where the model's external data lies, if not beside it. Gives the snapshots in order
    (the file, what was switched on for it), ORT's own final graph, the assignment, every application of a
    transformer, and whether the time sufficed.
    """
    camera = _Camera(model, plan, Path(folder), time.monotonic() + budget_s)
    final = camera.final(weights_folder)
    answer: dict[str, Any] = {**final, "snapshots": [], "complete": True, "problem": None}
    camera.model = ghost
    if not final["file"]:
        camera.only_cpu()
    walk = _Walk(camera, final["applied"], passes, camera.level if final["file"] else min(camera.level, 1))
    try:
        walk.all_levels()
    except _OutOfTime:
        answer["complete"] = False
        answer["problem"] = f"the pass snapshots were stopped after {budget_s:g} s"
    except Exception as error:  # noqa: BLE001 - a pass that fails without its partners is a fact about ORT
        answer["complete"] = False
        answer["problem"] = f"{walk.doing}: {str(error)[:500]}"
    answer["snapshots"] = walk.snapshots
    return answer


class _OutOfTime(Exception):
    pass


class _Camera:
    """Makes sessions only to have their graph saved."""

    def __init__(self, model: str, plan: dict[str, Any], folder: Path, deadline: float) -> None:
        self.model: str | bytes = model
        self.plan, self.folder, self.deadline = plan, folder, deadline
        self.entries: dict[str, str] = {}
        self.providers: list[Any] = [(name, options) for name, options in plan["providers"]]
        self.disabled = tuple(plan["disabled_optimizers"])
        asked = session_options(plan).graph_optimization_level
        self.level = next((number for number, level in LEVELS.items() if level == asked), 4)
        self.taken = 0
        self.weights = folder / "weights.bin"
        if hasattr(os, "symlink") and os.name == "posix":
            self.weights.symlink_to(os.devnull)

    def only_cpu(self) -> None:
        self.providers = [(CPU, {})]

    def final(self, weights_folder: str | None) -> dict[str, Any]:
        """The session as the config asks for it, with ORT's verbose log read."""
        if weights_folder is not None and isinstance(self.model, str):
            self.entries = {WEIGHTS_FOLDER: weights_folder}
            self.model = Path(self.model).read_bytes()
        log = _Captured()
        with log:
            began = time.perf_counter()
            try:
                session, file = self._session(self.level, (), verbose=True)
            except Exception as error:
                if "compiled nodes" not in str(error):
                    raise
                session, file = self._session(self.level, (), verbose=True, save=False)
            load_s = time.perf_counter() - began
        self.entries = {}
        return {
            "file": file,
            "load_s": load_s,
            "level": self.level,
            "providers": session.get_providers(),
            "applied": read_passes(log.lines()),
            "assignment": [
                [part.ep_name, [[node.name, node.domain, node.op_type] for node in part.get_nodes()]]
                for part in session.get_provider_graph_assignment_info()
            ],
            "errors": log.errors(),
        }

    def take(self, level: int, disabled: tuple[str, ...]) -> tuple[str, str]:
        """(file, fingerprint) of the graph with these passes off."""
        if time.monotonic() > self.deadline:
            raise _OutOfTime
        _, file = self._session(level, disabled)
        return file, hashlib.sha256(Path(file).read_bytes()).hexdigest()

    def _session(
        self, level: int, disabled: tuple[str, ...], *, verbose: bool = False, save: bool = True
    ) -> tuple[ort.InferenceSession, str]:
        options = session_options(self.plan)
        options.graph_optimization_level = LEVELS[level]
        options.enable_profiling = False
        entries = {RECORD: "1", "session.disable_prepacking": "1", **self.entries}
        file = ""
        if save:
            self.taken += 1
            file = str(self.folder / f"graph{self.taken}.onnx")
            options.optimized_model_filepath = file
            entries["session.optimized_model_external_initializers_file_name"] = self.weights.name
            entries["session.optimized_model_external_initializers_min_size_in_bytes"] = MIN_EXTERNAL_BYTES
        for key, value in entries.items():
            options.add_session_config_entry(key, value)
        options.log_severity_level = 0 if verbose else 4
        off = [*dict.fromkeys((*self.disabled, *disabled))]
        session = ort.InferenceSession(
            self.model, options, providers=self.providers, disabled_optimizers=off or None
        )
        return session, file


class _Walk:
    """Switches on one pass after the other, in ORT's order, and keeps each graph that is new."""

    def __init__(
        self, camera: _Camera, applied: list[dict[str, Any]], rules: list[list[Any]], most: int
    ) -> None:
        self.camera, self.most, self.snapshots = camera, most, list[dict[str, Any]]()
        self.doing = "before any pass"
        self.rules = {
            transformer: [row[0] for row in rules if row[2] == transformer]
            for transformer in {row[2] for row in rules}
        }
        self.names = dict.fromkeys(one["name"] for one in applied)
        self.names.update(dict.fromkeys(name for group in self.rules.values() for name in group))
        self.order = {
            level: list(
                dict.fromkeys(one["name"] for one in applied if one["fired"] and one["level"] == level)
            )
            for level in range(1, most + 1)
        }
        self.on: set[str] = set()
        self.last = ""

    def all_levels(self) -> None:
        self._keep(0, None, self.camera.take(0, ()))
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
        """Which rules of a transformer of rules change something: halve the list until it is known."""
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
        return self.camera.take(level, tuple(name for name in self.names if name not in names))

    def _keep(self, level: int, name: str | None, shot: tuple[str, str]) -> None:
        file, fingerprint = shot
        if fingerprint == self.last:
            return
        self.snapshots.append({"file": file, "level": level, "name": name})
        self.last = fingerprint


class _Captured:
    """What C++ prints to stderr, kept in a file of our own so that nothing of it is cut out."""

    def __enter__(self) -> _Captured:
        self._file = tempfile.TemporaryFile(mode="w+b")
        self._saved = os.dup(2)
        os.dup2(self._file.fileno(), 2)
        return self

    def __exit__(self, *exc: object) -> None:
        os.dup2(self._saved, 2)
        os.close(self._saved)

    def lines(self) -> list[str]:
        self._file.seek(0)
        return without_colors(self._file.read().decode("utf-8", "replace")).splitlines()

    def errors(self) -> list[str]:
        """Errors and warnings, in ORT's words: why a provider is not there."""
        return [line[:2000] for line in self.lines() if "[E:" in line or "[W:" in line][:100]
