"""Catch the sessions that the user's own code makes or runs while it runs; that code loads onnxruntime."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from workbench.core.config import Config
from workbench.core.config.user_session import model_of
from workbench.core.errors import WorkbenchError

MOST_KEPT_FEEDS = 8  # of a session: as many as a folder of examples gives
_MOST_RUNS = 64  # of a session whose feeds are looked at, so that a long loop is not slowed down
MOST_BYTES = 256 << 20  # of the feeds of a session
_MODULE = "onnxruntime.capi.onnxruntime_inference_collection"
_FEEDS = {"run": "input_feed", "run_async": "input_feed", "run_with_ort_values": "input_dict_ort_values"}
_RUNS = (*_FEEDS, "run_with_iobinding", "run_with_ortvaluevector")
_NOT_READ = (  # what no session gives back
    "add_external_initializers", "add_free_dimension_override_by_denotation",
    "add_free_dimension_override_by_name", "add_initializer", "register_custom_ops_library",
)  # fmt: skip

Feed = dict[str, np.ndarray[Any, Any]]


@dataclass(eq=False)
class SeenSession:
    """What was seen of one session."""

    source: str | bytes  # the model's absolute path, or its bytes
    config: Config
    problems: list[str] = field(default_factory=list)
    run_count: int = 0
    feeds: dict[str, Feed] = field(default_factory=dict)  # different ones, by their hash
    feed_bytes: int = 0
    cut: bool = False  # feeds were left out
    unread: str | None = None  # why a feed could not be read


class Catcher:
    """Holds what was seen of each session, in the order in which they were made or first ran."""

    def __init__(self) -> None:
        self.seen: list[SeenSession] = []
        self.calls: set[str] = set()  # methods of SessionOptions whose effect no session gives back
        self._by_session: WeakKeyDictionary[Any, SeenSession] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def see(self, session: Any, disabled_passes: Any = None) -> SeenSession:
        """Return what is known of a session; read its model and config where it is new."""
        with self._lock:
            if session not in self._by_session:
                self._by_session[session] = watched = _seen(session, disabled_passes)
                self.seen.append(watched)
            return self._by_session[session]

    def keep(self, session: Any, feed: Feed | str | None) -> None:
        """Count a run, and keep its feed; a text says why the feed could not be read."""
        watched = self.see(session)
        with self._lock:
            watched.run_count += 1
            if isinstance(feed, str):
                watched.unread = feed
            elif feed is None:
                watched.cut = True
            elif (key := _digest(feed)) not in watched.feeds:
                size = sum(array.nbytes for array in feed.values())
                if len(watched.feeds) == MOST_KEPT_FEEDS or watched.feed_bytes + size > MOST_BYTES:
                    watched.cut = True
                else:
                    watched.feeds[key] = feed
                    watched.feed_bytes += size

    def copied(self, session: Any, feed: Any) -> Feed | str | None:
        """Return a copy of a feed, None beyond the bounds, or a text that says why it cannot be read."""
        watched = self.see(session)
        if watched.run_count >= _MOST_RUNS or len(watched.feeds) == MOST_KEPT_FEEDS:
            return None
        if not isinstance(feed, Mapping):
            return "they were bound to devices"
        copies, size = {}, watched.feed_bytes
        for name, value in feed.items():
            array = None if value is None else _array(value)
            if isinstance(array, str):
                return f"{name}: {array}"
            if array is not None:
                size += array.nbytes
                if size > MOST_BYTES:
                    return None
                copies[str(name)] = array.copy()
        return copies


@contextmanager
def catching() -> Iterator[Catcher]:
    """Catch every session that is made or run inside; `InferenceSession` is restored whatever happens."""
    catcher = Catcher()
    with ExitStack() as stack:
        module = sys.modules.get(_MODULE)
        if module is None:
            finder = _Finder(lambda loaded: _wrap(loaded, catcher, stack))
            sys.meta_path.insert(0, finder)
            stack.callback(sys.meta_path.remove, finder)
        else:
            _wrap(module, catcher, stack)
        yield catcher


class _Finder:
    """Calls back when the code imports onnxruntime's sessions."""

    def __init__(self, loaded: Callable[[Any], None]) -> None:
        self._loaded = loaded

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Return the usual spec, whose module is handed over once it is loaded."""
        spec = PathFinder.find_spec(name, path, target) if name == _MODULE else None
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                load(module)
                self._loaded(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _wrap(module: Any, catcher: Catcher, stack: ExitStack) -> None:
    """Wrap the methods of the classes themselves, which names that were imported earlier share."""

    def replace(kind: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
        owner = next((base for base in kind.__mro__ if name in vars(base)), None)
        if owner is not None:  # an older version lacks some
            method = vars(owner)[name]
            setattr(owner, name, wraps(method)(make(method)))
            stack.callback(setattr, owner, name, method)

    def making(method: Any) -> Callable[..., Any]:
        def init(session: Any, *arguments: Any, **options: Any) -> None:
            method(session, *arguments, **options)
            catcher.see(session, options.get("disabled_optimizers"))

        return init

    def running(method: Any) -> Callable[..., Any]:
        keyword = _FEEDS.get(method.__name__)

        def run(session: Any, *arguments: Any, **options: Any) -> Any:
            given = options.get(keyword) if keyword in options else arguments[1:2] and arguments[1]
            copied = catcher.copied(session, given if keyword else None)
            result = method(session, *arguments, **options)
            catcher.keep(session, copied)
            return result

        return run

    def calling(method: Any) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            catcher.calls.add(method.__name__)
            return method(*arguments, **options)

        return call

    replace(module.InferenceSession, "__init__", making)
    for name in _RUNS:
        replace(module.InferenceSession, name, running)
    for name in _NOT_READ:
        replace(module.C.SessionOptions, name, calling)


def _seen(session: Any, disabled_passes: Any) -> SeenSession:
    """Read the model and the config of a session; what cannot be read is a problem that is said."""
    problems, config, source = [], Config(), b""
    try:
        source = model_of(session)
        config = Config.from_session(session)
        if disabled_passes:
            config = config.replace(disabled_passes=tuple(disabled_passes))
    except Exception as error:  # noqa: BLE001  # the user's code goes on, whatever we make of its session
        problems.append(error.problem if isinstance(error, WorkbenchError) else repr(error))
    return SeenSession(
        source if isinstance(source, bytes) else str(Path(source).absolute()), config, problems
    )


def _array(value: Any) -> np.ndarray[Any, Any] | str:
    """Return a tensor as the array that a file can hold, or why that cannot be."""
    try:
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    except Exception as error:  # noqa: BLE001  # an OrtValue of another kind, items of unequal shapes
        return str(error)
    if array.dtype.kind == "O" and all(isinstance(item, str) for item in array.flat):
        array = array.astype(str)
    is_sequence = isinstance(value, list) and any(isinstance(item, np.ndarray | dict) for item in value)
    if is_sequence or array.dtype.kind not in "biufU":
        return f"a {type(value).__name__} of {array.dtype} is no tensor that a file of arrays holds"
    return array


def _digest(feed: Feed) -> str:
    """Return the hash of a feed."""
    digest = hashlib.sha256()
    for name, array in sorted(feed.items()):
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode("utf-8", "replace"))
        digest.update(array.tobytes())
    return digest.hexdigest()
