"""`wb.on`: the same calls, made by a worker of a Dask cluster; what comes back is a bundle."""

from __future__ import annotations

import io
import pickle
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from workbench.core.bundle.bundle import Bundle, unpack_record
from workbench.core.config import Config
from workbench.core.errors import BundleError, ClusterError, ConfigError
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import ShowProgress
from workbench.core.measure.processor_time import at_one_thread
from workbench.core.models import Model, load
from workbench.core.models.fingerprint import file_sha256
from workbench.core.models.loading import SUFFIXES
from workbench.core.models.samples import sample_names
from workbench.core.stored_files import expanded
from workbench.core.text import path_text, quoted
from workbench.features.base.folder import configs_of
from workbench.features.base.registry import KINDS
from workbench.features.remote.fleet import Fleet
from workbench.features.remote.on_worker import SentFile
from workbench.features.remote.task import SILENT_S, RemoteTask

if TYPE_CHECKING:
    from distributed import Client


_ENCRYPTED = ("tls", "wss")
_LOOK = "look at that machine and its log: its answers are not to be trusted"


def check_address(address: str) -> None:
    """Refuse a scheduler that others on the network could read from, or send code to."""
    parts = urlsplit(address)
    if parts.scheme in (*_ENCRYPTED, "inproc") or _is_loopback(parts.hostname or ""):
        return
    raise ConfigError(
        f"the scheduler at {quoted(address)} is reached without TLS: whoever reads or joins the connection "
        "can run code on the workers and here",
        "start scheduler and workers with --tls-ca-file, --tls-cert and --tls-key and connect to tls://; or "
        "reach it on this machine: ssh -L 8786:127.0.0.1:8786 HOST, then tcp://127.0.0.1:8786",
    )


def check_answer(
    bundle: Bundle, kind: str, model: Model | None, subjects: Sequence[Any], *, clock: object = "wall"
) -> None:
    """Refuse a bundle of another kind, of another model, or of other configs than were sent.

    A comparison by `clock="cpu"` runs the configs that were sent at one thread.
    """
    if bundle.kind != kind:
        raise ClusterError(f"the worker answered with a {quoted(bundle.kind)}, not with a {kind}", _LOOK)
    theirs = bundle.about.model
    if model is not None and theirs is not None and theirs.sha256 != model.sha256:
        raise ClusterError(f"the worker answered about another model, {quoted(theirs.name)}", _LOOK)
    if kind == "comparison" and not bundle.foreign and all(type(config) is Config for config in subjects):
        configs = [*configs_of(bundle.record).values()]
        if configs != ([*map(at_one_thread, subjects)] if clock == "cpu" else [*subjects]):
            raise ClusterError("the worker answered about other configs than were sent", _LOOK)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name, which a name server may send anywhere
        return host == "localhost"


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
        progress: ShowProgress = True,
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
            task = RemoteTask(self._client, self._target, cancel, on_progress)
            blob = task.run(self._kinds[name], files, *sent)
        try:
            bundle = unpack_record(io.BytesIO(blob), KINDS)
        except BundleError as error:
            raise ClusterError(f"the worker's answer is no result: {error.problem}", error.fix) from error
        model = load(arguments[0]) if arguments and not isinstance(arguments[0], list | tuple) else None
        check_answer(bundle, self._kinds[name], model, arguments[1:], clock=options.get("clock", "wall"))
        result = KINDS.result(bundle)
        if model is not None and hasattr(result, "attach"):
            again = {name: options[name] for name in ("inputs", "calibration", "data") if name in options}
            result.attach(model, **again)
        if keep:
            result.keep()
        return result


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
        path = expanded(value)
        if path.is_dir():
            raise ConfigError(
                f"{path_text(path)} is a folder, which does not travel", "give arrays, or an .npz file"
            )
        if path.suffix in SUFFIXES and path.is_file():
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
