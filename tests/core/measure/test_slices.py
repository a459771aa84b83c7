"""Channels on scales of their own, and channels that quantization has made constant."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from workbench.core.measure.slices import SliceError, SliceTally

RANDOM = np.random.default_rng(0)


def tally(expected: Any, actual: Any) -> SliceTally:
    parts = SliceTally()
    parts.add(np.asarray(expected, np.float64), np.asarray(actual, np.float64))
    return parts


def detections(count: int = 200) -> np.ndarray[Any, Any]:
    """Return boxes of 0 to 640 and scores of 0 to 1, as (1, 4 + 5, count)."""
    boxes, scores = RANDOM.uniform(0, 640, (1, 4, count)), RANDOM.uniform(0, 0.9, (1, 5, count))
    return np.concatenate([boxes, scores], 1)


def rounded(values: Any, scale: float) -> Any:
    return np.round(np.asarray(values) / scale) * scale


@pytest.mark.parametrize("axis", [1, 2])
def test_scores_that_the_scale_of_the_boxes_destroys(axis: int) -> None:
    found = np.moveaxis(detections(), 1, axis)
    part = tally(found, rounded(found, 2.5)).ruined()
    assert part is not None
    assert (part.axis, part.first, part.last, part.constant, part.error) == (axis, 4, 8, 0.0, 1.0)
    assert f"channels 4 to 8 of axis {axis} are all 0" in str(part)


def test_channels_that_have_become_other_constants_are_no_common_part() -> None:
    found = RANDOM.uniform(-1, 1, (1, 4, 40))
    lost = found.copy()
    lost[:, 1], lost[:, 2:] = 0.0, 1.0
    part = tally(found, lost).ruined()
    assert part is not None
    assert (part.first, part.last, part.constant) == (2, 3, 1.0)


def test_the_largest_doubles_have_an_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        part = tally([[1.7e308, -1.7e308] * 20, [1.0, 2.0] * 20], np.zeros((2, 40))).ruined()
    assert part is not None
    assert part.where == "the output"


def test_scores_are_judged_on_their_own_scale() -> None:
    found = detections()
    boxes, scores = tally(found, found + RANDOM.normal(0, 0.3, found.shape)).groups()
    assert (boxes.first, boxes.last, scores.first, scores.last) == (0, 3, 4, 8)
    assert boxes.error < 0.01
    assert scores.error > 0.3


def test_absent_classes_that_become_zero_are_no_loss() -> None:
    """The probabilities of classes that no input shows are below what an integer of 8 bits keeps."""
    scores = RANDOM.uniform(0, 1e-3, (1, 300, 40))
    scores[0, :, 7] = RANDOM.uniform(0, 1, 300)
    parts = tally(scores, rounded(scores, 1 / 256))
    assert parts.ruined() is None
    assert parts.groups() == []


def test_an_output_that_has_become_constant() -> None:
    part = tally([[0.3], [0.5]], [[0.4], [0.4]]).ruined()
    assert part is not None
    assert str(part).startswith("the output is all 0.4 (0.3 to 0.5")


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (np.full((1, 3, 50), 2.0), np.full((1, 3, 50), 2.0)),  # constant before
        (np.zeros((1, 3, 50)), np.zeros((1, 3, 50))),
        (np.array([[5.0, 0.01, 7.0]]), np.array([[5.0, 0.02, 7.0]])),  # one logit each: no channel
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.ones(()), np.ones(())),
        (np.array([[1j, 2.0]]), np.array([[1j, 2.0]])),
    ],
)
def test_what_has_no_channels_to_judge(expected: Any, actual: Any) -> None:
    parts = SliceTally()
    parts.add(expected, actual)
    assert parts.worst() is None


def test_runs_of_other_sizes_leave_the_axes_that_fit() -> None:
    parts = SliceTally()
    for count in (200, 300):
        found = detections(count)
        parts.add(found, rounded(found, 2.5))
    part = parts.ruined()
    assert isinstance(part, SliceError)
    assert (part.axis, part.first) == (1, 4)


def test_rows_and_columns_of_a_picture_are_no_channels() -> None:
    picture = RANDOM.uniform(2, 100, (1, 1, 32, 32))
    picture[..., :8] = RANDOM.uniform(0.1, 0.2, (1, 1, 32, 8))
    assert tally(picture, rounded(picture, 1.0)).worst() is None
