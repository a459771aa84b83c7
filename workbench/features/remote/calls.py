"""`wb.on`: the same calls, made by a worker of a Dask cluster; what comes back is a bundle."""

from __future__ import annotations

import io
import json
import os
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from workbench._version import __version__
from workbench.core.background import check_cancel, in_background
from workbench.core.bundle.bundle import unpack_record
from workbench.core.errors import BundleError, ClusterError, ConfigError, WorkbenchError
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import OnProgress, Progress
from workbench.core.models import Model, load
from workbench.core.models.fingerprint import file_sha256
from workbench.core.models.samples import sample_names
from workbench.core.text import listed, path_text, quoted
from workbench.features.base.registry import KINDS
from workbench.features.remote import on_worker
from workbench.features.remote.fleet import Fleet
from workbench.features.remote.on_worker import SentFile
from workbench.features.remote.trusted import check_address, check_answer

if TYPE_CHECKING:
    from distributed import Client

MEASURING = "measuring"  # the resource of workers that measure: one thing at a time
_PART_BYTES = 16 << 20  # of a file in one message
_POLL_S = 0.1
WATCH_S = 1.0  # between two questions to the scheduler
SILENT_S = 15.0  # of a worker or a scheduler, after which it counts as lost
MODELS = (".onnx", ".ort")
SAME_VERSION = "install the same version there: pip install 'ort-workbench[cluster]'"


def on(client: Client, target: str | None = None) -> Remote:
    """Return the measuring calls of `workbench`, made by a worker of a Dask cluster.

    `target` is a tag of workers: a resource that they were started with, beside "measuring". One thing at a
    time is measured on a machine; `progress` and `cancel` work as they do here, and the result comes back as
    a bundle. Times of two machines are never compared.

    >>> import workbench as wb
    >>> wb.on("tcp://127.0.0.1:8786")
    Traceback (most recent call last):
    workbench.core.errors.ConfigError: client='tcp://127.0.0.1:8786' is no client of a Dask cluster
    Fix: connect one: client=distributed.Client("tls://scheduler:8786", security=…)
    """
    if not isinstance(client, _client_class()) or client.asynchronous:
        raise ConfigError(
            f"client={quoted(client)} is no client of a Dask cluster",
            'connect one: client=distributed.Client("tls://scheduler:8786", security=…)',
        )
    scheduler: Any = client.scheduler  # of a connected client, not None
    check_address(scheduler.address)
    return Remote(client, target)


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler; Dask's configuration has the certificates of tls:// addresses."""
    try:
        client = _client_class()(address, timeout=SILENT_S, set_as_default=False)
    except (TypeError, OSError, RuntimeError, ValueError) as error:  # TypeError: TLS without certificates
        raise ClusterError(
            f"there is no Dask scheduler at {quoted(address)}: {error}",
            "start one, dask scheduler, and give the address that it prints: tls://HOST:8786 with "
            "the certificates in Dask's configuration (distributed.comm.tls)",
        ) from error
    with client:
        yield client


def _client_class() -> type[Client]:
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigError(
            "a cluster needs Dask, which is not installed", "pip install 'ort-workbench[cluster]'"
        ) from error
    return Client


class Remote:
    """Every call of `workbench` that measures a model, as an attribute."""

    def __init__(self, client: Client, target: str | None) -> None:
        self._client, self._target = client, target
        self._kinds = {kind.public_name: kind.name for kind in KINDS if kind.call}

    def __dir__(self) -> list[str]:
        return sorted(self._kinds)

    def every(self, models: Sequence[Any], targets: Sequence[str]) -> Fleet:
        """Return the same calls for each of these models on each of these targets, in one call.

        `wb.on(client).every(["resnet50", "gpt2"], ["edge", "far"]).compare(a, b)["gpt2", "far"]` is a result.
        """
        return Fleet(models, targets, lambda target, name: getattr(Remote(self._client, target), name))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in self._kinds:
            raise AttributeError(f"{name!r} measures no model; these calls do: {', '.join(dir(self))}")
        return partial(self._call, name)

    def _call(
        self,
        name: str,
        *arguments: Any,
        progress: bool | Callable[[Progress], None] = True,
        cancel: threading.Event | None = None,
        keep: bool = True,
        **options: Any,
    ) -> Any:
        files: dict[SentFile, Path] = {}
        sent = _sent(arguments, files), _sent(options, files)
        try:
            pickle.dumps(sent)
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise ConfigError(
                f"an argument of {name} cannot travel: {error}", "give arrays, configs, and paths of files"
            ) from error
        with bar(progress) as on_progress:
            blob = _Task(self._client, self._target, cancel, on_progress).run(self._kinds[name], files, *sent)
        try:
            bundle = unpack_record(io.BytesIO(blob), KINDS)
        except BundleError as error:
            raise ClusterError(f"the worker's answer is no result: {error.problem}", error.fix) from error
        model = load(arguments[0]) if arguments and not isinstance(arguments[0], list | tuple) else None
        check_answer(bundle, self._kinds[name], model, arguments[1:])
        result = KINDS.result(bundle)
        if model is not None and hasattr(result, "attach"):
            again = {name: options[name] for name in ("inputs", "calibration", "data") if name in options}
            result.attach(model, **again)
        if keep:
            result.keep()
        return result


class _Task:
    """One call on its way: placed on a free worker, its files sent, followed to its end."""

    def __init__(
        self, client: Client, target: str | None, cancel: threading.Event | None, on_progress: OnProgress
    ) -> None:
        self._client: Any = client  # Dask's methods have no types
        self._target, self._cancel, self._on_progress = target, cancel, on_progress
        self._worker: str | None = None  # its address, once the call is placed
        self._looked_s = 0.0
        self._key = f"ort-workbench-{uuid4().hex}"

    def run(self, kind: str, files: Mapping[SentFile, Path], arguments: Any, options: Any) -> bytes:
        """Make the call; return the bundle."""
        self._report(f"waiting for {'a machine' if self._target is None else quoted(self._target)}")
        with self._submitted(on_worker.missing, tuple(files)) as placing:
            version, wanted = self._answer(placing)
            self._worker = next(iter(self._client.who_has(placing)[placing.key]))
        if version != __version__:
            raise ClusterError(f"the worker has version {version}, here it is {__version__}", SAME_VERSION)
        for file in wanted:
            self._send(file, files[file])
        self._client.subscribe_topic(self._key, self._hear)
        try:
            sent = (kind, self._key, tuple(files), arguments, options)
            with self._submitted(on_worker.perform, *sent, key=self._key) as made:
                blob = self._answer(made)
        finally:
            self._client.unsubscribe_topic(self._key)
        if not isinstance(blob, bytes):
            raise ClusterError(f"the worker {self._worker} answered {quoted(blob)}", "look at its log")
        return blob

    def _send(self, file: SentFile, path: Path) -> None:
        for name in file.names:
            with (path.parent / name).open("rb") as source:
                size = os.fstat(source.fileno()).st_size
                for offset in range(0, max(1, size), _PART_BYTES):  # an empty file is one empty part
                    self._report(f"sending {name} to {self._worker}")
                    part = source.read(_PART_BYTES)
                    with self._submitted(on_worker.store, file, name, offset, part) as stored:
                        self._answer(stored)

    @contextmanager
    def _submitted(self, function: Callable[..., Any], *arguments: Any, key: str = "") -> Iterator[Any]:
        """Submit a task to a free worker, or to the one that was found; cancel it if it is left early."""
        needs = {MEASURING: 1, **({} if self._target is None else {self._target: 1})}
        place = {} if self._worker is None else {"workers": [self._worker], "allow_other_workers": False}
        key = key or f"{self._key}-{uuid4().hex}"
        future = self._client.submit(function, *arguments, key=key, resources=needs, pure=False, **place)
        try:
            yield future
        finally:
            if not future.done() and self._client.status == "running":
                with in_background(lambda _: future.cancel(), "cancel"):  # a frozen scheduler never answers
                    pass
            future.release()

    def _answer(self, future: Any) -> Any:
        """Wait for a task; say within seconds that its worker or the scheduler is lost."""
        while not future.done():
            time.sleep(_POLL_S)
            check_cancel(self._cancel)
            if time.monotonic() - self._looked_s > WATCH_S:
                self._check_workers()
                self._looked_s = time.monotonic()
        if future.status == "finished":
            return future.result()
        error = future.exception() if future.status == "error" else None
        if isinstance(error, WorkbenchError):
            raise error
        if isinstance(error, ImportError):
            raise ClusterError(f"the worker cannot import the workbench: {error}", SAME_VERSION) from error
        self._check_workers()
        raise ClusterError(f"the call failed on {self._worker}: {error!r}", "look at the worker's log")

    def _check_workers(self) -> None:
        """Raise ClusterError if no worker can do it, or the one that does it is gone or silent."""
        tags, silent_s = self._ask_scheduler()
        if self._worker is not None:
            if silent_s is None:
                raise ClusterError(f"the worker {self._worker} left the cluster", "look at its log")
            if silent_s > SILENT_S:
                raise ClusterError(
                    f"the worker {self._worker} is silent for {silent_s:.0f} s: frozen, or out of reach",
                    "look at that machine, then call again",
                )
            return
        tag = self._target if self._target is not None and MEASURING in tags else MEASURING
        if tag in tags:
            return
        known = sorted(tags - {MEASURING})
        start = f'dask worker ADDRESS --nthreads 1 --resources "{MEASURING}=1 {self._target or "edge"}=1"'
        raise ClusterError(
            f"no worker of the cluster has the tag {quoted(tag)}"
            + (f"; they have {listed(known, 30)}" if known else ""),
            f"start one: {start}",
        )

    def _ask_scheduler(self) -> tuple[set[str], float | None]:
        gone = ClusterError("the scheduler of the cluster went away", "call again when it is back")
        asked_s = time.monotonic()

        def give_up() -> None:
            if time.monotonic() - asked_s > SILENT_S:
                raise gone

        if self._client.status != "running":
            raise gone
        work = partial(self._client.run_on_scheduler, _look, worker=self._worker)
        try:
            with in_background(lambda _: work(), "ask the scheduler", self._cancel) as asking:
                answer: tuple[set[str], float | None] = asking.result(give_up)
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:  # what Dask raises when it closes
            raise gone from error
        return answer

    def _hear(self, event: tuple[float, Any]) -> None:
        """Show the progress that the worker reports, if it is well-formed."""
        with suppress(ValueError, TypeError, KeyError):
            fields = json.loads(event[1])
            self._on_progress(Progress(**{**fields, "doing": f"{self._worker}: {fields['doing']}"}))

    def _report(self, doing: str) -> None:
        self._on_progress(Progress(doing, 0, 0.0, 0.0, None, None))


def _look(worker: str | None, dask_scheduler: Any) -> tuple[set[str], float | None]:
    """Return, in the scheduler, for how many seconds a worker was silent, None if it is gone; before there is
    one, the tags of all that measure. Many calls ask each second, so the answer is small.
    """
    states = dask_scheduler.workers
    if worker is not None:
        return set(), time.time() - states[worker].last_seen if worker in states else None
    tags = (set(state.resources) for state in states.values() if MEASURING in state.resources)
    return set().union(*tags), None


def _is_path(text: str) -> bool:
    """Return whether a text may be a path: "memory" is an objective, though a folder may have that name."""
    path = PurePath(text)
    return text not in sample_names() and (bool(path.suffix) or path.name != text)


def _sent(value: Any, files: dict[SentFile, Path]) -> Any:
    """Return an argument as it travels; files of this machine are noted in `files`."""
    if isinstance(value, Mapping):
        return {name: _sent(part, files) for name, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_sent(part, files) for part in value)
    if isinstance(value, Path) or (isinstance(value, str) and _is_path(value)):
        path = Path(value).expanduser()
        if path.is_dir():
            raise ConfigError(
                f"{path_text(path)} is a folder, which does not travel", "give arrays, or an .npz file"
            )
        if path.suffix in MODELS and path.is_file():
            value = load(path)
        elif path.is_file():
            file = SentFile(file_sha256(path), (path.name,), None)
            files[file] = path
            return file
    if isinstance(value, Model):
        if value.name in sample_names() and load(value.name).sha256 == value.sha256:
            return value.name
        file = SentFile(value.sha256, (value.path.name, *(part.name for part in value.external)), value.name)
        files[file] = value.path
        return file
    return value
