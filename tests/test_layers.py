"""Layer errors, sensitivity and the search on a model with a planted outlier layer, with real ORT."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import numpy_helper

import workbench as wb
from tests.precision_models import OUTLIER, denormal_in_float16, embedding, inputs, planted

pytestmark = pytest.mark.real

# 8 bits: without an override a processor that saturates gets 7, which say something else about each layer
STATIC = wb.Config(precision=wb.StaticInt8(per_channel=False, reduce_range=False))
DATA = {"x": inputs()}
QUIET = {"progress": False, "data": DATA, "calibration": DATA}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return wb.load(planted(tmp_path_factory.mktemp("planted") / "planted.onnx"))


@pytest.fixture(scope="module")
def sensitivity(model):
    return wb.sensitivity(model, STATIC, **QUIET)


def test_the_planted_layer_has_the_worst_weights(model):
    frame = wb.layer_errors(model, STATIC, **QUIET).to_frame()
    assert frame.loc[0, "node"] == OUTLIER
    assert frame.loc[0, "weight_db"] < frame.loc[1:, "weight_db"].min() - 10
    assert frame.loc[0, "outlier_ratio"] > 8


def test_weight_errors_are_what_rounding_to_eight_bits_gives(model):
    """Against the arithmetic written out: symmetric int8, one scale a tensor."""
    rows = wb.layer_errors(model, STATIC, **QUIET).weights_frame().set_index("weight")
    for tensor in onnx.load(model.path).graph.initializer:
        value = numpy_helper.to_array(tensor).astype(np.float64)
        scale = np.abs(value).max() / 127
        noise = np.clip(np.rint(value / scale), -128, 127) * scale - value
        expected = 20 * np.log10(np.linalg.norm(value) / np.linalg.norm(noise))
        assert rows.loc[tensor.name, "sqnr_db"] == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize(
    "precision", [wb.DynamicInt8(), wb.WeightOnly(), wb.Float16(), wb.StaticInt8(format="qoperator")]
)
def test_every_precision_has_layer_errors(model, precision):
    errors = wb.layer_errors(model, wb.Config(precision=precision), **QUIET)
    assert len(errors.record.layers) == 4
    assert errors.to_frame()["output_db"].notna().any()


def test_alone_the_planted_layer_causes_the_error(sensitivity):
    frame = sensitivity.to_frame()
    assert frame.loc[0, "layer"] == OUTLIER
    assert frame.loc[0, "error_alone"] > 3 * frame.loc[1, "error_alone"]
    assert sensitivity.record.whole_error == pytest.approx(frame.loc[0, "error_alone"], rel=0.3)
    assert frame["gain_ms"].notna().all()
    assert sensitivity.record.latency_how == "estimated from profiles"


def test_left_out_the_error_falls_most_without_it(model):
    frame = wb.sensitivity(model, STATIC, mode="left out", latency=None, **QUIET).to_frame()
    assert frame.loc[0, "layer"] == OUTLIER
    assert frame["gain_ms"].isna().all()


def test_the_search_finds_the_planted_layer_and_meets_its_budget(model, sensitivity):
    budget = 0.05
    assert sensitivity.record.whole_error > budget
    proposal = sensitivity.propose(max_error=budget, remeasure=False, progress=False)
    assert proposal.met
    assert proposal.excluded == (OUTLIER,)
    assert proposal.error <= budget
    assert proposal.config.precision.exclude == (OUTLIER,)
    assert _error(model, proposal.config) <= budget  # measured once more, by plain sessions in this process
    assert len(proposal.to_frame()) >= 1


def _error(model, config):
    plain = ort.InferenceSession(model.path, providers=["CPUExecutionProvider"])
    path = wb.prepare(model, config, calibration=DATA).model.path
    quantized = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    ours, theirs = (session.run(None, {"x": DATA["x"][:16]})[0] for session in (plain, quantized))
    return np.linalg.norm(theirs - ours) / np.linalg.norm(ours)


@pytest.mark.slow  # test_search proves the rule on made-up errors
def test_a_budget_that_nothing_meets_is_said(sensitivity):
    proposal = sensitivity.propose(max_error=0.0, remeasure=False, progress=False)
    assert not proposal.met or proposal.error == 0


def test_a_model_without_a_precision_has_no_layers_to_ask(model):
    with pytest.raises(wb.ConfigError, match="no precision"):
        wb.layer_errors(model, wb.Config(), **QUIET)
    with pytest.raises(wb.ConfigError, match="no error"):
        wb.exclude_for(model, STATIC, max_error=-1)


def test_results_are_saved_and_reopened(sensitivity, model, tmp_path):
    errors = wb.layer_errors(model, STATIC, **QUIET)
    for at, result in enumerate((sensitivity, errors)):
        again = wb.open(result.save(tmp_path / f"{at}.ortbench"))
        assert again.record == result.record
        assert again.figure().data
        assert again.still().to_png()[:4] == b"\x89PNG"
    with pytest.raises(wb.ConfigError, match="not at hand"):
        wb.open(tmp_path / "0.ortbench").propose(max_error=0.1)


def test_unsigned_weights_do_not_wrap_around(tmp_path):
    """ORT's tool subtracts the zero point in 8 bits, which turned an embedding into noise."""
    model = wb.load(embedding(tmp_path / "embedding.onnx"))
    data = {"tokens": np.arange(32).reshape(8, 4) % 16}
    errors = wb.layer_errors(
        model, wb.Config(precision=wb.StaticInt8()), data=data, calibration=data, items=2, progress=False
    )
    frame = errors.weights_frame().set_index("weight")
    assert frame.loc["table", "sqnr_db"] > 25


def test_the_operators_that_float16_ruins_are_found(tmp_path):
    half = wb.Config(precision=wb.Float16())
    proposal = wb.exclude_for(
        denormal_in_float16(tmp_path / "small.onnx"), half, max_error=0.01, remeasure=False, progress=False
    )
    assert proposal.met
    assert proposal.config == wb.Config(precision=wb.Float16(blocked_ops=("MatMul",)))
    assert proposal.error < 0.01 < proposal.record.whole_error


def test_layers_in_a_body_of_control_flow_cannot_be_left_out(tmp_path):
    tensor = onnx.helper.make_tensor_value_info
    weight = numpy_helper.from_array(np.ones((32, 32), np.float32), "w")
    bodies = {
        branch: onnx.helper.make_graph(
            [onnx.helper.make_node("MatMul", ["x", "w"], [f"{branch}_y"], name=f"{branch}/product")],
            branch, [], [tensor(f"{branch}_y", 1, ["n", 32])], [weight],
        )
        for branch in ("then_branch", "else_branch")
    }  # fmt: skip
    node = onnx.helper.make_node("If", ["which"], ["y"], name="choice", **bodies)
    ends = [tensor("x", 1, ["n", 32]), tensor("which", 9, [])], [tensor("y", 1, ["n", 32])]
    graph = onnx.helper.make_graph([node], "choosing", *ends)
    opsets = [onnx.helper.make_opsetid("", 17)]
    path = tmp_path / "choosing.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    with pytest.raises(wb.ConfigError, match="no layer outside of If"):
        wb.sensitivity(path, wb.Config(precision=wb.WeightOnly(block=32)), progress=False, items=2)
