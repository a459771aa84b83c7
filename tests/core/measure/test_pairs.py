"""From blocks to one number a process pair."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories.runs import block, process, run
from workbench.core.bundle.run import Block
from workbench.core.measure.pairs import pair_of, pairs_of, typical_s


def mixed(*feeds_s: float) -> Block:
    return dataclasses.replace(block(1.0), samples_s=feeds_s * 3)


def test_the_ratio_of_typical_latencies() -> None:
    ours = process(1, [block(2.0)] * 6)
    theirs = process(1, [block(1.0)] * 6)
    pair = pair_of(ours, theirs)
    assert pair.cycles == pair.clean_cycles == 3
    assert pair.log_ratio == pytest.approx(math.log(2))


def test_the_slowest_quarter_is_no_part_of_a_typical_latency() -> None:
    assert typical_s([1.0, 2.0, 3.0, 1000.0]) == pytest.approx(2.0)
    assert typical_s([5.0]) == 5.0


def test_passes_over_short_and_long_feeds_are_compared_as_a_whole() -> None:
    """The fastest third of the runs are those of the short feed, which is equal here."""
    ours = dataclasses.replace(process(1, [mixed(1.0, 6.0)] * 6), feeds=2)
    theirs = dataclasses.replace(process(1, [mixed(1.0, 2.5)] * 6), feeds=2)
    assert pair_of(ours, theirs).log_ratio == pytest.approx(math.log(7.0 / 3.5))


def test_the_fastest_third_of_a_block_counts() -> None:
    """Of six passes the fastest two: what others do to a machine makes runs slower."""
    ours = dataclasses.replace(block(1.0), samples_s=(9.0, 1.0, 3.0, 9.0, 9.0, 9.0))
    theirs = dataclasses.replace(block(1.0), samples_s=(1.0, 9.0, 9.0, 9.0, 1.0, 9.0))
    pair = pair_of(process(1, [ours] * 6), process(1, [theirs] * 6))
    assert pair.log_ratio == pair.log_ratio_all == pytest.approx(math.log(2.0))


def test_a_machine_that_slows_down_meanwhile_moves_no_ratio() -> None:
    """Each block is compared with its neighbour: from half of the round on both take three times as long."""
    ours = process(1, [block(2.0)] * 5 + [block(6.0)] * 5)
    theirs = process(1, [block(1.0)] * 5 + [block(3.0)] * 5)
    assert pair_of(ours, theirs).log_ratio == pytest.approx(math.log(2.0))


def test_a_few_blocks_far_off_move_no_ratio() -> None:
    ours = process(1, [block(2.0)] * 6 + [block(0.5), block(40.0)])
    theirs = process(1, [block(1.0)] * 8)
    assert pair_of(ours, theirs).log_ratio == pytest.approx(math.log(2.0))


@given(st.lists(st.floats(1e-6, 10), min_size=1, max_size=50), st.floats(0.1, 10))
def test_typical_scales_with_the_samples_and_lies_among_them(samples: list[float], factor: float) -> None:
    assert typical_s([sample * factor for sample in samples]) == pytest.approx(typical_s(samples) * factor)
    assert min(samples) * (1 - 1e-9) <= typical_s(samples) <= max(samples) * (1 + 1e-9)


def test_a_disturbed_block_takes_its_whole_cycle_away_for_both() -> None:
    noisy = block(9.0, disturbed=("waited for a core",))
    ours = process(1, [block(2.0), noisy, block(2.0), block(2.0), block(2.0), block(2.0)])
    theirs = process(1, [block(0.1), block(0.1), *[block(1.0)] * 4])
    pair = pair_of(ours, theirs)
    assert pair.clean_cycles == 2
    assert pair.log_ratio == pytest.approx(math.log(2))


def test_too_few_clean_cycles_give_no_number_but_the_whole_is_kept() -> None:
    noisy = block(4.0, disturbed=("others used the machine",))
    ours = process(1, [noisy, noisy, noisy, noisy, block(4.0), block(4.0)])
    theirs = process(1, [block(1.0) for _ in range(6)])
    pair = pair_of(ours, theirs)
    assert pair.log_ratio is None
    assert pair.log_ratio_all == pytest.approx(math.log(4))


def test_a_stranger_s_round_that_ends_within_a_cycle_is_read_as_far_as_it_goes() -> None:
    pair = pair_of(process(1, [block(2.0)] * 3), process(1, [block(1.0)] * 4))
    assert pair.log_ratio_all == pytest.approx(math.log(2))


def test_swapping_the_sides_turns_the_sign() -> None:
    ours, theirs = process(1, [block(2.0), block(2.2)] * 3), process(1, [block(1.0), block(1.3)] * 3)
    there, back = pair_of(ours, theirs), pair_of(theirs, ours)
    assert there.log_ratio == pytest.approx(-(back.log_ratio or 0))


def test_only_rounds_that_both_finished_are_pairs() -> None:
    blocks = [block(1.0)] * 6
    baseline = run("A", [process(1, blocks), process(2, blocks), process(3, blocks)])
    candidate = run("B", [process(1, blocks), process(3, blocks)])
    assert [pair.round for pair in pairs_of(baseline, candidate)] == [1, 3]
