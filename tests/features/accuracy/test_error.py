"""Errors against plain numpy over the whole of the outputs, whatever way they arrive."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from workbench.features.accuracy.error import ErrorTally, scores_reason

FLOATS = st.floats(-1e3, 1e3, width=32)


def fidelity(label, baseline, candidate, items=1):
    """Return one row per output of a single run of both."""
    tallies = {name: ErrorTally(label, name) for name in baseline}
    for name, tally in tallies.items():
        tally.add(baseline[name], candidate.get(name), items)
    return [tally.row() for tally in tallies.values()]


@given(
    npst.array_shapes(min_dims=2, max_dims=3, max_side=6).flatmap(
        lambda shape: st.tuples(*[npst.arrays(np.float32, shape, elements=FLOATS)] * 2)
    )
)
def test_all_figures_are_those_of_numpy(pair):
    ours, theirs = pair
    tally = ErrorTally("B", "out")
    for expected, actual in zip(ours, theirs, strict=True):
        tally.add(expected[None], actual[None])
    row, whole = tally.row(), (ours.astype(np.float64), theirs.astype(np.float64))
    gap = whole[1] - whole[0]
    assert row.item_count == len(ours)
    assert row.element_count == ours.size
    assert row.max_abs_error == np.max(np.abs(gap))
    if np.any(whole[0]):
        assert row.relative_error == pytest.approx(np.max(np.abs(gap)) / np.max(np.abs(whole[0])))
        assert row.rms_error == pytest.approx(np.sqrt(np.mean(gap**2)) / np.sqrt(np.mean(whole[0] ** 2)))
    if np.any(whole[0]) and np.any(gap):
        expected = 10 * math.log10(np.sum(whole[0] ** 2) / np.sum(gap**2))
        assert row.sqnr_db == pytest.approx(expected, abs=1e-6)
    flat = [array.reshape(len(array), -1) for array in whole]
    norms = np.linalg.norm(flat[0], axis=1) * np.linalg.norm(flat[1], axis=1)
    if np.all(norms > 1e-9):
        cosines = (flat[0] * flat[1]).sum(axis=1) / norms
        assert row.cosine.value == pytest.approx(np.mean(cosines), abs=1e-9)


@given(st.integers(1, 5), st.integers(2, 12))
def test_a_batch_is_the_same_as_its_items(items, classes):
    rng = np.random.default_rng(items * classes)
    ours, theirs = rng.normal(size=(2, items, classes))
    together, apart = ErrorTally("B", "logits"), ErrorTally("B", "logits")
    together.add(ours, theirs, items)
    for expected, actual in zip(ours, theirs, strict=True):
        apart.add(expected[None], actual[None])
    assert together.row() == apart.row()


def test_the_first_choices_of_a_classifier_are_compared():
    rng = np.random.default_rng(0)
    ours = rng.normal(size=(200, 10))
    theirs = ours + rng.normal(scale=0.7, size=ours.shape)
    (row,) = fidelity("B", {"logits": ours}, {"logits": theirs}, items=200)
    same = ours.argmax(1) == theirs.argmax(1)
    first_five = np.argsort(-theirs, axis=1)[:, :5]
    assert row.scores is not None
    assert "'logit'" in row.scores
    assert row.top1.value == pytest.approx(same.mean())
    assert row.top1.how == "Wilson"
    assert row.top5.value == pytest.approx(
        np.mean([c in f for c, f in zip(ours.argmax(1), first_five, strict=True)])
    )


def test_a_language_models_positions_are_shares_of_an_item():
    ours = np.zeros((1, 4, 8))
    theirs = np.zeros((1, 4, 8))
    ours[0, range(4), [1, 2, 3, 4]] = 1
    theirs[0, range(4), [1, 2, 3, 5]] = 1
    (row,) = fidelity("B", {"logits": ours}, {"logits": theirs})
    assert row.top1.value == 0.75


@pytest.mark.parametrize(
    ("name", "shape", "asked", "is_scores"),
    [
        ("logits", (1, 10), None, True),
        ("class_probs", (1, 10), None, True),
        ("pooler_output", (1, 768), None, False),
        ("pooler_output", (1, 768), True, True),
        ("logits", (1, 10), False, False),
        ("logits", (10,), None, False),
        ("logits", (1, 1), None, False),
        ("logits", (1, 3, 64, 64), None, False),
    ],
)
def test_how_a_classifier_is_recognised_is_said(name, shape, asked, is_scores):
    assert (scores_reason(name, np.zeros(shape), asked) is not None) == is_scores


def test_nan_and_inf_are_counted_on_both_sides():
    ours = np.array([[1.0, np.nan, np.inf, 2.0]])
    theirs = np.array([[1.0, np.nan, np.inf, np.nan]])
    (row,) = fidelity("B", {"y": ours}, {"y": theirs})
    assert (row.nan_count, row.inf_count, row.baseline_nan_count, row.baseline_inf_count) == (2, 1, 1, 1)
    assert row.max_abs_error is None  # without end, not zero
    assert row.rms_error is None
    (same,) = fidelity("B", {"y": ours}, {"y": ours})
    assert same.equal
    assert same.rms_error == 0
    assert same.sqnr_db is None


def test_a_nan_is_never_the_first_choice():
    ours = np.array([[1.0, 0.0, 0.0]])
    (row,) = fidelity("B", {"logits": ours}, {"logits": np.array([[np.nan, 0.0, 0.0]])})
    assert row.top1.value == 0


@pytest.mark.parametrize(
    ("theirs", "problem"),
    [
        (np.zeros((1, 3)), "shape 1×3 instead of 1×2"),
        (None, "it is no tensor"),
        (["a"], "it is no tensor"),
        (np.array([["a", "b"]]), "it holds texts"),
    ],
)
def test_what_cannot_be_compared_says_why(theirs, problem):
    (row,) = fidelity("B", {"y": np.zeros((1, 2))}, {"y": theirs})
    assert row.problem == problem
    assert row.max_abs_error is None
    assert row.rms_error is None


def test_error_without_signal_has_no_relative_size():
    (row,) = fidelity("B", {"y": np.zeros((1, 2))}, {"y": np.ones((1, 2))})
    assert (row.max_abs_error, row.relative_error, row.rms_error) == (1.0, None, None)


def test_sums_beyond_a_double_are_absent_and_not_wrong():
    huge = np.full((1, 2), 1e300)
    (row,) = fidelity("B", {"y": huge}, {"y": -huge})
    assert row.max_abs_error == 2e300
    assert row.rms_error is None


def test_whole_numbers_and_truth_values_are_numbers():
    (row,) = fidelity("B", {"y": np.array([[True, False]])}, {"y": np.array([[True, True]])})
    assert row.max_abs_error == 1.0


@pytest.mark.parametrize("theirs", [np.full((1, 2), np.nan), np.array([[1.0, np.inf]]), np.zeros((1, 3))])
def test_an_error_without_end_is_infinite_and_not_unknown(theirs):
    (row,) = fidelity("B", {"y": np.ones((1, 2))}, {"y": theirs})
    assert row.is_endless
    assert row.rms_error is None


def test_values_that_are_not_finite_on_both_sides_are_no_error():
    (row,) = fidelity("B", {"y": np.array([[np.nan]])}, {"y": np.array([[np.nan]])})
    assert not row.is_endless
