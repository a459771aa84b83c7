"""Sessions made only to save their graph, and ORT's log of making them."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import onnxruntime as ort

from workbench.core.text import without_colors
from workbench.core.worker.passlog import read_partitioning, read_passes
from workbench.core.worker.probe import SQUARE
from workbench.core.worker.session import providers_of, session_options, weights_beside

_NAMES = (
    "ORT_DISABLE_ALL",
    "ORT_ENABLE_BASIC",
    "ORT_ENABLE_EXTENDED",
    "ORT_ENABLE_LAYOUT",  # since 1.23; before, the layout is the last level, and ALL is its name
    "ORT_ENABLE_ALL",
)
# ORT's numbers: the last one in the log is ALL in the enumeration.
_LEVELS = dict(
    enumerate(
        getattr(ort.GraphOptimizationLevel, name)
        for name in _NAMES
        if hasattr(ort.GraphOptimizationLevel, name)
    )
)
CPU = "CPUExecutionProvider"
WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
RECORD = "session.record_ep_graph_assignment_info"


class OutOfTime(Exception):
    """The signal that the time for snapshots is spent."""


class GraphCapture:
    """Maker of sessions that save their graph and never run."""

    def __init__(
        self, model: str, plan: dict[str, Any], folder: Path, deadline: float = float("inf")
    ) -> None:
        self.model: str | bytes = model
        self.plan, self.folder, self.deadline = plan, folder, deadline
        self.entries: dict[str, str] = {}
        self.providers = providers_of(plan)
        self.disabled = tuple(plan["disabled_optimizers"])
        asked = session_options(plan).graph_optimization_level
        self.level = next((number for number, level in _LEVELS.items() if level == asked), max(_LEVELS))
        self.taken = 0
        self.stem = "graph"
        self.weights = folder / "weights.bin"
        if hasattr(os, "symlink") and os.name == "posix":
            self.weights.unlink(missing_ok=True)  # a session whose graph could not be saved replaced it
            self.weights.symlink_to(os.devnull)

    def only_cpu(self) -> None:
        self.providers = [(CPU, {})]

    def final(self, weights_folder: str | None) -> dict[str, Any]:
        """Return the facts of the config's own session, with those of ORT's verbose log."""
        if weights_folder is not None and isinstance(self.model, str):
            self.entries = {WEIGHTS_FOLDER: weights_folder}
            self.model = Path(self.model).read_bytes()
        try:
            session, file, log, load_s = self._loud(save=True)
        except Exception as error:
            if "compiled nodes" not in str(error):
                raise
            session, file, log, load_s = self._loud(save=False)
        in_effect, registered, lines = session.get_providers(), _registered(), log.lines()
        applied = read_passes(lines)
        basic, problem = "", None
        if not applied and self.level > 0:
            problem = f"ONNX Runtime {ort.__version__} logs no passes, so what each did is not known"
        if not file or (len(in_effect) > 1 and self.level > 1):  # the assignment record names its nodes
            basic, failed = self._basic(compiled=not file)
            problem = failed or problem
        return {
            "file": file,
            "load_s": load_s,
            "level": self.level,
            "basic": basic,
            "problem": problem,
            "providers": in_effect,
            "applied": applied,
            "registered": registered,
            "partitioning": read_partitioning(lines),
            "assignment": [
                [part.ep_name, [[node.name, node.domain, node.op_type] for node in part.get_nodes()]]
                for part in assigned_parts(session)
            ],
            "errors": log.errors(),
        }

    def _loud(self, *, save: bool) -> tuple[ort.InferenceSession, str, Captured, float]:
        log = Captured()
        with log:
            began = time.perf_counter()
            session, file = self._session(self.level, (), verbose=True, save=save)
            load_s = time.perf_counter() - began
        return session, file, log, load_s

    def _basic(self, *, compiled: bool) -> tuple[str, str | None]:
        """Return the graph that ORT divides among providers; of a compiled graph, the CPU's one."""
        if compiled:
            self.only_cpu()
        try:
            return self._session(min(self.level, 1), ())[1], None
        except Exception as error:  # noqa: BLE001 - operators that only that provider has
            return "", f"the graph after the basic level: {str(error)[:500]}"

    def take(self, level: int, disabled: tuple[str, ...]) -> tuple[str, str]:
        """Return file and fingerprint of the graph with these passes off."""
        if time.monotonic() > self.deadline:
            raise OutOfTime
        _, file = self._session(level, disabled)
        return file, hashlib.sha256(Path(file).read_bytes()).hexdigest()

    def _session(
        self, level: int, disabled: tuple[str, ...], *, verbose: bool = False, save: bool = True
    ) -> tuple[ort.InferenceSession, str]:
        options = session_options(self.plan)
        options.graph_optimization_level = _LEVELS[level]
        options.enable_profiling = False
        entries = {RECORD: "1", "session.disable_prepacking": "1", **self.entries}
        file = ""
        if save:
            self.taken += 1
            file = str(self.folder / f"{self.stem}{self.taken}.onnx")
            options.optimized_model_filepath = file
            entries |= weights_beside(self.weights.name)
        for key, value in entries.items():
            options.add_session_config_entry(key, value)
        options.log_severity_level = 0 if verbose else 4
        off = [*dict.fromkeys((*self.disabled, *disabled))]
        session = ort.InferenceSession(
            self.model, options, providers=self.providers, disabled_optimizers=off or None
        )
        return session, file


class Captured:
    """The stderr of C++ code, captured completely in a temporary file."""

    _lines: list[str] | None = None

    def __enter__(self) -> Captured:
        self._file = tempfile.TemporaryFile(mode="w+b")
        self._saved = os.dup(2)
        os.dup2(self._file.fileno(), 2)
        return self

    def __exit__(self, *exc: object) -> None:
        os.dup2(self._saved, 2)
        os.close(self._saved)

    def lines(self) -> list[str]:
        if self._lines is None:
            self._file.seek(0)
            self._lines = without_colors(self._file.read().decode("utf-8", "replace")).splitlines()
        return self._lines

    def errors(self) -> list[str]:
        """Return ORT's errors and warnings, which explain a missing provider."""
        return [line[:2000] for line in self.lines() if "[E:" in line or "[W:" in line][:100]


def assigned_parts(session: ort.InferenceSession) -> list[Any]:
    """Return ORT's record of the placement; nothing before 1.24, which has none."""
    asked = getattr(session, "get_provider_graph_assignment_info", None)
    return [] if asked is None else list(asked())


def _registered() -> list[str]:
    """Return every CPU transformer of this ORT, from a model of one node; none before 1.25."""
    options = ort.SessionOptions()
    options.log_severity_level = 0
    options.graph_optimization_level = _LEVELS[max(_LEVELS)]
    with Captured() as log:
        ort.InferenceSession(SQUARE, options, providers=[CPU])
    return list(dict.fromkeys(entry["name"] for entry in read_passes(log.lines())))
