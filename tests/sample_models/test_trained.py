"""The trained samples reach the score on their cards, with onnxruntime alone."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import numpy_helper

from sample_models import CARDS
from sample_models.cards import read_card
from sample_models.evaluation import enlarge, read_evaluation_set
from sample_models.packed_weights import STEPS, load_trained, pack, packed_path, unpack
from workbench.core.models.samples import sample_path

NAMES = ("char-gpt", "digits-conv", "digits-conv-qat", "digits-vit")


@pytest.mark.real
@pytest.mark.parametrize("name", NAMES)
def test_the_score_is_the_cards(name):
    card, evaluation = read_card(CARDS / f"{name}.json"), read_evaluation_set(name)
    session = ort.InferenceSession(str(sample_path(name)), providers=["CPUExecutionProvider"])
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
    card = read_card(CARDS / f"{name}.json")
    assert packed_path(name).stat().st_size == card.shipped_bytes < 500_000
    assert sample_path(name).stat().st_size == card.bytes
    onnx.checker.check_model(onnx.load(sample_path(name)), full_check=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_that_is_used_is_the_packed_one(name):
    assert onnx.load(sample_path(name)) == load_trained(name)


def net(**weights):
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    return onnx.helper.make_model(onnx.helper.make_graph([], "net", [], [], tensors))


def test_large_weights_are_rounded_to_a_part_of_their_deviation_and_small_ones_stay():
    draw = np.random.default_rng(0)
    weights = {
        "wide": draw.normal(0, 20, (40, 30)).astype(np.float32),
        "narrow": draw.normal(1, 0.01, 700).astype(np.float32),
        "bias": draw.normal(0, 1, 256).astype(np.float32),
        "axes": np.arange(1000),
    }
    model = unpack("net", pack("net", net(**weights)))
    read = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for name in ("bias", "axes"):
        np.testing.assert_array_equal(read[name], weights[name])
    for name in ("wide", "narrow"):
        assert read[name].dtype == np.float32
        steps = np.diff(np.unique(read[name].astype(np.float64)))
        step = steps.min()
        assert np.log2(step) % 1 == 0
        assert 0.7 < step * STEPS / weights[name].std() < 1.42  # the nearest power of two
        assert abs(read[name].astype(np.float64) - weights[name]).max() <= step / 2


def test_integer_weights_stay_as_they_are():
    weights = np.random.default_rng(0).integers(-128, 128, (50, 60)).astype(np.int8)
    model = net(weights=weights)
    assert unpack("net", pack("net", net(weights=weights))) == model


def test_integer_weights_are_packed_as_what_training_changed():
    quantized = load_trained("digits-conv-qat")
    assert unpack("digits-conv-qat", pack("digits-conv-qat", load_trained("digits-conv-qat"))) == quantized
    assert packed_path("digits-conv-qat").stat().st_size < packed_path("digits-conv").stat().st_size / 4


def test_a_weight_of_too_many_steps_is_refused():
    weights = np.zeros(2_000_000, np.float32)  # their deviation is 1/1400
    weights[0] = 1
    with pytest.raises(ValueError, match="more than 16 bits"):
        pack("net", net(weights=weights))


def test_quantization_aware_training_costs_at_most_two_points():
    scores = [read_card(CARDS / f"{name}.json").score for name in ("digits-conv", "digits-conv-qat")]
    assert scores[1] >= scores[0] - 0.02


@pytest.mark.real
def test_the_quantized_net_runs_on_integer_kernels(tmp_path):
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.log_severity_level = 3
    ort.InferenceSession(str(sample_path("digits-conv-qat")), options, providers=["CPUExecutionProvider"])
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
