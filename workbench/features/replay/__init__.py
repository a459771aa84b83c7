"""A stream of request sizes through one session: first and steady latency, and whether memory only grows."""

from __future__ import annotations

import os
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from statistics import median
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.config import Config
from workbench.core.errors import InputError, RunFailed, WorkerError
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, whole_numbers, yes_or_no
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import Limits, Progress
from workbench.core.models import Model, load
from workbench.core.models.requests import (
    Shape,
    SizedRequest,
    covers,
    extent,
    feeds_of,
    in_words,
    one_dim,
    padded,
    requests_of,
)
from workbench.core.models.size_examples import sizes_to_try
from workbench.core.prepare.runnable import Runnable, make_runnable
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.values import write_values
from workbench.features.base.result import Result, origin_of
from workbench.features.base.running import finding_inputs, kept
from workbench.features.replay import record as shown
from workbench.features.replay.chart import replay_chart

PASSES, AGAIN = 4, 3  # of the stream; of a size right after its first run
_SHRINK = ("memory.enable_memory_arena_shrinkage", "cpu:0")


class Replay(Result):
    """A stream of request sizes through one session. Made by `wb.replay`."""

    record: shown.ReplayRecord


@finding_inputs
def replay(
    model: Model | Any,
    shapes: str | os.PathLike[str] | Iterable[int | Mapping[str, Any]],
    config: Config | None = None,
    *,
    buckets: Sequence[int] | Mapping[str, Sequence[int]] | None = None,
    arenas: bool = False,
    passes: int = PASSES,
    seed: int = 0,
    calibration: Any = None,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> Replay:
    """Send a stream of request sizes through one session: first and steady latency, memory after each.

    `shapes` are whole numbers for the one free dim beside the batch, mappings such as `{"sequence": 37}`,
    inputs of your own such as `{"input_ids": array}` (with zeros behind them in buckets), a CSV file with a
    column for each dim, or an .npz file or a folder of such with inputs of your own. The stream runs `passes`
    times in its order; in the first pass each new size runs again right after its first run. The stream runs
    padded beside it: to powers of two, or to `buckets`, sizes for all dims or for each by name; `[]` leaves
    that out. `arenas` adds the config without memory pattern, without the CPU arena, with an arena that grows
    by what is asked (kSameAsRequested), and with one that shrinks after each run. Memory grows where its
    slope over new sizes that an earlier one covers is above 0 with its 95 % interval.
    """
    check_number("passes", passes, "give a number of passes, 2 or more", least=2, whole=True)
    loaded, chosen = load(model), config or Config()
    stream, ways = requests_of(loaded, shapes), list[_Way]()
    has_buckets, limits = buckets is None or len(buckets) > 0, worker_limits or Limits()
    filled = [request.of_size(padded(request.shape, buckets)) for request in stream if has_buckets]
    with WorkerFolder() as folder, ExitStack() as stack, bar(progress) as on_progress:
        for name, changed, requests, shared in _sessions(chosen, stream, filled, arenas):
            feeds = feeds_of(loaded, requests, seed)
            runnable = make_runnable(loaded, changed, feeds, calibration=calibration, cancel=cancel)
            python, bound = runnable.config.interpreter, limits.memory_bytes
            worker = Worker(folder, name=f"replay{len(ways)}", python=python, memory_bytes=bound)
            ways.append(_Way(name, requests, stack.enter_context(worker), limits, cancel))
            ways[-1].attempt(ways[-1].load, runnable, shared)
        began, done, whole = time.monotonic(), count(1), passes * len(ways) * len(stream)

        def tell(doing: str) -> None:
            on_progress(Progress(doing, 0, time.monotonic() - began, 0.0, next(done) / whole, None))

        for number in range(passes):
            for way in ways:
                way.attempt(way.one_pass, partial(tell, f"pass {number + 1} of {passes}, {way.name}"))
    share = extent(filled) / (extent(stream) or 1) - 1 if filled else None
    record = shown.ReplayRecord(loaded.name, len(stream), share, tuple(way.run() for way in ways))
    return kept(Replay(record, origin_of(loaded, chosen, cancel=cancel)), keep)


def _sessions(
    config: Config, stream: Sequence[SizedRequest], filled: Sequence[SizedRequest], arenas: bool
) -> Iterator[tuple[str, Config, Sequence[SizedRequest], Sequence[str]]]:
    """Yield each session: its name, config and requests, and what it shares with others of its process."""
    yield shown.AS_THEY_COME, config, stream, ()
    if filled:
        yield shown.BUCKETS, config, filled, ()
    if arenas:  # the settings that decide what memory a session keeps
        yield "no memory pattern", config.replace(memory_pattern=False), stream, ()
        yield "no arena", config.replace(cpu_arena=False), stream, ()
        yield "arena by what is asked", config, stream, ("arena as requested",)
        shrinking = dict([*config.run_entries, _SHRINK])
        yield "arena shrinks", config.replace(run_entries=shrinking), stream, ()


@dataclass(slots=True)
class _Way:
    """One stream through the session of one config, and what it showed so far."""

    name: str
    stream: Sequence[SizedRequest]
    worker: Worker
    limits: Limits
    cancel: threading.Event | None
    failure: str | None = None
    loaded_bytes: int | None = None
    pass_s: list[float] = field(default_factory=list)
    pass_bytes: list[int | None] = field(default_factory=list)
    by_shape: dict[Shape, shown.SizeSeen] = field(default_factory=dict)
    places: dict[SizedRequest, int] = field(default_factory=dict)

    def attempt(self, step: Callable[..., None], *arguments: Any) -> None:
        """Take a step while the other sessions stand still; only the stream as it comes must not fail."""
        if self.failure is not None:
            return
        try:
            self.worker.thaw()
            step(*arguments)
            self.worker.freeze()
        except (RunFailed, WorkerError) as error:
            if self.name == shown.AS_THEY_COME:
                raise
            self.failure = error.problem
            self.worker.close()

    def load(self, runnable: Runnable, shared: Sequence[str]) -> None:
        """Make the session, and hand over the inputs, so that memory has them from the start."""
        self.places = {request: place for place, request in enumerate(dict.fromkeys(self.stream))}
        feeds = self.worker.log_path.with_suffix(".feeds")
        write_values(feeds, runnable.feeds)
        self.worker.hello(timeout_s=self.limits.start_s, cancel=self.cancel)
        ask = partial(self.worker.request, stage="load", timeout_s=self.limits.load_s, cancel=self.cancel)
        plan = {**runnable.config.plan().to_dict(), "shared": list(shared)}
        ask("load", {"model": str(runnable.model.path), "plan": plan})
        self.loaded_bytes = ask("requests", {"feeds": str(feeds)}).body["rss_bytes"]

    def one_pass(self, tell: Callable[[], None]) -> None:
        """Send each request of the stream."""
        whole_s, rss = 0.0, None
        largest: list[Shape] = []
        counts = Counter(request.shape for request in self.stream)
        for request in self.stream:
            shape = request.shape
            first_s, rss = self._send(request)
            whole_s += first_s
            tell()
            if shape not in self.by_shape:
                again, sizes = zip(*(self._send(request) for _ in range(AGAIN)), strict=True)
                is_covered = any(covers(other, shape) for other in largest)
                largest += [] if is_covered else [shape]
                measured = in_words(shape), counts[shape], first_s, median(again), sizes[-1], is_covered
                self.by_shape[shape] = shown.SizeSeen(*measured)
        self.pass_s.append(whole_s)
        self.pass_bytes.append(rss)

    def _send(self, request: SizedRequest) -> tuple[float, int | None]:
        """Return the seconds of a request, and the memory after it."""
        body, limit_s = {"place": self.places[request]}, self.limits.run_s
        try:
            answer = self.worker.request("replay", body, stage="run", timeout_s=limit_s, cancel=self.cancel)
        except RunFailed as error:
            raise RunFailed(f"{in_words(request.shape)}: {error.problem}", error.fix) from error
        return array("q", answer.payload)[0] / 1e9, answer.body["rss_bytes"]

    def run(self) -> shown.ReplayRun:
        """Return what was seen."""
        passes = tuple(self.pass_s), tuple(self.pass_bytes)
        sizes = tuple(self.by_shape.values())
        return shown.ReplayRun(self.name, sizes, self.loaded_bytes, *passes, self.failure)


def call_arguments(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of `wb.replay`: the stream stands before the config."""
    return (model, options.pop("shapes"), *configs), options


def _stream(model: Model | None) -> str:
    """Return sizes that the model takes as bare numbers; where it has several free dims, a file of them."""
    if model is None:
        return "16, 37, 128, 37"
    try:
        small, _, large = sizes_to_try(model, one_dim(model))
    except InputError:
        return "sizes.csv"
    between = 2 * large // 3
    return f"{small}, {between}, {large}, {between}"


def _buckets(model: Model | None) -> str:
    try:
        sizes = _BUCKETS if model is None else sizes_to_try(model, one_dim(model))
    except InputError:
        sizes = _BUCKETS
    return ", ".join(map(str, sizes))


_BUCKETS = (32, 64, 128)
_SIZES = "Sizes of the requests in order, a CSV file with a column for each dim, or a folder of .npz files"
_PADDED = "Sizes to pad to; empty: powers of two"
_ARENAS = (
    "yes: also without memory pattern, without arena, with one that grows as asked, and one that shrinks"
)
FEATURE = Feature(
    "replay", shown.ReplayRecord, shown.check_replay,
    result=Replay, chart=replay_chart, call=replay, takes=("seed", "calibration", "progress", "keep"),
    form=(
        Field("shapes", "sizes", _SIZES, str, example=_stream, required=True,
              before="Send requests of sizes"),
        Field("buckets", "buckets", _PADDED, whole_numbers, example=_buckets,
              before="one after another, also padded to"),
        Field("arenas", "arenas", _ARENAS, yes_or_no, example="yes", before="and with other arenas:"),
        Field("passes", "passes", "How often the stream runs", int, str(PASSES), before="in passes:"),
    ),
    arguments=call_arguments, heading="Request sizes as they come", button="Replay sizes",
    hint="A stream of request sizes through one session: first runs, memory, and what padding costs",
    step="one size after another", tabs=("Explore",),
)  # fmt: skip
