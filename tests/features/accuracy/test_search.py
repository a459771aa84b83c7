"""The search against models whose errors are known, without any model."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.features.accuracy.sensitivity_record import LayerSensitivity, search

SIZES = st.lists(st.floats(1e-4, 1.0), min_size=1, max_size=10)


def row(name, error, gain_s=1e-3, problem=None):
    return LayerSensitivity(name, (name,), ("Conv",), error, gain_s, None, None, problem)


def independent(errors, floor=0.0):
    """Squares add up, and a part stays whatever is excluded."""
    count = []

    def measure(excluded):
        count.append(excluded)
        return math.sqrt(floor**2 + sum(size**2 for name, size in errors.items() if name not in excluded))

    return measure, count


def test_the_planted_outlier_is_the_only_one_excluded():
    errors = {"a": 0.01, "b": 0.9, "c": 0.02}
    measure, count = independent(errors)
    result = search([row(name, size) for name, size in errors.items()], measure(()), 0.05, measure)
    assert (result.excluded, result.met) == (("b",), True)
    assert result.error <= 0.05
    assert len(count) == 2


def test_within_the_budget_already_nothing_is_tried():
    measure, count = independent({"a": 0.01})
    result = search([row("a", 0.01)], 0.01, 0.05, measure)
    assert (result.excluded, result.met, result.error, count) == ((), True, 0.01, [])


@given(SIZES, st.floats(0.001, 1.0))
def test_independent_errors_meet_the_budget_with_no_layer_too_many(sizes, budget):
    errors = {f"l{at}": size for at, size in enumerate(sizes)}
    measure, _ = independent(errors)
    result = search([row(name, size) for name, size in errors.items()], measure(()), budget, measure)
    assert result.met
    assert measure(result.excluded) <= budget
    if len(result.excluded) <= 8:
        for name in result.excluded:  # each is needed
            assert measure(tuple(other for other in result.excluded if other != name)) > budget


@given(SIZES, SIZES, st.floats(0.001, 1.0))
def test_whatever_the_sensitivity_says_the_answer_is_measured(sizes, guesses, budget):
    """The alone errors are wrong: the search may exclude too much, but never claims what was not measured."""
    errors = {f"l{at}": size for at, size in enumerate(sizes)}
    measure, _ = independent(errors)
    rows = [row(name, guesses[at % len(guesses)]) for at, name in enumerate(errors)]
    result = search(rows, measure(()), budget, measure)
    assert result.met
    assert result.error == measure(result.excluded) <= budget


def test_what_no_exclusion_reaches_is_said():
    measure, _ = independent({"a": 0.1, "b": 0.1}, floor=0.5)
    result = search([row("a", 0.1), row("b", 0.1)], measure(()), 0.2, measure)
    assert not result.met
    assert set(result.excluded) == {"a", "b"}
    assert result.error == pytest.approx(0.5)


def test_layers_whose_error_has_no_size_go_first():
    errors = {"a": 0.01, "b": math.inf}

    def measure(excluded):
        return None if "b" not in excluded else 0.01

    result = search([row("a", 0.01), row("b", None)], None, 0.05, measure)
    assert result.excluded == ("b",)
    assert errors


def test_of_equal_errors_the_one_that_saves_least_time_is_excluded():
    errors = {"fast": 0.5, "slow": 0.5}
    measure, _ = independent(errors)
    rows = [row("fast", 0.5, gain_s=1.0), row("slow", 0.5, gain_s=0.001)]
    assert search(rows, measure(()), 0.6, measure).excluded == ("slow",)
