"""The trained samples reach the score on their cards, with onnxruntime alone."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from sample_models import CARDS, TRAINED
from sample_models.cards import read_card
from sample_models.evaluation import enlarge, read_evaluation_set
from sample_models.short_weights import rounded, shorten_weights

NAMES = ("char-gpt", "digits-conv", "digits-conv-qat", "digits-vit")


@pytest.mark.real
@pytest.mark.parametrize("name", NAMES)
def test_the_score_is_the_cards(name):
    card, evaluation = read_card(CARDS / f"{name}.json"), read_evaluation_set(name)
    session = ort.InferenceSession(str(TRAINED / f"{name}.onnx"), providers=["CPUExecutionProvider"])
    score = evaluation.score(lambda feeds: session.run(None, feeds)[0])
    assert card.metric == evaluation.metric
    assert score == pytest.approx(card.score, abs=0.006)  # two digits of 360 may lie on the edge


@pytest.mark.parametrize("name", ["digits-conv", "digits-vit"])
def test_float_classifiers_are_right_in_97_of_100(name):
    score = read_card(CARDS / f"{name}.json").score
    assert score is not None
    assert score >= 0.97


@pytest.mark.parametrize("name", NAMES)
def test_files_are_small_and_valid(name):
    path = TRAINED / f"{name}.onnx"
    assert path.stat().st_size < 3_000_000
    onnx.checker.check_model(onnx.load(path), full_check=True)


@pytest.mark.parametrize("name", ["char-gpt", "digits-conv", "digits-vit"])
def test_shipped_weights_are_short(name):
    shipped, short = (onnx.load(TRAINED / f"{name}.onnx") for _ in range(2))
    shorten_weights(short)
    assert short == shipped


def test_weights_are_rounded_to_the_nearest_and_halves_to_the_even_one():
    step = 2.0**-7  # between the numbers from 1 to 2
    weights = [0.0, -3.0, 1 + step / 2, 1 + 3 * step / 2, 1 + 0.51 * step, -(1 + 0.49 * step), 2 - step / 8]
    short = rounded(np.array(weights, np.float32))
    assert short.dtype == np.float32
    assert short.tolist() == [0.0, -3.0, 1.0, 1 + 2 * step, 1 + step, -1.0, 2.0]


def test_quantization_aware_training_costs_at_most_two_points():
    scores = [read_card(CARDS / f"{name}.json").score for name in ("digits-conv", "digits-conv-qat")]
    assert scores[1] >= scores[0] - 0.02


@pytest.mark.real
def test_the_quantized_net_runs_on_integer_kernels(tmp_path):
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.log_severity_level = 3
    ort.InferenceSession(str(TRAINED / "digits-conv-qat.onnx"), options, providers=["CPUExecutionProvider"])
    ops = [node.op_type for node in onnx.load(tmp_path / "optimized.onnx").graph.node]
    assert ops.count("QLinearConv") == 6
    assert "Conv" not in ops


def test_batches_cover_the_evaluation_set_once():
    evaluation = read_evaluation_set("digits-conv")
    labels = np.concatenate([labels for _, labels in evaluation.batches(100)])
    np.testing.assert_array_equal(labels, evaluation.labels)
    assert sum(len(feeds["pixels"]) for feeds, _ in evaluation.batches(100)) == len(evaluation) == 360


def test_enlarging_keeps_range_and_average():
    digits = np.random.default_rng(0).integers(0, 17, (5, 8, 8)).astype(np.uint8)
    large = enlarge(digits)
    assert large.shape == (5, 1, 64, 64)
    assert large.dtype == np.float32
    assert 0 <= large.min() < large.max() <= 1
    np.testing.assert_allclose(large.mean((1, 2, 3)), digits.mean((1, 2)) / 16, atol=0.05)
    np.testing.assert_array_equal(enlarge(np.full((1, 8, 8), 16, np.uint8)), np.ones((1, 1, 64, 64)))
