"""Intervals against closed forms, another library, and how often they hold the truth."""

import math

import numpy as np
import pytest
import scipy  # a part of it is imported when it is first used
from hypothesis import given
from hypothesis import strategies as st

from workbench.features.accuracy.intervals import Z, bootstrap, mcnemar, mean, paired, tango, wilson


@given(st.integers(1, 2_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(share):
    right, count = share
    theirs = scipy.stats.binomtest(right, count).proportion_ci(0.95, "wilson")
    assert wilson(right, count) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_agrees_with_the_binomial_test(gained, lost):
    expected = scipy.stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar(gained, lost) == pytest.approx(expected)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 400))
def test_tango_holds_the_estimate_and_turns_over(gained, lost, same):
    count = gained + lost + same
    if not count:
        return
    low, high = tango(gained, lost, count)
    assert -1 <= low <= (gained - lost) / count <= high <= 1
    assert tango(lost, gained, count) == pytest.approx((-high, -low), abs=1e-9)


def test_tango_without_any_change_is_not_empty():
    room = Z * Z / (360 + Z * Z)  # the closed form of the score interval there
    assert tango(0, 0, 360) == pytest.approx((-room, room))


@pytest.mark.parametrize(("gained", "lost", "count"), [(9, 1, 44), (0, 3, 50), (12, 12, 100)])
def test_at_both_ends_the_score_test_gives_5_percent(gained, lost, count):
    """With the likelihood under a given difference maximised by a search instead of a formula."""
    for end in tango(gained, lost, count):

        def minus_log_likelihood(share, end=end):
            cells = (share + end, share, 1 - 2 * share - end)
            return -sum(
                changes * math.log(cell) if changes else 0.0
                for changes, cell in zip((gained, lost, count - gained - lost), cells, strict=True)
            )

        bounds = (max(0.0, -end) + 1e-12, (1 - end) / 2 - 1e-12)
        optimum = scipy.optimize.minimize_scalar(
            minus_log_likelihood, bounds=bounds, method="bounded", options={"xatol": 1e-12}
        )
        variance = count * (2 * optimum.x + end - end**2)
        assert abs(gained - lost - count * end) / math.sqrt(variance) == pytest.approx(Z, rel=1e-4)


def test_tango_holds_the_truth_95_times_in_100():
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(1_000):
        gained, lost, _ = rng.multinomial(200, (0.03, 0.05, 0.92))
        low, high = tango(int(gained), int(lost), 200)
        held += low <= -0.02 <= high
    assert 0.93 <= held / 1_000 <= 0.98


def test_the_bootstrap_of_a_mean_is_near_students_interval():
    values = np.random.default_rng(2).normal(3, 1, 400)
    result = mean(values)
    expected = scipy.stats.t.interval(0.95, 399, values.mean(), scipy.stats.sem(values))
    assert result.value == pytest.approx(values.mean())
    assert (result.low, result.high) == pytest.approx(expected, abs=0.02)
    assert result.how == "bootstrap over items"


def test_the_bootstrap_is_repeatable_and_never_holds_more_than_it_must():
    values = np.random.default_rng(3).random(3_000)
    rows = []

    def figure(picked):
        rows.append(picked.size)
        return values[picked].mean(axis=-1)

    assert bootstrap(3_000, figure) == bootstrap(3_000, figure)
    assert max(rows) <= 4_000_000


def test_shares_take_wilson_and_few_items_take_nothing():
    assert mean(np.array([1.0, 0.0, 1.0, 1.0])).how == "Wilson"
    few = mean(np.array([0.5, 0.25, 0.75]))
    assert (few.value, few.low, few.high) == (0.5, None, None)
    assert "3 items" in few.how


def test_paired_scores_of_right_and_wrong_count_gains_and_losses():
    ours, theirs = np.array([1.0] * 90 + [0.0] * 10), np.array([1.0] * 87 + [0.0] * 12 + [1.0])
    result = paired(ours, theirs)
    assert (result.gained_count, result.lost_count) == (1, 3)
    assert result.value == pytest.approx(-0.02)
    assert result.within(0.5) is True
    assert result.within(0.0001) is None
    assert paired(ours, 1 - ours).within(0.1) is False


def test_paired_scores_of_other_numbers_are_resampled():
    rng = np.random.default_rng(4)
    ours = rng.random(100)
    result = paired(ours, ours - 0.1)
    assert (result.value, result.low, result.high) == pytest.approx((-0.1, -0.1, -0.1))
    assert result.p_value is None
