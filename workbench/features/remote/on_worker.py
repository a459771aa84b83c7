"""The functions that a Dask worker runs: keep the files of a call, make the call, return its bundle."""

from __future__ import annotations

import hashlib
import inspect
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from workbench._version import __version__
from workbench.core import home
from workbench.core.background import check_cancel
from workbench.core.errors import ModelError
from workbench.core.locked_folder import alone
from workbench.core.measure.limits import Progress
from workbench.core.models import Model
from workbench.core.models.fingerprint import fingerprint
from workbench.core.stored_files import trim
from workbench.core.text import quoted
from workbench.features.base.registry import KINDS
from workbench.features.base.result import packed

_EVERY_S = 0.5  # between two events of a call
LOCK = "measuring.lock"  # held by the one call that measures on the machine


@dataclass(frozen=True, slots=True)
class SentFile:
    """A model with its weights, or a data file, by its hash; the worker keeps it."""

    sha256: str
    names: tuple[str, ...]  # the file first, then those of its weights
    model: str | None  # the model's name; None: a data file

    @property
    def folder(self) -> Path:
        """Where a worker keeps it; one content under two names is kept twice."""
        names = hashlib.sha256("/".join(self.names).encode()).hexdigest()[:16]
        return home.cache_folder() / "cluster" / f"{self.sha256}-{names}"


def missing(files: tuple[SentFile, ...]) -> tuple[str, str, tuple[SentFile, ...]]:
    """Return this worker's address, the version of its workbench, and which of these files it has not got."""
    import distributed

    wanted = tuple(file for file in files if not file.folder.is_dir())
    return distributed.get_worker().address, __version__, wanted


def store(file: SentFile, name: str, offset: int, data: bytes) -> None:
    """Write a part of a file into a folder that is not in use yet."""
    folder = _arriving(file)
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ModelError(
            f"{quoted(name)} is outside the folder of its model", "keep the weights beside the model"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("r+b" if offset else "wb") as target:
        target.seek(offset)
        target.write(data)


def perform(kind: str, files: tuple[SentFile, ...], arguments: Any, options: Any) -> bytes:
    """Call the public function that makes this kind of result with what was sent; return the bundle."""
    import distributed

    worker: Any = distributed.get_worker()
    key, reported_s = worker.get_current_task(), 0.0

    def report(progress: Progress) -> None:
        nonlocal reported_s
        if time.monotonic() - reported_s > _EVERY_S:
            reported_s = time.monotonic()
            worker.log_event(key, asdict(replace(progress, verdicts=(), samples=())))

    def report_step(step: str) -> None:
        report(Progress(step))

    def wait() -> None:
        report_step("waiting: something else is measured on this machine")
        check_cancel(cancel)

    function, cancel = KINDS.named(kind).function, NobodyWaits(worker.state.tasks, key)
    with alone(home.cache_folder() / LOCK, wait):
        for file in files:
            _take(file)
        ours = {"progress": report, "cancel": cancel, "keep": False, "on_step": report_step}
        known = inspect.signature(function).parameters
        options = {**_received(options), **{name: ours[name] for name in ours if name in known}}
        return packed(function(*_received(arguments), **options), weights=True)


class NobodyWaits(threading.Event):
    """Set once the task was cancelled or its client is gone: asked where others wait to be told."""

    def __init__(self, tasks: Mapping[str, Any], key: str) -> None:
        super().__init__()
        self._tasks, self._key = tasks, key

    def is_set(self) -> bool:
        """Return whether the worker has this task for nobody any more."""
        task = self._tasks.get(self._key)
        return task is None or task.state == "cancelled"


def _received(value: Any) -> Any:
    """Return an argument with the files that this worker has in place of those that were sent."""
    if isinstance(value, SentFile):
        path = value.folder / value.names[0]
        return path if value.model is None else Model(path, value.model)
    if isinstance(value, Mapping):
        return {name: _received(part) for name, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_received, value))
    return value


def _take(file: SentFile) -> None:
    """Move a file that has arrived into its place, after its hash was compared."""
    arriving = _arriving(file)
    if file.folder.is_dir():
        shutil.rmtree(arriving, ignore_errors=True)
        return
    if fingerprint(arriving / file.names[0], file.names[1:]) != file.sha256:
        shutil.rmtree(arriving, ignore_errors=True)
        raise ModelError(
            f"{file.names[0]} did not arrive whole: its hash differs", "call again: it is sent anew"
        )
    arriving.rename(file.folder)
    trim(file.folder.parent)


def _arriving(file: SentFile) -> Path:
    return file.folder.with_name(f".{file.folder.name}")
