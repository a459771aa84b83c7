"""When is a warm-up over, and how many runs has a block?"""

from __future__ import annotations

from array import array
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from workbench.core.worker.sampling import block, is_steady, warm_up


def runs_that_count(calls: list[int]) -> Callable[[], Callable[[], object]]:
    return lambda: lambda: calls.append(1)


def test_a_block_has_its_floor_and_its_ceiling() -> None:
    calls: list[int] = []
    _, payload = block(runs_that_count(calls), 0.0, 3, 500, None, 0.0)
    assert len(calls) == 3 == len(payload) // 8
    calls.clear()
    block(runs_that_count(calls), 1000.0, 1, 7, None, 0.0)
    assert len(calls) == 7


class Clock:
    """Nanoseconds that pass by one a reading, and when a run says so."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        self.now += 1
        return self.now

    def run(self) -> None:
        self.now += 1000


def test_a_planted_slow_down_is_inside_the_samples() -> None:
    clock = Clock()
    _, plain = block(lambda: clock.run, 0.0, 5, 5, None, 0.0, clock=clock)
    _, slowed = block(lambda: clock.run, 0.0, 5, 5, None, 0.5, clock=clock)
    assert array("q", plain) == array("q", [1001] * 5)
    assert array("q", slowed) == array("q", [1501] * 5)


def test_the_payload_is_nanoseconds_and_the_body_the_scheduler() -> None:
    body, payload = block(lambda: lambda: None, 0.0, 2, 2, None, 0.0)
    samples = array("q")
    samples.frombytes(payload)
    assert len(samples) == 2
    assert 0 <= sum(samples) <= body["wall_ns"]
    assert body["cpu_ns"] >= 0


def test_falling_latencies_are_not_steady_and_flat_ones_are() -> None:
    assert not is_steady(array("q", [1000 - 40 * step for step in range(20)]))
    assert is_steady(array("q", [1000] * 20))
    assert is_steady(array("q", [900] * 10 + [1000] * 10)), "getting slower is no warm-up"


@given(st.lists(st.integers(1, 10**9), max_size=60))
def test_steady_never_fails(samples: list[int]) -> None:
    assert is_steady(array("q", samples)) in (True, False)


def test_a_warm_up_ends_at_its_bound_and_says_whether_it_was_steady() -> None:
    body, payload = warm_up(lambda: lambda: None, 0.01, 0.05, 4, None)
    assert len(payload) // 8 >= 4
    assert body["steady"] in (True, False)


def test_a_block_is_whole_passes_over_the_feeds() -> None:
    calls: list[int] = []
    _, payload = block(runs_that_count(calls), 0.0, 2, 500, None, 0.0, whole=3)
    assert len(calls) == 3 == len(payload) // 8
    calls.clear()
    block(runs_that_count(calls), 1000.0, 1, 7, None, 0.0, whole=3)
    assert len(calls) == 9
