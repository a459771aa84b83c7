"""Callers at once: what they answer, and when, on a clock of our own."""

from __future__ import annotations

import threading
from array import array

import pytest

from workbench.core.worker.serving import arrivals, closed_loop, open_loop


class FakeTime:
    """A clock that sleeping, running and each reading move; a sleep ends too late, as on Linux."""

    def __init__(self, run_ns: int, late_ns: int = 0) -> None:
        self.now = 0
        self.slept_ns = 0
        self._run_ns, self._late_ns = run_ns, late_ns
        self._lock = threading.Lock()

    def clock(self) -> int:
        if self._late_ns:
            self.now += 1
        return self.now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept_ns += int(seconds * 1e9)
            self.now += int(seconds * 1e9) + self._late_ns

    def run(self) -> None:
        with self._lock:
            self.now += self._run_ns


def numbers(payload: bytes) -> list[int]:
    values = array("q")
    values.frombytes(payload)
    return values.tolist()


def test_a_caller_sends_the_next_request_when_the_last_one_is_answered() -> None:
    time = FakeTime(1_000_000)
    body, payload = closed_loop([time.run], 0.01, 1_000, clock=time.clock)
    assert numbers(payload) == [1_000_000] * 10
    assert body["requests"] == 10
    assert body["caller_counts"] == [10]
    assert body["wall_ns"] == body["caller_spans_ns"][0] == 10_000_000


def test_the_number_of_answers_is_bounded() -> None:
    time = FakeTime(1)
    body, payload = closed_loop([time.run] * 2, 10.0, 100, clock=time.clock)
    assert body["caller_counts"] == [50, 50]
    assert len(numbers(payload)) == 100


def test_all_callers_answer() -> None:
    body, payload = closed_loop([lambda: None] * 4, 10.0, 40)
    assert body["caller_counts"] == [10] * 4
    assert len(body["caller_spans_ns"]) == 4
    assert all(latency >= 0 for latency in numbers(payload))


def test_latency_counts_from_the_arrival_so_that_a_queue_shows() -> None:
    time = FakeTime(20_000_000, late_ns=1)  # 50 a second at most
    body, payload = open_loop([time.run], 100.0, 0.5, 3, clock=time.clock, sleep=time.sleep)
    values = numbers(payload)
    count = sum(body["caller_counts"])
    latencies, waits = values[:count], values[count:]
    assert len(waits) == count
    assert [latency - wait for latency, wait in zip(latencies, waits, strict=True)] == [20_000_001] * count
    assert latencies[-1] > 4 * latencies[0], "the queue grows"
    assert body["requests"] == len(arrivals(100.0, 0.5, 3))


def test_requests_that_nobody_takes_in_time_are_counted_only() -> None:
    time = FakeTime(100_000_000, late_ns=1)
    body, _ = open_loop([time.run], 200.0, 0.5, 0, clock=time.clock, sleep=time.sleep)
    assert sum(body["caller_counts"]) < 15 < body["requests"]


def test_an_idle_caller_is_ready_at_the_arrival_though_a_sleep_ends_too_late() -> None:
    time = FakeTime(1_000, late_ns=64_000)
    body, payload = open_loop([time.run], 10.0, 1.0, 1, clock=time.clock, sleep=time.sleep)
    values = numbers(payload)
    latencies, waits = values[: len(values) // 2], values[len(values) // 2 :]
    assert len(waits) == body["requests"]
    assert max(waits) < 100
    assert 1_000 <= min(latencies) <= max(latencies) < 1_100
    assert time.slept_ns > 0.9 * time.now, "nearly all of the time it sleeps"


def test_arrivals_are_random_and_the_same_for_a_seed() -> None:
    first = arrivals(1_000.0, 2.0, 5)
    assert first == arrivals(1_000.0, 2.0, 5) != arrivals(1_000.0, 2.0, 6)
    assert first == sorted(first)
    assert 1_800 < len(first) < 2_200
    assert len(arrivals(0.001, 0.01, 0)) == 1, "one request at least"


def test_an_error_of_any_caller_is_raised() -> None:
    def fail() -> None:
        raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        closed_loop([lambda: None, fail], 0.01, 10)
