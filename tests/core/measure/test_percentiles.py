"""Percentiles say no more than the samples do."""

from __future__ import annotations

import numpy as np
import pytest

from tests.factories.runs import block, process, run
from workbench.core.bundle.run import Block, Run
from workbench.core.measure.percentiles import NEEDED, Figure, mean, over_processes, percentiles, throughput


def run_with(samples: int, processes: int = 3) -> Run:
    rng = np.random.default_rng(0)
    each = samples // processes
    import dataclasses

    def sampled(count: int) -> Block:
        return dataclasses.replace(block(0.001), samples_s=tuple(rng.gamma(9, 1e-4, count).tolist()))

    return run("A", [process(n, [sampled(each)]) for n in range(processes)])


def named(found: tuple[Figure, ...]) -> dict[str, Figure]:
    return {estimate.name: estimate for estimate in found}


@pytest.mark.parametrize("percent", [90.0, 99.0, 99.9])
def test_too_few_samples_are_not_enough(percent: float) -> None:
    needed = NEEDED[percent]
    (short,) = percentiles(run_with(needed - 3, processes=1), [percent])
    assert short.value is None
    assert "not enough samples" in short.note
    (enough,) = percentiles(run_with(needed, processes=1), [percent])
    assert enough.value is not None


@pytest.mark.parametrize("percent", [1e-310, 5e-324, 99.99999999999999])
def test_a_percentile_next_to_an_end_requires_more_samples_than_there_are(percent: float) -> None:
    (unknown,) = percentiles(run_with(300), [percent])
    assert unknown.value is None
    assert "not enough samples: 300 of " in unknown.note


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


def test_excluded_blocks_do_not_count_unless_there_is_nothing_else() -> None:
    clean, noisy = block(0.001, count=10), block(0.009, count=10, disturbed=("waited for a core",))
    (mixed,) = percentiles(run("A", [process(1, [clean, noisy])]), [50.0])
    (only,) = percentiles(run("A", [process(1, [noisy])]), [50.0])
    assert mixed.value == pytest.approx(0.001)
    assert only.value == pytest.approx(0.009)


def test_throughput_is_the_inverse_of_the_mean() -> None:
    measured = run("A", [process(n, [block(0.002, count=10), block(0.004, count=10)]) for n in range(3)])
    assert throughput(measured).value == pytest.approx(1 / 0.003)


def test_no_figure_reaches_beyond_what_was_measured() -> None:
    """Sessions of 1, 1.2 and 20 ms: an interval that would reach below zero has no lower end."""
    scattered = run("A", [process(number, [block(s)]) for number, s in enumerate((0.001, 0.0012, 0.02))])
    middle, rate = mean(scattered), throughput(scattered)
    assert (middle.low, rate.high) == (None, None)
    assert middle.note == rate.note == "the sessions differ too much for an interval"
    stopped = run("A", [process(number, [block(0.0)]) for number in range(3)])
    assert throughput(stopped).value is None


def test_nothing_measured_is_nothing_told() -> None:
    assert throughput(run("A", [])).value is None
    assert all(estimate.value is None for estimate in percentiles(run("A", [])))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sample_s", [1e308, float("inf")])
def test_samples_too_long_to_add_up_give_finite_figures(sample_s: float) -> None:
    """A stranger's record may hold any number."""
    for few in ([], [process(9, [block(0.001)] * 8)]):
        measured = run("A", [*few, *(process(number, [block(sample_s)] * 8) for number in range(4))])
        estimates = [mean(measured), throughput(measured), *percentiles(measured, (50.0, 90.0))]
        for estimate in estimates:
            figures = (estimate.value, estimate.low, estimate.high)
            assert all(figure is None or np.isfinite(figure) for figure in figures), estimate


def sessions(rng: np.random.Generator, count: int, samples: int, scatter: float) -> Run:
    """Sessions whose level differs by `scatter` from one to the next, as prepacking and placement make it."""
    import dataclasses

    levels = np.exp(rng.normal(0, scatter, count)) * 1e-4
    return run(
        "A",
        [
            process(n, [dataclasses.replace(block(0.001), samples_s=tuple(rng.gamma(9, level, samples)))])
            for n, level in enumerate(levels)
        ],
    )


@pytest.mark.parametrize("scatter", [0.0, 0.05, 0.2])
def test_intervals_hold_the_true_median_also_where_sessions_differ(scatter: float) -> None:
    """The bootstrap over processes of before held it in 85 of 100 at five sessions that differ."""
    rng, true = np.random.default_rng(1), 8.6690e-4  # of the gamma distribution at level 1e-4
    repeats, inside, inside_mean = 200, 0, 0
    for _ in range(repeats):
        measured = sessions(rng, 6, 150, scatter)
        (middle,) = percentiles(measured, (50.0,))
        assert middle.low is not None
        assert middle.high is not None
        inside += middle.low <= true <= middle.high
        average = mean(measured)
        assert average.low is not None
        assert average.high is not None
        inside_mean += average.low <= 9e-4 * np.exp(scatter**2 / 2) <= average.high
    assert inside >= 0.91 * repeats
    assert inside_mean >= 0.91 * repeats


def test_equal_sessions_get_the_interval_of_pooled_samples() -> None:
    measured = sessions(np.random.default_rng(2), 30, 200, 0.0)
    (middle,) = percentiles(measured, (50.0,))
    samples = sorted(s for p in measured.processes for b in p.blocks for s in b.samples_s)
    half = 2.05 * 0.5 * len(samples) ** 0.5
    assert middle.low == pytest.approx(samples[round(len(samples) / 2 - half)], rel=0.01)
    assert middle.high == pytest.approx(samples[round(len(samples) / 2 + half)], rel=0.01)


def test_ties_of_a_coarse_clock_make_no_session_differ() -> None:
    tied = run("A", [process(n, [block(0.001, count=40)]) for n in range(4)])
    (middle,) = percentiles(tied, (50.0,))
    assert (middle.low, middle.value, middle.high) == (0.001, 0.001, 0.001)
    assert middle.precision == 0.0


def test_a_figure_with_one_value_a_process_needs_six_for_an_interval() -> None:
    assert over_processes("load", []).value is None
    few = over_processes("load", [0.01, 0.03, 0.02])
    assert (few.value, few.low) == (0.02, None)
    assert "3 processes" in few.note
    assert over_processes("load", [6, 5, 4, 3, 2, 1]) == Figure(3.5, 1, 6, "load")
    nine = over_processes("load", list(range(1, 10)))
    assert (nine.low, nine.high) == (2, 8), "3.9 % lie outside of the second smallest and second largest"
