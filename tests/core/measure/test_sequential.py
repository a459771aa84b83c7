"""The interval: exact against scipy, and honest however often it is looked at."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy  # a part of it is imported when it is first used
from hypothesis import given
from hypothesis import strategies as st

from tests.amount import amount
from workbench.core.measure.regime import BUSY, BUSY_TIE, LOOKS, QUIET, Regime
from workbench.core.measure.sequential import (
    REPEATED,
    error_at,
    interval,
    is_look,
    student_t,
    total_error,
    trimmed,
)

RATIOS = st.lists(st.floats(-2, 2), min_size=2, max_size=40).filter(lambda ratios: np.std(ratios) > 1e-6)


@given(RATIOS, st.floats(0.001, 0.2))
def test_interval_is_students_t(ratios: list[float], error: float) -> None:
    estimate = interval(ratios, error=error)
    assert estimate is not None
    middle = scipy.stats.tmean(ratios)
    half = scipy.stats.t.ppf(1 - error / 2, len(ratios) - 1) * scipy.stats.tsem(ratios)
    assert estimate.middle == pytest.approx(middle, abs=1e-12)
    assert estimate.half_width == pytest.approx(half, rel=1e-9, abs=1e-12)


def test_rounds_at_either_end_are_trimmed_as_yuen_does() -> None:
    ratios = [-0.11, -0.10, -0.09, -0.09, -0.79, -0.10, -0.10, -0.10]
    estimate = interval(ratios, error=0.05, trims=[0.13])
    assert estimate is not None
    assert estimate.middle == pytest.approx(scipy.stats.trim_mean(ratios, 0.13))
    winsorized = scipy.stats.mstats.winsorize(np.array(ratios), (0.13, 0.13))
    error = scipy.stats.tstd(winsorized) / ((1 - 2 / 8) * math.sqrt(8))
    assert estimate.half_width == pytest.approx(scipy.stats.t.ppf(0.975, 5) * error)


def test_of_two_trims_the_narrower_interval_counts_at_half_of_the_error() -> None:
    close = [0.001, -0.001] * 10
    for rounds, trim in ((close, 0.13), ([*close, *[-0.3, 0.3] * 5], 0.3)):
        assert interval(rounds, error=0.02, trims=[0.13, 0.3]) == interval(rounds, error=0.01, trims=[trim])


def test_of_fewer_than_eighteen_rounds_one_trim_is_tried() -> None:
    tailed = [*[0.001, -0.001] * 5, -0.4, -0.3, -0.2, 0.2, 0.3, 0.4]
    assert interval(tailed, error=0.02, trims=[0.13, 0.3]) == interval(tailed, error=0.02, trims=[0.13])


@pytest.mark.parametrize(("rounds", "cut"), [(3, 0), (5, 0), (6, 1), (11, 1), (12, 3), (27, 8)])
def test_of_a_few_rounds_at_most_a_sixth_is_trimmed_at_either_end(rounds: int, cut: int) -> None:
    assert trimmed(rounds, BUSY.trims[0]) == cut


@pytest.mark.parametrize("ratios", [[], [0.1]])
def test_no_interval_from_fewer_than_two(ratios: list[float]) -> None:
    assert interval(ratios, error=0.05) is None


@pytest.mark.parametrize(
    "finals",
    [
        *([last] for last in (3, 5, 7, 8, 10, 12, 18, 22, 27, 40, 60, 90)),
        [6, 12],
        [9, 10, 11, 12],
        [4, 7, 10, 15, 20, 30, 50, 80],
        [4, 6, 9, 13, 19, 28, 41, 61, 91],
    ],
)
@pytest.mark.parametrize("regime", [replace(QUIET, trims=(0.0,)), QUIET, BUSY_TIE])
@pytest.mark.thorough
def test_looking_often_does_not_spend_more_than_five_per_cent(finals: list[int], regime: Regime) -> None:
    """However often measuring went on: simulated, with three standard errors of room for the simulation."""
    repeats = amount(20_000)
    room = 3 * math.sqrt(0.05 * 0.95 / repeats)
    assert total_error(finals, regime, repeats=repeats) <= 0.05 + room


@pytest.mark.parametrize(
    "finals",
    [
        *([last] for last in (7, 12, 18, 27, 40)),
        *([default, longer] for default in (5, 6, 7, 8) for longer in (18, 22, 27)),
        [6, 22, 50],
        [4, 6, 9, 13, 19, 28, 41, 61],
    ],
)
@pytest.mark.thorough
def test_on_a_busy_machine_all_looks_spend_one_per_cent(finals: list[int]) -> None:
    """Also if measuring takes longer than the default budget, and goes on after that."""
    repeats = amount(20_000)
    room = 3 * math.sqrt(0.01 * 0.99 / repeats)
    assert total_error(finals, BUSY, repeats=repeats) <= 0.01 + room


@pytest.mark.parametrize("regime", [QUIET, BUSY, BUSY_TIE])
def test_every_look_spends_something(regime: Regime) -> None:
    assert tuple(regime.spent_at) == LOOKS
    assert all(BUSY.spent_at[rounds] <= error < 0.05 for rounds, error in regime.spent_at.items())
    assert total_error([12], repeats=20_000) > total_error([3], repeats=20_000) > 0


def test_between_two_looks_the_next_one_is_spent() -> None:
    assert error_at(6) == QUIET.spent_at[8]
    assert error_at(1_000) == QUIET.spent_at[max(LOOKS)]
    assert is_look(8)
    assert not is_look(7)


def test_a_part_that_a_final_look_spent_is_not_spent_again() -> None:
    assert not is_look(8, looks=[6])
    assert error_at(8, looks=[6]) == REPEATED
    assert is_look(12, looks=[6])
    assert is_look(12, looks=[8])
    assert error_at(8, looks=[8]) == QUIET.spent_at[8], "the look itself, judged again"
    assert error_at(90, looks=[80], regime=BUSY) == BUSY.spent_at[90]


@pytest.mark.parametrize("degrees", [*range(1, 12), 99, 400])
@pytest.mark.parametrize("probability", [0.5, 0.9, 0.975, 0.9995, 1 - 1e-7])
def test_student_t_against_scipy(probability: float, degrees: int) -> None:
    theirs = float(scipy.stats.t.ppf(probability, degrees))
    assert student_t(probability, degrees) == pytest.approx(theirs, rel=1e-8, abs=1e-12)
