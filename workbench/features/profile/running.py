"""Make a profile: a short run with the profiler on in a process of its own, and the same without it."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.core import home
from workbench.core.config import Config
from workbench.core.errors import ProfileError
from workbench.core.measure.limits import Limits
from workbench.core.models.external import locations
from workbench.core.models.fingerprint import file_sha256
from workbench.core.models.naming import unnamed
from workbench.core.models.structure import read_structure
from workbench.core.prepare.runnable import Runnable
from workbench.core.stored_files import trim
from workbench.core.text import path_text
from workbench.core.worker.folder import full_disk
from workbench.core.worker.launch import WorkerFolder, call_job
from workbench.core.worker.values import Feed, write_values
from workbench.features.profile.reader import read_trace
from workbench.features.profile.session_profile import Overhead, SessionProfile
from workbench.features.profile.tables import scopes_of

_TIMEOUT_S = 900.0
_GENERATION = b"3"  # of the names given: another one makes other files


def named_model(path: Path, cancel: threading.Event | None = None) -> Path:
    """Return the model at `path` if all its nodes have names, else a copy in the cache where they have.

    External data is linked beside the copy where the file system can, and copied where it cannot.
    """
    structure = read_structure(path)  # which reads no weights
    if not unnamed(structure):
        return path
    files = sorted(locations(structure, path_text(path)))
    digest = hashlib.sha256(_GENERATION + file_sha256(path, cancel).encode())
    for location in files:
        stat = (path.parent / location).stat()
        digest.update(f"{location}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
    folder = home.cache_folder() / "named" / digest.hexdigest()[:24]
    target = folder / "model.onnx"
    if target.exists():
        return target
    folder.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        for location in files:
            (making / location).parent.mkdir(parents=True, exist_ok=True)
            _link(path.parent / location, making / location)
        arguments = {"source": str(path.absolute()), "target": str(making / target.name)}
        call_job("preparing.naming", arguments, timeout_s=_TIMEOUT_S, cancel=cancel)
        making.rename(folder)
        trim(folder.parent)
    except OSError as error:
        if not target.exists():  # else another process was first
            reason = error.strerror or str(error)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise home.unusable(
                folder.parent, "the folder of models with named nodes", "WORKBENCH_HOME", reason, full=full
            ) from error
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return target


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


WARMUP_RUNS = 3
_MAX_RUNS = 50  # an event takes 0.9 KB of the file and 2 KB of the worker
SAVABLE = frozenset({"CPUExecutionProvider", "CUDAExecutionProvider", "XnnpackExecutionProvider"})
_BUDGET_S = 1.0  # at 5 µs an event, a fifth of the cap at which ORT drops events


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution to profile, and its bounds."""

    model: Path
    config: Config
    feeds: Sequence[Feed]
    warmup_runs: int = WARMUP_RUNS
    max_runs: int = _MAX_RUNS
    budget_s: float = _BUDGET_S
    per_node_memory: bool = False  # turns the memory pattern off, and so changes what is profiled
    limits: Limits = field(default_factory=Limits)

    @staticmethod
    def of(runnable: Runnable, **bounds: Any) -> Execution:
        """Return the execution of what was prepared for one config."""
        return Execution(runnable.model.path, runnable.config, runnable.feeds, **bounds)


def profile_execution(
    execution: Execution,
    *,
    keep_trace: Path | None = None,
    cancel: threading.Event | None = None,
    on_log: Callable[[str], None] = lambda _: None,
) -> SessionProfile:
    """Run without the profiler, then with it. `keep_trace`: where to leave ORT's own file.

    `on_log` gets the log of each process. Memory by node is profiled alone.
    """
    with WorkerFolder() as folder:
        write_values(folder / "feeds", execution.feeds)
        named = replace(execution, model=named_model(execution.model, cancel))
        saved = folder / "optimized.onnx" if can_be_saved(execution.config) else None
        plain = None
        if not execution.per_node_memory:
            plain = run_job(named, folder, cancel=cancel, on_log=on_log)
        # The graph of this very session: what ORT inserts it may name otherwise in the next one.
        profiled = run_job(
            named, folder, trace_prefix=str(folder / "trace"), optimized=saved, cancel=cancel, on_log=on_log
        )
        graph = None if saved is None else read_structure(saved)
        scopes = {} if graph is None else scopes_of(graph, read_structure(execution.model))
        trace_path = Path(profiled["trace"])
        try:
            trace = read_trace(trace_path)
        except ProfileError as error:
            raise full_disk("profiling") or error from error
        if keep_trace is not None:
            shutil.copyfile(trace_path, keep_trace)
    overhead = None
    if plain is not None:
        overhead = Overhead(tuple(plain["samples_s"]), tuple(profiled["samples_s"]))
    return SessionProfile(
        trace, warmup_runs=execution.warmup_runs, overhead=overhead, optimized=graph, scopes=scopes
    )


def can_be_saved(config: Config) -> bool:
    """Return whether ORT can save the graph: it refuses where a provider compiles partitions."""
    return {provider.name for provider in config.providers} <= SAVABLE


def run_job(
    execution: Execution,
    folder: Path,
    *,
    trace_prefix: str | None = None,
    optimized: Path | None = None,
    cancel: threading.Event | None = None,
    on_log: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Run the model for a moment in a process of its own, on the feeds in `folder`; return the answer.

    `trace_prefix`: where the profiler writes; None leaves it off. `optimized`: where to save ORT's graph.
    """
    limits = execution.limits
    return call_job(
        "profiling",
        {
            "model": str(execution.model),
            "plan": execution.config.plan().to_dict(),
            "feeds": str(folder / "feeds"),
            "trace_prefix": trace_prefix,
            "optimized": None if optimized is None else str(optimized),
            "warmup_runs": execution.warmup_runs,
            "max_runs": execution.max_runs,
            "budget_s": execution.budget_s,
            "per_node_memory": execution.per_node_memory,
        },
        timeout_s=limits.load_s + limits.run_s,
        cancel=cancel,
        python=execution.config.interpreter,
        memory_bytes=limits.memory_bytes,
        on_log=on_log,
    )
