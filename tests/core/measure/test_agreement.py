"""Do outputs agree? Checked against numpy done by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import TensorProto, helper

from workbench.core.bundle.comparison import OutputAgreement
from workbench.core.measure.agreement import compare_outputs

FLOATS = hnp.arrays(
    np.float32, hnp.array_shapes(max_dims=3, min_side=1, max_side=5), elements=st.floats(-100, 100, width=32)
)


def compared(ours: Any, theirs: Any, **options: Any) -> OutputAgreement:
    (row,) = compare_outputs("B", [{"y": ours}], [{"y": theirs}], **options)
    return row


@given(FLOATS)
def test_the_same_agrees_to_the_last_bit(array: np.ndarray) -> None:
    row = compared(array, array.copy())
    assert row.agrees is True
    assert row.max_abs_error == 0.0
    assert row.sqnr_db is None


@given(FLOATS, st.integers(0, 2**31))
def test_figures_agree_with_numpy(array: np.ndarray, seed: int) -> None:
    other = array + np.random.default_rng(seed).normal(0, 0.01, array.shape).astype(np.float32)
    row = compared(array, other)
    error = np.abs(array.astype(np.float64) - other)
    assert row.max_abs_error == pytest.approx(error.max())
    if np.abs(array).max() > 0:
        assert row.relative_error == pytest.approx(error.max() / np.abs(array).max(), rel=1e-6)
        if error.max() > 0:
            noise = 10 * math.log10(np.square(array.astype(np.float64)).sum() / np.square(error).sum())
            assert row.sqnr_db == pytest.approx(noise, rel=1e-6)
        is_within = row.relative_error is not None and row.relative_error <= 1e-3
        assert is_within or not row.agrees
        assert row.agrees or not is_within or (row.part_error or 0.0) > 1e-3, "a part on its own scale"


def test_the_tolerance_is_the_user_s() -> None:
    ours = np.array([1.0, 2.0], np.float32)
    assert compared(ours, ours * 1.01).agrees is False
    assert compared(ours, ours * 1.01, tolerance=0.02).agrees is True


def test_an_error_as_large_as_the_output_has_no_sign() -> None:
    ours = np.ones(4, np.float32)
    assert "SQNR 0 dB" in compared(ours, ours * -0.01, least_sqnr_db=10.0).reason


@pytest.mark.parametrize(
    ("ours", "theirs", "reason"),
    [
        (np.zeros((2, 3)), np.zeros((3, 2)), "shape"),
        (np.array([1, 2, 3]), np.array([1, 2, 4]), "33.33 %"),
        (np.array(["a"], object), np.array(["b"], object), "strings"),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), "NaN"),
        (np.array([1.0, np.inf]), np.array([1.0, -np.inf]), "infinity"),
        ([np.zeros(2)], [np.zeros(2), np.zeros(2)], "2 values instead of 1"),
        ({1: 0.5}, {2: 0.5}, "no tensors"),
        (None, np.zeros(1), "no tensors"),
    ],
)
def test_what_differs_is_said(ours: Any, theirs: Any, reason: str) -> None:
    row = compared(ours, theirs)
    assert row.agrees is False
    assert reason in row.reason


@pytest.mark.parametrize(
    "value",
    [
        np.array(["a", "b"], object),
        np.array([True, False]),
        np.array([1.0, np.nan, np.inf]),
        [np.arange(3), np.zeros((0, 2))],
        {1: 0.5},
        None,
    ],
)
def test_equal_values_of_every_type_agree(value: Any) -> None:
    assert compared(value, value).agrees is True


@pytest.mark.parametrize(
    "value", [np.full(3, np.nan), np.full(3, np.inf), np.zeros((0, 4), np.float32), [np.zeros(0)]]
)
def test_equal_outputs_without_a_value_are_no_agreement(value: Any) -> None:
    row = compared(value, value)
    assert row.agrees is None
    assert "NaN, infinite or empty" in row.reason


def test_a_single_output_with_values_is_enough() -> None:
    outputs = [{"boxes": np.zeros((0, 4)), "scores": np.ones(2)}]
    assert [row.agrees for row in compare_outputs("B", outputs, outputs)] == [True, True]


def test_integers_that_may_differ_are_not_called_equal() -> None:
    ours = np.arange(100)
    row = compared(ours, np.where(ours == 3, 7, ours), least_sqnr_db=20.0)
    assert row.agrees is True
    assert (row.reason, row.max_abs_error) == ("1.00 % of the integers differ", 4.0)


def test_a_sequence_of_tensors_of_several_shapes_can_differ() -> None:
    value = helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)
    structure = helper.make_model(helper.make_graph([], "sequence", [], [value]))
    ours = [np.ones(2), np.ones(3)]
    assert compared(ours, [np.zeros(2), np.zeros(3)], structure=structure).agrees is False


def test_nan_and_infinity_are_counted() -> None:
    array = np.array([np.nan, np.nan, np.inf, 1.0])
    row = compared(array, array)
    assert (row.nan_count, row.inf_count) == (2, 1)


def test_an_output_that_does_not_repeat_itself_is_unknown() -> None:
    ours, again = np.array([0.1, 0.9]), np.array([0.7, 0.2])
    row = compared(ours, np.array([0.4, 0.4]), repeat=[{"y": again}])
    assert row.agrees is None
    assert "process to process" in row.reason


def test_an_output_that_repeats_itself_still_differs() -> None:
    ours = np.array([0.1, 0.9])
    assert compared(ours, np.array([0.4, 0.4]), repeat=[{"y": ours}]).agrees is False


def test_what_python_cannot_read_is_unknown() -> None:
    assert compared("(SparseTensor: not comparable)", "(SparseTensor: not comparable)").agrees is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("ours", "theirs", "agrees"),
    [
        ([1e200, 1.0], [1e200, 2.0], True),  # the signal's squares overflow
        ([1e200], [1.1e200], False),  # both do
        ([1e-10], [1e200], False),  # the noise's do
        ([1.7e308], [-1.7e308], False),  # and here the difference
        ([1e-160, 1.0], [1e-170, 1.0], True),  # the noise's squares vanish
    ],
)
def test_numbers_beyond_their_squares_have_no_ratio_of_noise(
    ours: list[float], theirs: list[float], agrees: bool
) -> None:
    row = compared(np.array(ours), np.array(theirs))
    assert row.agrees is agrees
    assert row.sqnr_db is None
    assert row.max_abs_error is None or math.isfinite(row.max_abs_error)
