"""Accuracy against scikit-free computations written out here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.errors import ConfigError, MetricError
from workbench.features.accuracy.metrics import IGNORED, f1_of_pairs, find_metric, macro_f1, top

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(50, 10))
LABELS = RNG.integers(0, 10, 50)


@pytest.mark.parametrize("k", [1, 3, 10, 20])
def test_top_k_is_the_share_of_labels_among_the_k_largest(k):
    order = np.argsort(-SCORES, axis=1)[:, :k]
    expected = [label in row for label, row in zip(LABELS, order, strict=True)]
    np.testing.assert_array_equal(top(k).per_item({"y": SCORES}, LABELS), expected)


def test_an_item_of_several_positions_is_a_share_and_some_do_not_count():
    scores = np.eye(4)[None].repeat(2, 0)  # says 0, 1, 2, 3
    labels = np.array([[0, 1, 2, 0], [0, IGNORED, 0, IGNORED]])
    np.testing.assert_allclose(top(1).per_item({"y": scores}, labels), [0.75, 0.5])


def _f1(labels, predictions):
    values = []
    for label in sorted({*labels, *predictions}):
        right = sum(a == b == label for a, b in zip(labels, predictions, strict=True))
        precision = right / max(1, list(predictions).count(label))
        recall = right / max(1, list(labels).count(label))
        values.append(2 * precision * recall / (precision + recall) if right else 0.0)
    return sum(values) / len(values)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_macro_f1_is_the_mean_of_the_classes(pairs):
    assert f1_of_pairs(np.array(pairs)) == pytest.approx(_f1(*zip(*pairs, strict=True)))


def test_macro_f1_has_an_interval_and_a_paired_difference():
    metric = macro_f1()
    right = np.eye(10)[LABELS]
    rows, theirs = (metric.per_item({"y": scores}, LABELS) for scores in (right, SCORES))
    assert metric.summary(rows).value == 1
    summary = metric.summary(theirs)
    assert summary.low < summary.value < summary.high
    gap = metric.paired(rows, theirs)
    assert gap.value == pytest.approx(summary.value - 1)
    assert gap.within(0.01) is False


def test_a_function_of_the_users_gives_a_number_an_item():
    metric = find_metric(lambda outputs, labels: outputs["y"][:, 0] > labels)
    np.testing.assert_array_equal(metric.per_item({"y": SCORES}, LABELS), SCORES[:, 0] > LABELS)


def test_an_error_in_it_is_shown_with_its_line():
    def broken(outputs, labels):
        return outputs["missing"] + labels

    with pytest.raises(MetricError, match=r"metric broken raised KeyError: 'missing' \(line \d+ of broken\)"):
        find_metric(broken).per_item({"y": SCORES}, LABELS)


@pytest.mark.parametrize(
    ("given", "message"), [(lambda *_: 0.5, "gave shape"), (lambda *given: given[1] * np.nan, "gave nan")]
)
def test_a_wrong_answer_of_it_is_refused(given, message):
    with pytest.raises(MetricError, match=message):
        find_metric(given).per_item({"y": SCORES}, LABELS)


@pytest.mark.parametrize(
    ("outputs", "labels", "message"),
    [
        ({"y": SCORES}, LABELS[:, None], "do not fit"),
        ({"y": SCORES[0]}, LABELS[:1], "holds no scores"),
        ({"y": SCORES[:1]}, np.array([IGNORED]), "no label that counts"),
    ],
)
def test_labels_that_do_not_fit_are_refused(outputs, labels, message):
    with pytest.raises(MetricError, match=message):
        top(1).per_item(outputs, labels)


@pytest.mark.parametrize("label", [float("nan"), 1.5, float("inf"), 1e30])
def test_a_label_that_is_no_class_is_refused_by_f1(label):
    with pytest.raises(MetricError, match="is no class"):
        macro_f1().per_item({"y": np.eye(3)}, np.array([label, 0, 2]))


def test_a_huge_label_takes_no_memory():
    metric = macro_f1()
    pairs = metric.per_item({"y": np.eye(3)}, np.array([2**50, 1, 2]))
    assert f1_of_pairs(pairs) == pytest.approx(2 / 4), "right in two of four classes"


def test_a_negative_label_is_refused_by_f1():
    with pytest.raises(MetricError, match="the label -1 is no class"):
        macro_f1().per_item({"y": np.eye(3)}, np.array([-1, 0, 2]))
    assert macro_f1().per_item({"y": np.eye(3)}, np.array([IGNORED, 0, 2])).shape == (3, 1, 2)


def test_unknown_metrics_and_outputs_are_named():
    with pytest.raises(ConfigError, match="metric='topp'"):
        find_metric("topp")
    with pytest.raises(MetricError, match="no output 'z'"):
        find_metric("top1", "z").per_item({"y": SCORES}, LABELS)
