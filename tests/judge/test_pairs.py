"""From blocks to one number a process pair."""

from __future__ import annotations

import math

import pytest

from tests.judge.build import block, process, run
from workbench.judge.pairs import pair_of, pairs_of


def test_the_median_cycle_counts() -> None:
    ours = process(1, [block(t) for t in (2.0, 2.0, 2.0, 2.0, 8.0, 8.0)])
    theirs = process(1, [block(1.0) for _ in range(6)])
    pair = pair_of(ours, theirs)
    assert pair.cycles == pair.clean_cycles == 3
    assert pair.log_ratio == pytest.approx(math.log(2))


def test_a_disturbed_block_takes_its_whole_cycle_away() -> None:
    noisy = block(9.0, disturbed=("waited for a core",))
    ours = process(1, [block(2.0), noisy, block(2.0), block(2.0), block(2.0), block(2.0)])
    theirs = process(1, [block(1.0) for _ in range(6)])
    pair = pair_of(ours, theirs)
    assert pair.clean_cycles == 2
    assert pair.log_ratio == pytest.approx(math.log(2))


def test_too_few_clean_cycles_give_no_number_but_the_whole_is_kept() -> None:
    noisy = block(4.0, disturbed=("others used the machine",))
    ours = process(1, [noisy, noisy, noisy, noisy, block(2.0), block(2.0)])
    theirs = process(1, [block(1.0) for _ in range(6)])
    pair = pair_of(ours, theirs)
    assert pair.log_ratio is None
    assert pair.log_ratio_all == pytest.approx(math.log(4))


def test_drift_within_a_cycle_cancels() -> None:
    """A B B A on a machine that slows down steadily: both see the same mean."""
    ours = process(1, [block(1.0), block(math.exp(0.3))] * 3)
    theirs = process(1, [block(math.exp(0.1)), block(math.exp(0.2))] * 3)
    assert pair_of(ours, theirs).log_ratio == pytest.approx(0.0, abs=1e-12)


def test_only_rounds_that_both_finished_are_pairs() -> None:
    blocks = [block(1.0)] * 6
    baseline = run("A", [process(1, blocks), process(2, blocks), process(3, blocks)])
    candidate = run("B", [process(1, blocks), process(3, blocks)])
    assert [pair.round for pair in pairs_of(baseline, candidate)] == [1, 3]
