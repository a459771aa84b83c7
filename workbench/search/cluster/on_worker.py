"""The functions that a Dask worker runs: describe the machine, take a model's files, run a study.

A study runs as one task. Meanwhile the client asks for its progress and its latest record, so that a worker
that dies loses no finished round; a client that stays silent has gone, and its study is stopped.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from workbench import home
from workbench._version import __version__
from workbench.background import check_cancel
from workbench.config.provider import CPU
from workbench.errors import ModelError, WorkbenchError
from workbench.locked_folder import alone
from workbench.measurement.limits import Progress
from workbench.measurement.machine import read_machine
from workbench.measurement.providers import working_providers
from workbench.models import Model, load
from workbench.models.fingerprint import fingerprint
from workbench.models.samples import sample_names
from workbench.records.machine import Machine
from workbench.records.study import StudyRecord
from workbench.search.cluster.order import StudyOrder, pack, pack_study, request_of, unpack
from workbench.search.default_space import AZURE, default_space
from workbench.search.study import run_study
from workbench.stored_files import trim

SILENCE_S = 120.0  # of the client, after which its study is stopped
LOCK = "measuring.lock"  # held by the one study that is measured on the machine


@dataclass(frozen=True, slots=True)
class WorkerDescription:
    """The machine of a worker, with tags that a study may ask for."""

    machine: Machine
    tags: tuple[str, ...]
    workbench: str


@dataclass(slots=True)
class _Running:
    """A study of this process, as the client sees it."""

    cancel: threading.Event = field(default_factory=threading.Event)
    progress: Progress | None = None
    record: StudyRecord | None = None
    records: int = 0
    heard_s: float = field(default_factory=time.monotonic)


_running: dict[str, _Running] = {}
_orders: dict[str, bytes] = {}


def describe() -> bytes:
    """Return the description of this worker's machine."""
    machine = read_machine()
    tags = [flag.upper() for flag in machine.isa_flags]
    if machine.gpus:
        tags += ["GPU", *working_providers(machine, without=(CPU, AZURE))]
    return pack(WorkerDescription(machine, tuple(tags), __version__))


def has_model(name: str, sha256: str) -> bool:
    """Return whether this worker has the model: it came before, or it is a sample."""
    return _folder(sha256).is_dir() or _is_sample(name, sha256)


def store(sha256: str, order: str, name: str, offset: int, data: bytes) -> None:
    """Write a part of a model's file into the folder of this order."""
    folder = _arriving(sha256, order)
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ModelError(f"{name!r} is outside the folder of its model", "keep the weights beside the model")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("r+b" if offset else "wb") as file:
        file.seek(offset)
        file.write(data)


def take(order: str, parcel: bytes) -> None:
    """Keep an order until its task begins."""
    _orders[order] = parcel


def run_order(order: str) -> dict[str, bytes | str]:
    """Run the study of an order as a task; return its record, or the error in words."""
    running = _running.setdefault(order, _Running())
    threading.Thread(target=_listen, args=(running,), name=f"listens for {order}", daemon=True).start()
    try:
        return {"record": pack_study(_studied(order, running))}
    except WorkbenchError as error:
        return {"error": type(error).__name__, "problem": error.problem, "fix": error.fix}
    finally:
        running.cancel.set()
        del _running[order]


def look(order: str, known: int) -> tuple[str, bytes | None, int]:
    """Return the progress as JSON, and the latest record if it is newer than number `known`."""
    running = _running.get(order)
    if running is None:
        return "null", None, known
    running.heard_s = time.monotonic()
    record, number = running.record, running.records
    blob = pack_study(record) if record is not None and number > known else None
    progress = running.progress
    return json.dumps(None if progress is None else asdict(progress)), blob, number


def stop(order: str) -> None:
    """Ask the study of an order to stop."""
    if (running := _running.get(order)) is not None:
        running.cancel.set()


def _studied(order: str, running: _Running) -> StudyRecord:
    asked = unpack(StudyOrder, _orders.pop(order))
    request = request_of(asked, _model(asked, order))

    def report(progress: Progress) -> None:
        running.progress = replace(progress, verdicts=(), samples=())

    def report_step(step: str) -> None:
        report(Progress(step, 0, 0.0, request.budget_s, None, None))

    def keep(record: StudyRecord) -> None:
        running.record = record
        running.records += 1

    def wait() -> None:
        report_step("waiting: another study is measured on this machine")
        check_cancel(running.cancel)

    with alone(home.cache_folder() / LOCK, wait):
        if asked.space is None:
            space = default_space(
                request.model,
                request.inputs,
                base=request.base,
                goal=request.goal,
                objectives=request.objectives,
                pacing_s=request.pacing_s,
                calibration=request.calibration,
                cancel=running.cancel,
                on_step=report_step,
            )
            request = replace(request, space=space)
        return run_study(request, on_progress=report, on_measured=keep, cancel=running.cancel)


def _listen(running: _Running) -> None:
    """Stop the study when its client was silent for long."""
    while not running.cancel.wait(1.0):
        if time.monotonic() - running.heard_s > SILENCE_S:
            running.cancel.set()


def _model(asked: StudyOrder, order: str) -> Model:
    """Return the model by its hash: a sample, one that came before, or the files that came just now."""
    if _is_sample(asked.model, asked.sha256):
        return load(asked.model)
    folder, arriving = _folder(asked.sha256), _arriving(asked.sha256, order)
    if arriving.is_dir():
        if fingerprint(arriving / asked.files[0], asked.files[1:]) != asked.sha256:
            shutil.rmtree(arriving, ignore_errors=True)
            raise ModelError(
                f"{asked.model} did not arrive whole: its hash differs", "tune again: it is sent anew"
            )
        try:
            arriving.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
            shutil.rmtree(arriving, ignore_errors=True)  # another study brought the same model
        trim(folder.parent)
    return Model(folder / asked.files[0], asked.model)


def _is_sample(name: str, sha256: str) -> bool:
    return name in sample_names() and load(name).sha256 == sha256


def _folder(sha256: str) -> Path:
    if len(sha256) != hashlib.sha256().digest_size * 2 or not sha256.isalnum():
        raise ModelError(f"{sha256!r} is no hash", "report this as a bug")
    return home.cache_folder() / "cluster" / sha256


def _arriving(sha256: str, order: str) -> Path:
    return _folder(sha256).with_name(f".{sha256}-{order}")
