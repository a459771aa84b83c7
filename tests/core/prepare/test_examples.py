"""What stands for examples, and what is refused."""

import numpy as np
import pytest

import workbench as wb
from workbench.core.errors import ConfigError, InputError
from workbench.core.models.samples import trained_sample
from workbench.core.prepare.examples import NOT_REAL, examples, has_labels

PIXELS = np.random.default_rng(0).random((6, 1, 64, 64)).astype(np.float32)
LABELS = np.arange(6)


@pytest.fixture(scope="module")
def digits():
    return wb.load("digits-conv")


def test_a_trained_sample_brings_its_own(digits):
    made = examples(digits)
    assert (len(made.feeds), made.item_count, made.metric, made.real) == (
        360,
        360,
        "top-1 accuracy",
        True,
    )
    assert made.feeds[0]["pixels"].shape == (1, 1, 64, 64)
    assert made.labels[0].shape == (1,)
    assert examples(digits, most=10).item_count == 10


def test_a_file_that_is_only_called_like_a_sample_is_none(digits, tmp_path):
    path = tmp_path / "digits-conv.onnx"
    path.write_bytes(digits.path.read_bytes())
    other = wb.load(path)
    assert other.name == "digits-conv"
    assert trained_sample(other) is None
    made = examples(other)
    assert not made.real
    assert made.notes == (NOT_REAL,)
    assert examples(other, "digits-conv").item_count == 360
    assert has_labels(digits)
    assert not has_labels(other)


def _npz(path):
    np.savez(path, pixels=PIXELS, labels=LABELS)
    return path


def test_a_file_with_labels_can_be_judged(digits, tmp_path):
    labelled, plain = tmp_path / "labelled.npz", tmp_path / "plain.npz"
    np.savez(plain, pixels=PIXELS)
    other = wb.load(wb.load("digits-vit").path)
    assert has_labels(other, str(_npz(labelled)))
    for data in (plain, tmp_path / "missing.npz", digits.path, tmp_path, "a\0b"):
        assert not has_labels(digits, str(data)), "the file is what is judged on"


@pytest.mark.parametrize(
    "data",
    [
        {"pixels": PIXELS, "labels": LABELS},
        ({"pixels": PIXELS}, LABELS),
        ([{"pixels": pixel[None]} for pixel in PIXELS], LABELS),
        "npz",
    ],
)
def test_all_ways_to_give_them_are_the_same(digits, data, tmp_path):
    given = _npz(tmp_path / "mine.npz") if data == "npz" else data
    made = examples(digits, given)
    assert made.items == (1,) * 6
    np.testing.assert_array_equal(np.concatenate([feed["pixels"] for feed in made.feeds]), PIXELS)
    np.testing.assert_array_equal(np.concatenate(made.labels), LABELS)


def test_batches_hold_whole_runs_only_and_say_so(digits):
    made = examples(digits, {"pixels": PIXELS, "labels": LABELS}, batch=4)
    assert (made.items, made.labels[0].tolist()) == ((4,), [0, 1, 2, 3])
    assert "2 of 6 items were left out" in made.notes[0]


@pytest.mark.parametrize("bound", [{"most": 0}, {"most": -1}, {"batch": 0}, {"batch": -2}])
def test_a_bound_below_one_is_refused(digits, bound):
    with pytest.raises(ConfigError, match="no usable value"):
        examples(digits, {"pixels": PIXELS, "labels": LABELS}, **bound)


def test_inputs_and_iterables_have_no_labels(digits):
    assert examples(digits, digits.inputs(seed=1)).labels is None
    assert examples(digits, digits.inputs(seed=3), most=2).made_by.startswith("random, seeds 3 to 4, sized")
    endless = ({"pixels": PIXELS[:1]} for _ in iter(int, 1))
    assert examples(digits, endless, most=3).item_count == 3
    assert not examples(digits, "random", most=3).real


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"pixels": PIXELS, "labels": LABELS[:3]}, "3 labels for 6 items"),
        (([{"pixels": PIXELS[:1]}] * 4, LABELS), "6 labels for 4 items"),
        ({"pixels": np.float32(1)}, "no axis of items"),
        ([], "no examples"),
        (3, "holds no examples"),
        ("missing.npz", "no file or folder"),
        (({}[number] for number in range(3)), "example 0 could not be read: KeyError: 0"),
        ({"pixel": PIXELS}, "no input 'pixel'"),
    ],
)
def test_what_does_not_fit_is_refused(digits, data, words):
    with pytest.raises(InputError, match=words):
        examples(digits, data)
