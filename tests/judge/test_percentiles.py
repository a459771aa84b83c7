"""Percentiles say no more than the samples do."""

from __future__ import annotations

import numpy as np
import pytest

from tests.factories.runs import block, process, run
from workbench.judge.percentiles import NEEDED, Estimate, percentiles, throughput
from workbench.records.run import Block, Run


def run_with(samples: int, processes: int = 3) -> Run:
    rng = np.random.default_rng(0)
    each = samples // processes
    import dataclasses

    def sampled(count: int) -> Block:
        return dataclasses.replace(block(0.001), samples_s=tuple(rng.gamma(9, 1e-4, count).tolist()))

    return run("A", [process(n, [sampled(each)]) for n in range(processes)])


def named(found: tuple[Estimate, ...]) -> dict[str, Estimate]:
    return {estimate.name: estimate for estimate in found}


@pytest.mark.parametrize("percent", [90.0, 99.0, 99.9])
def test_too_few_samples_are_not_enough(percent: float) -> None:
    needed = NEEDED[percent]
    (short,) = percentiles(run_with(needed - 3, processes=1), [percent])
    assert short.value is None
    assert "not enough samples" in short.note
    (enough,) = percentiles(run_with(needed, processes=1), [percent])
    assert enough.value is not None


def test_the_bounds_are_those_of_the_issue() -> None:
    assert NEEDED[90.0] == 64
    assert NEEDED[99.0] == 662
    assert 6_500 <= NEEDED[99.9] <= 6_700


def test_values_are_numpy_s_and_lie_in_their_intervals() -> None:
    measured = run_with(3_000)
    samples = [s for p in measured.processes for b in p.blocks for s in b.samples_s]
    for percent, estimate in zip((50.0, 90.0, 99.0), percentiles(measured, (50.0, 90.0, 99.0)), strict=True):
        assert estimate.value == pytest.approx(np.percentile(samples, percent))
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low <= estimate.value <= estimate.high


def test_two_processes_give_no_interval() -> None:
    (middle,) = percentiles(run_with(100, processes=2), [50.0])
    assert middle.value is not None
    assert middle.low is None
    assert "2 processes" in middle.note


def test_set_aside_blocks_do_not_count_unless_there_is_nothing_else() -> None:
    clean, noisy = block(0.001, count=10), block(0.009, count=10, disturbed=("waited for a core",))
    (mixed,) = percentiles(run("A", [process(1, [clean, noisy])]), [50.0])
    (only,) = percentiles(run("A", [process(1, [noisy])]), [50.0])
    assert mixed.value == pytest.approx(0.001)
    assert only.value == pytest.approx(0.009)


def test_throughput_is_the_inverse_of_the_mean() -> None:
    measured = run("A", [process(n, [block(0.002, count=10), block(0.004, count=10)]) for n in range(3)])
    assert throughput(measured).value == pytest.approx(1 / 0.003)


def test_nothing_measured_is_nothing_told() -> None:
    assert throughput(run("A", [])).value is None
    assert all(estimate.value is None for estimate in percentiles(run("A", [])))
