"""A stream of request sizes through one session: first and steady latency, and whether memory only grows."""

from __future__ import annotations

import os
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from statistics import median
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.config import Config
from workbench.core.errors import InputError, RunFailed, WorkerError
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, whole_numbers
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import Limits, OnProgress, Progress
from workbench.core.models import Model, load
from workbench.core.models.requests import (
    MOST_FEED_BYTES,
    Shape,
    SizedRequest,
    covers,
    extent,
    fed,
    in_words,
    padded,
    requests_of,
)
from workbench.core.prepare.replayed import replayed
from workbench.core.prepare.runnable import Runnable, make_runnable
from workbench.core.text import bytes_text
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
    limits: Limits | None = None,
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
    loaded, chosen, calibration = load(model), config or Config(), replayed(calibration)
    stream, ways = requests_of(loaded, shapes), list[_Way]()
    sizes = [request.shape for request in stream]
    filled = None if buckets is not None and not buckets else [padded(shape, buckets) for shape in sizes]
    in_buckets = [request.of_size(shape) for request, shape in zip(stream, filled or (), strict=False)]
    variants = _variants(chosen) if arenas else ()
    limits = limits or Limits()
    with WorkerFolder() as folder, ExitStack() as stack, bar(progress) as on_progress:
        for name, changed, requests, shared in (
            (shown.AS_THEY_COME, chosen, stream, ()),
            *([] if filled is None else [(shown.BUCKETS, chosen, in_buckets, ())]),
            *((name, changed, stream, shared) for name, changed, shared in variants),
        ):
            feeds = [fed(loaded, request, seed) for request in dict.fromkeys(requests)]
            size = sum(getattr(value, "nbytes", 0) for feed in feeds for value in feed.values())
            if size > MOST_FEED_BYTES:
                raise InputError(
                    f"the sizes have {bytes_text(size)} of inputs", "Give fewer or smaller sizes"
                )
            runnable = make_runnable(loaded, changed, feeds, calibration=calibration, cancel=cancel)
            python, bound = runnable.config.interpreter, limits.memory_bytes
            worker = Worker(folder, name=f"replay{len(ways)}", python=python, memory_bytes=bound)
            way = _Way(name, requests, stack.enter_context(worker), limits, cancel)
            way.attempt(lambda way=way, of=runnable, shared=shared: way.load(of, shared))
            ways.append(way)
        tell = _telling(on_progress, passes * len(ways) * len(stream))
        for number in range(passes):
            for way in ways:
                at = f"pass {number + 1} of {passes}, {way.name}"
                way.attempt(lambda way=way, at=at: way.one_pass(lambda: tell(at)))
    share = None if filled is None else extent(filled) / (extent(sizes) or 1) - 1
    record = shown.ReplayRecord(loaded.name, len(stream), share, tuple(way.run() for way in ways))
    return kept(Replay(record, origin_of(loaded, chosen, cancel=cancel)), keep)


def _telling(on_progress: OnProgress, requests: int) -> Callable[[str], None]:
    """Return a function that counts a request and says what is done."""
    began, done = time.monotonic(), 0

    def tell(doing: str) -> None:
        nonlocal done
        done += 1
        on_progress(Progress(doing, 0, time.monotonic() - began, 0.0, done / requests, None))

    return tell


def _variants(config: Config) -> tuple[tuple[str, Config, tuple[str, ...]], ...]:
    """Return the settings that decide what memory a session keeps."""
    shrinking = config.replace(run_entries=dict([*config.run_entries, _SHRINK]))
    return (
        ("no memory pattern", config.replace(memory_pattern=False), ()),
        ("no arena", config.replace(cpu_arena=False), ()),
        ("arena by what is asked", config, ("arena as requested",)),
        ("arena shrinks", shrinking, ()),
    )


class _Way:
    """One stream through the session of one config, and what it showed so far."""

    def __init__(
        self,
        name: str,
        stream: Sequence[SizedRequest],
        worker: Worker,
        limits: Limits,
        cancel: threading.Event | None,
    ) -> None:
        self.name, self._stream, self._worker, self._limits, self._cancel = (
            name,
            stream,
            worker,
            limits,
            cancel,
        )
        self._failure: str | None = None
        self._loaded_bytes: int | None = None
        self._pass_s: list[float] = []
        self._pass_bytes: list[int | None] = []
        self._seen: dict[Shape, shown.SizeSeen] = {}
        self._places = {request: place for place, request in enumerate(dict.fromkeys(stream))}

    def attempt(self, step: Any) -> None:
        """Take a step while the other sessions stand still; only the stream as it comes must not fail."""
        if self._failure is not None:
            return
        try:
            self._worker.thaw()
            step()
            self._worker.freeze()
        except (RunFailed, WorkerError) as error:
            if self.name == shown.AS_THEY_COME:
                raise
            self._failure = error.problem
            self._worker.close()

    def load(self, runnable: Runnable, shared: Sequence[str]) -> None:
        """Make the session, and hand over the inputs, so that memory has them from the start."""
        limits, cancel, feeds = self._limits, self._cancel, self._worker.log_path.with_suffix(".feeds")
        write_values(feeds, runnable.feeds)
        self._worker.hello(timeout_s=limits.start_s, cancel=cancel)
        plan = {**runnable.config.plan().to_dict(), "shared": list(shared)}
        body = {"model": str(runnable.model.path), "plan": plan}
        self._worker.request("load", body, stage="load", timeout_s=limits.load_s, cancel=cancel)
        body = {"feeds": str(feeds)}
        answer = self._worker.request("requests", body, stage="load", timeout_s=limits.load_s, cancel=cancel)
        self._loaded_bytes = answer.body["rss_bytes"]

    def one_pass(self, tell: Callable[[], None]) -> None:
        """Send each request of the stream."""
        whole_s, rss = 0.0, None
        largest: list[Shape] = []
        counts = Counter(request.shape for request in self._stream)
        for request in self._stream:
            shape = request.shape
            first_s, rss = self._send(request)
            whole_s += first_s
            tell()
            if shape not in self._seen:
                again, sizes = zip(*(self._send(request) for _ in range(AGAIN)), strict=True)
                is_covered = any(covers(other, shape) for other in largest)
                largest += [] if is_covered else [shape]
                measured = in_words(shape), counts[shape], first_s, median(again), sizes[-1], is_covered
                self._seen[shape] = shown.SizeSeen(*measured)
        self._pass_s.append(whole_s)
        self._pass_bytes.append(rss)

    def _send(self, request: SizedRequest) -> tuple[float, int | None]:
        """Return the seconds of a request, and the memory after it."""
        body, limit_s = {"place": self._places[request]}, self._limits.run_s
        try:
            answer = self._worker.request("replay", body, stage="run", timeout_s=limit_s, cancel=self._cancel)
        except RunFailed as error:
            raise RunFailed(f"{in_words(request.shape)}: {error.problem}", error.fix) from error
        return array("q", answer.payload)[0] / 1e9, answer.body["rss_bytes"]

    def run(self) -> shown.ReplayRun:
        """Return what was seen."""
        passes = tuple(self._pass_s), tuple(self._pass_bytes)
        sizes = tuple(self._seen.values())
        return shown.ReplayRun(self.name, sizes, self._loaded_bytes, *passes, self._failure)


def call_arguments(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of `wb.replay`: the stream stands before the config."""
    return (model, options.pop("shapes"), *configs), options


_SIZES = "Sizes of the requests in order, a CSV file with a column for each dim, or a folder of .npz files"
_PADDED = "Sizes to pad to; empty: powers of two"
FEATURE = Feature(
    "replay", shown.ReplayRecord, shown.check_replay,
    result=Replay, chart=replay_chart, call=replay, takes=("seed", "calibration", "progress", "keep"),
    form=(
        Field("shapes", "sizes", _SIZES, str, example="16, 37, 128, 37", required=True),
        Field("buckets", "buckets", _PADDED, whole_numbers, example="32, 64, 128"),
        Field("passes", "passes", "How often the stream runs", int, str(PASSES)),
    ),
    arguments=call_arguments, heading="Request sizes as they come", button="Replay sizes",
    hint="A stream of request sizes through one session: first runs, memory, and what padding costs",
    step="one size after another", tabs=("Explore",),
)  # fmt: skip
