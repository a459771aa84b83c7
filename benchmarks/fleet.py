"""The limits of `wb.on`, and what a large fleet would run: `python -m benchmarks.fleet`, a few minutes.

*Fake* workers lie in one process and answer with a saved result without measuring, so only the way to them
and back is timed. *Real* ones are processes of this machine, which may not measure two at a time. *Lost*
kills or freezes one while it measures, or makes it lie, and times until the call says so. The *plan* computes
a year of an organisation with 500 device types from bytes and seconds that were measured.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from heapq import heapify, heapreplace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import dask
import distributed

import workbench as wb
from tests.factories.comparisons import ordinary
from workbench.core.text import bytes_text
from workbench.features.base.result import packed
from workbench.features.remote import on_worker, task

_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,  # looks for a package, a thousand times
    "distributed.scheduler.worker-ttl": "600s",
    "distributed.worker.memory.terminate": False,
}
_AT_ONCE = 50  # fake workers that are started together
_JOIN_S = 150.0  # of joining: what has joined by then is asked
_ASK_S = 300.0  # of waiting for answers
_START_S = 40.0  # of real workers, which start a Python each
_ANSWERS_S = 0.05  # a fake worker's time for an answer
_SILENT_S = 300.0  # one process is all workers here, so that a worker may well be silent for long
_SWITCH_S = 0.0005  # between threads: an answer passes through three of them, and each waits for its turn
_MODEL = "digits-conv"
_LATE_S = 1.0  # that an answer may take to arrive after its measuring ended


def fake(workers: int, questions: int) -> Iterator[str]:
    """Ask many questions at once of many workers that measure nothing."""
    model = replace(ordinary().model, sha256=wb.load(_MODEL).sha256)
    record = replace(ordinary(), model=model)
    blob = packed(wb.Comparison(record), weights=False)

    def answer(*_: Any) -> bytes:
        time.sleep(_ANSWERS_S)
        return blob

    on_worker.perform = answer  # type: ignore[assignment]
    task.SILENT_S = _SILENT_S
    sys.setswitchinterval(_SWITCH_S)
    with _one_process(workers) as (address, joined, started_s):
        gc.freeze()  # a thousand workers are no garbage
        yield f"| {joined:,} of {workers:,} workers joined | {started_s:.1f} s |"
        client = distributed.Client(address, set_as_default=False, timeout=120)
        took_s = [*_asked(client, questions, [run.config for run in record.runs])]
        last_s = max(took_s, default=_ASK_S)
        yield f"| {len(took_s):,} of {questions:,} questions asked at once answered | {last_s:.1f} s |"
        if took_s:
            yield f"| median wait of these | {median(took_s):.1f} s |"


def _asked(client: Any, questions: int, configs: list[wb.Config]) -> Iterator[float]:
    there = wb.on(client)
    began = time.perf_counter()

    def ask(_: int) -> float:
        there.compare(_MODEL, *configs, progress=False, keep=False)
        return time.perf_counter() - began

    threads = ThreadPoolExecutor(questions)
    ended, _ = wait([threads.submit(ask, number) for number in range(questions)], timeout=_ASK_S)
    yield from (asked.result() for asked in ended)


@contextmanager
def _one_process(workers: int) -> Iterator[tuple[str, int, float]]:
    """Run a scheduler and workers in a thread of this process; yield its address, how many, and how long."""
    ready, found = threading.Event(), list[tuple[str, int]]()

    async def serve() -> None:
        async with distributed.Scheduler(protocol="inproc://", dashboard=False) as scheduler:
            alive: list[Any] = []
            for first in range(0, workers, _AT_ONCE):
                if time.perf_counter() - began > _JOIN_S:
                    break
                made = [
                    distributed.Worker(scheduler.address, nthreads=1, resources={"measuring": 1},
                                       memory_limit=0, dashboard=False)
                    for _ in range(min(_AT_ONCE, workers - first))
                ]  # fmt: skip
                alive += await asyncio.gather(*made)
            found.append((scheduler.address, len(alive)))
            ready.set()
            await asyncio.Event().wait()

    began = time.perf_counter()
    threading.Thread(target=lambda: asyncio.run(serve()), name="cluster", daemon=True).start()
    ready.wait()
    yield *found[0], time.perf_counter() - began


def real(workers: int) -> Iterator[str]:
    """Ask each of many workers of this machine to measure; return how many measured at a time."""
    with _processes(workers) as (client, joined, _):
        spans, there = list[tuple[float, float]](), wb.on(client)

        def ask(_: int) -> None:
            began: list[float] = []

            def progress(step: Any) -> None:
                if step.round and not began:
                    began.append(time.monotonic())

            there.measure(_MODEL, wb.Config(), budget_s=1.0, progress=progress, keep=False)
            spans.append((began[0], time.monotonic()))

        with ThreadPoolExecutor(joined) as threads:
            list(threads.map(ask, range(joined)))
    spans.sort()
    overlaps = sum(later[0] < earlier[1] - _LATE_S for earlier, later in pairwise(spans))
    took_s = spans[-1][1] - spans[0][0]
    yield f"| {joined} of {workers} workers of one machine, {joined} questions at once | {took_s:.1f} s |"
    yield f"| of these, measured while another one was | {overlaps} |"


def lost() -> Iterator[str]:
    """Lose the worker or the scheduler while the worker measures; return when the call said so, and how."""
    yield _lost("worker killed", 1, signal.SIGKILL)
    yield _lost("scheduler killed", 0, signal.SIGKILL)
    yield _lost("worker frozen", 1, signal.SIGSTOP)
    with _processes(1) as (client, _, _):
        client.run(_lie)
        yield _said("worker that lies", client, [time.monotonic()], budget_s=2.0, progress=False)


def _lost(what: str, place: int, sent: signal.Signals) -> str:
    lost_at = list[float]()
    with _processes(1) as (client, _, started):

        def progress(step: Any) -> None:
            if step.round and not lost_at:
                lost_at.append(time.monotonic())
                started[place].send_signal(sent)

        return _said(what, client, lost_at, budget_s=600.0, progress=progress)


def _lie() -> None:
    """Make this worker answer with what is no bundle."""
    on_worker.perform = lambda *_: b"PK no bundle"  # type: ignore[assignment]


def _said(what: str, client: Any, lost_at: list[float], **how: Any) -> str:
    try:
        wb.on(client).measure(_MODEL, wb.Config(), keep=False, **how)
    except wb.ClusterError as error:
        return f"| {what}: {error.problem[:90]} | {time.monotonic() - lost_at[0]:.1f} s |"
    return f"| {what}: NOT NOTICED | |"


@contextmanager
def _processes(workers: int) -> Iterator[tuple[Any, int, list[subprocess.Popen[bytes]]]]:
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "scheduler.json")
        loopback = ["--scheduler-file", file, "--host", "127.0.0.1", "--no-dashboard"]
        worker = ["dask_worker", *loopback, "--nthreads", "1", "--no-nanny", "--resources", "measuring=1"]
        commands = [["dask_scheduler", "--port", "0", *loopback], *[worker] * workers]
        started = [
            subprocess.Popen([sys.executable, "-m", f"distributed.cli.{name}", *options],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for name, *options in commands
        ]  # fmt: skip
        try:
            with distributed.Client(scheduler_file=file, timeout=120, set_as_default=False) as client:
                with suppress(TimeoutError):
                    client.wait_for_workers(workers, timeout=_START_S)
                yield client, len(client.scheduler_info(n_workers=-1)["workers"]), started
        finally:
            for process in started:
                process.kill()
                process.wait()


@dataclass(frozen=True)
class Organisation:
    """What is asked of a fleet each night; each question is a comparison of two configs."""

    types: int = 500
    devices: int = 2  # of a type
    models: int = 40
    configs: int = 3  # that are compared with the default
    nights: int = 365
    question_s: float = 60.0  # the default budget of an open comparison
    settled_s: tuple[float, float] = (8.0, 60.0)  # from the first answer to the whole budget
    lost: float = 0.02  # of the questions, whose worker leaves in the middle: it is asked again


def plan(fleet: Organisation) -> Iterator[str]:
    """Compute a night and a year of an organisation."""
    draws, bundle_bytes = random.Random(0), len(packed(wb.Comparison(ordinary()), weights=False))
    ends, asked = [], 0
    for _ in range(fleet.types):
        free_s = [0.0] * fleet.devices
        heapify(free_s)
        for _ in range(fleet.models * fleet.configs):
            seconds = draws.uniform(*fleet.settled_s)
            asked += 1
            while draws.random() < fleet.lost:
                seconds, asked = seconds + draws.uniform(0, fleet.question_s), asked + 1
            heapreplace(free_s, free_s[0] + seconds)
        ends.append(max(free_s))
    results = fleet.types * fleet.models * fleet.configs
    rows = results * fleet.nights
    yield f"| device types, devices | {fleet.types}, {fleet.types * fleet.devices:,} |"
    yield f"| results of a night: types × {fleet.models} models × {fleet.configs} configs | {results:,} |"
    yield f"| questions asked, {fleet.lost:.0%} of them lost and asked again | {asked:,} |"
    yield f"| a type is done after, median and last | {median(ends) / 60:.0f} and {max(ends) / 60:.0f} min |"
    yield f"| answers a second at the scheduler, mean | {asked / max(ends):.1f} |"
    yield f"| bytes of a bundle, of a night, of a year | {bytes_text(bundle_bytes)}, " + (
        f"{bytes_text(bundle_bytes * results)}, {bytes_text(bundle_bytes * rows)} |"
    )
    yield f"| rows of a year in one database | {rows:,} |"
    yield f"| rows of a year per device type | {rows // fleet.types:,} |"


def main() -> None:
    """Print the rows of the chosen parts."""
    parts: dict[str, Callable[[argparse.Namespace], Iterator[str]]] = {
        "plan": lambda _: plan(Organisation()),
        "real": lambda chosen: real(chosen.real),
        "lost": lambda _: lost(),
        "fake": lambda chosen: fake(chosen.workers, chosen.questions),  # the last: its workers stay
    }
    parser = argparse.ArgumentParser(prog="benchmarks.fleet", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--workers", type=int, default=1_000, help="fake ones")
    parser.add_argument("--questions", type=int, default=200, help="asked at once of the fake workers")
    parser.add_argument("--real", type=int, default=10, help="workers that are processes of this machine")
    chosen = parser.parse_args()
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with dask.config.set(_QUIET):
        for name in (name for name in parts if name in chosen.parts):
            began, began_core = time.perf_counter(), time.process_time()
            print(f"\n| {name}, load {os.getloadavg()[0]:.1f} | |\n|---|---|", flush=True)
            for row in parts[name](chosen):
                print(row, flush=True)
            core_s = time.process_time() - began_core
            print(
                f"| took, and of a core | {time.perf_counter() - began:.0f} s, {core_s:.0f} s |", flush=True
            )
    os._exit(0)  # closing a thousand workers one by one would take minutes


if __name__ == "__main__":
    main()
