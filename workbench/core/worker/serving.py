"""Several callers of one model at once, each a thread: back to back, or as requests arrive at a rate."""

from __future__ import annotations

import itertools
import random
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from typing import Any

Run = Callable[[], object]
Clock = Callable[[], int]  # nanoseconds

SPIN_NS = 150_000  # before an arrival, since a sleep on Linux ends 60 to 120 microseconds too late
_PATIENCE = 1.0  # of the span in which requests arrive: how long late ones are still answered after it


def closed_loop(
    runs: Sequence[Run], seconds: float, most_requests: int, clock: Clock = time.perf_counter_ns
) -> tuple[dict[str, Any], bytes]:
    """Let every caller send its next request when the last one is answered; the payload has all latencies."""
    samples = [array("q") for _ in runs]
    most_each = max(1, most_requests // len(runs))
    crew = _Crew(len(runs), clock)

    def work(caller: int) -> None:
        run, append = runs[caller], samples[caller].append
        crew.begin(run)
        deadline = crew.began_ns + int(seconds * 1e9)
        for _ in range(most_each):
            start = clock()
            run()
            end = clock()
            append(end - start)
            if end >= deadline:
                break
        crew.ended_ns[caller] = clock()

    crew.run(work)
    body = crew.body(sum(map(len, samples)), samples)
    return body, b"".join(row.tobytes() for row in samples)


def open_loop(
    runs: Sequence[Run],
    rate_hz: float,
    seconds: float,
    seed: int,
    clock: Clock = time.perf_counter_ns,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[dict[str, Any], bytes]:
    """Answer requests that arrive at random at this rate: the next free caller takes the oldest one.

    The payload has the latencies from each arrival, in the order of arrival, then the times waited before
    the run. Requests that no caller took in time are counted only.
    """
    arrivals_ns = arrivals(rate_hz, seconds, seed)
    answered: list[list[tuple[int, int, int]]] = [[] for _ in runs]
    turn = itertools.count()
    crew = _Crew(len(runs), clock)

    def work(caller: int) -> None:
        run, append = runs[caller], answered[caller].append
        crew.begin(run)
        give_up = crew.began_ns + int((1 + _PATIENCE) * seconds * 1e9)
        while (index := next(turn)) < len(arrivals_ns):
            arrival = crew.began_ns + arrivals_ns[index]
            now = clock()
            if now > give_up:
                break
            if now < arrival - SPIN_NS:
                sleep((arrival - SPIN_NS - now) / 1e9)
            start = crew.spin_until(arrival)
            run()
            end = clock()
            append((index, end - arrival, start - arrival))
        crew.ended_ns[caller] = clock()

    crew.run(work)
    rows = sorted(row for rows in answered for row in rows)
    latencies, waits = array("q", [row[1] for row in rows]), array("q", [max(0, row[2]) for row in rows])
    return crew.body(len(arrivals_ns), answered), latencies.tobytes() + waits.tobytes()


def arrivals(rate_hz: float, seconds: float, seed: int) -> list[int]:
    """Return when requests arrive, in nanoseconds: a Poisson process, the same for the same seed."""
    rng, at = random.Random(seed), 0.0
    moments: list[int] = []
    while (at := at + rng.expovariate(rate_hz)) < seconds or not moments:
        moments.append(int(at * 1e9))
    return moments


class _Crew:
    """The threads of all callers: they begin together, and the first error of any is raised."""

    def __init__(self, size: int, clock: Clock) -> None:
        self.began_ns = 0
        self.ended_ns = [0] * size
        self._size = size
        self._clock = clock
        self._cpu_ns = 0
        self._spun_ns: list[int] = []  # processor time of waiting for arrivals
        self._errors: list[BaseException] = []
        self._barrier = threading.Barrier(size, action=self._mark)

    def begin(self, run: Run) -> None:
        """Run once outside of the samples, then wait for the others."""
        run()
        self._barrier.wait()

    def spin_until(self, moment_ns: int) -> int:
        """Wait awake until this moment, and return the time; the processor time of it is not the model's."""
        before = time.thread_time_ns()
        while (now := self._clock()) < moment_ns:
            pass
        self._spun_ns.append(time.thread_time_ns() - before)
        return now

    def run(self, work: Callable[[int], None]) -> None:
        """Run `work` in one thread per caller until all have ended."""

        def guarded(caller: int) -> None:
            try:
                work(caller)
            except threading.BrokenBarrierError:  # another caller failed before it began
                return
            except Exception as error:  # noqa: BLE001 - whatever ORT raises is raised again below
                self._errors.append(error)
                self._barrier.abort()

        threads = [threading.Thread(target=guarded, args=(caller,)) for caller in range(self._size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._cpu_ns = max(0, time.process_time_ns() - self._cpu_ns - sum(self._spun_ns))
        if self._errors:
            raise self._errors[0]

    def body(self, requests: int, answered: Sequence[Sequence[object]]) -> dict[str, Any]:
        """Return the times and requests of all callers together and of each."""
        return {
            "wall_ns": max(self.ended_ns) - self.began_ns,
            "cpu_ns": self._cpu_ns,
            "caller_spans_ns": [end - self.began_ns for end in self.ended_ns],
            "requests": requests,
            "caller_counts": [len(rows) for rows in answered],
        }

    def _mark(self) -> None:
        self._cpu_ns = time.process_time_ns()
        self.began_ns = self._clock()
