"""Why a config is slower, on real models: the reasons that are known to be true are given."""

import platform

import pytest
from onnx.helper import make_node

import workbench as wb
from tests.core.models import tiny
from tests.precision_models import residual
from workbench.core.config import Config

pytestmark = pytest.mark.real


def record_of(model, config):
    return wb.why_slower(model, config, budget_s=3, progress=False).record


def kinds(record):
    return {reason.id for reason in record.reasons}


@pytest.fixture(scope="module")
def digits():
    return wb.load("digits-conv")


def test_dynamic_int8_of_convolutions(digits):
    record = record_of(digits, Config(precision=wb.DynamicInt8()))
    (reason,) = [other for other in record.reasons if other.id == "dynamic-int8-convolutions"]
    assert reason.node_count == 6
    assert reason.cost_share > 0.1
    assert record.integer_nodes == 7


def test_static_int8_that_fuses_whole_has_no_layer_in_float(digits):
    record = record_of(digits, Config(precision=wb.StaticInt8()))
    assert not kinds(record) & {
        "quantized-layers-in-float",
        "quantized-cheap-operators",
        "dynamic-int8-convolutions",
        "few-integer-kernels",
    }
    assert record.integer_nodes == 8


@pytest.mark.slow
@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="signed is slow on x86 alone"
)
def test_signed_activations_on_x86(tmp_path):
    model = wb.load(residual(tmp_path / "residual.onnx"))
    signed = Config(precision=wb.StaticInt8(activation="int8", weight="int8", per_channel=False))
    record = record_of(model, signed)
    left = {reason.id: reason for reason in record.reasons}.get("signed-activations")
    assert left is not None
    assert "activation='uint8'" in left.fix.text
    unsigned = record_of(model, Config(precision=wb.StaticInt8(activation="uint8")))
    assert not kinds(unsigned) & {"signed-activations", "quantized-layers-in-float"}


def test_a_lower_level_is_explained_by_the_nodes_that_it_leaves_and_not_by_quantization(digits):
    why = wb.why_slower(digits, Config(level="disabled"), budget_s=3, progress=False)
    assert why.record.configs == "B differs from A in: level (disabled instead of ORT's default)"
    assert why.record.profiles is not None
    assert kinds(why.record) <= {
        "level-below-all",
        "other-nodes-do-the-work",
        "same-nodes-take-longer",
        "time-between-nodes-grew",
    }
    assert not any("quantize" in reason.fix.text for reason in why.reasons)
    with pytest.raises(wb.ConfigError, match="baseline"):
        wb.why_slower(digits, Config())


def test_float16_on_the_cpu_counts_the_casts_that_ran(tmp_path):
    ends = [tiny.tensor("x", [1, 2, 256, 256])], [tiny.tensor("y", [1, 4, 256, 256])]
    conv = tiny.model([make_node("Conv", ["x", "w"], ["y"])], *ends, {"w": tiny.weights(4, 2, 1, 1)})
    model = wb.load(tiny.save(conv, tmp_path))  # casting its output takes a seventh of a run
    record = record_of(model, Config(precision=wb.Float16()))
    assert any("Cast" in reason.sentence for reason in record.reasons)
    assert record.integer_nodes == 0
    assert not kinds(record) & {"quantized-layers-in-float", "few-integer-kernels"}


def test_a_comparison_knows_its_model_and_a_reopened_one_is_given_it(digits, tmp_path):
    result = wb.compare(
        digits, Config(), Config(precision=wb.DynamicInt8()), budget_s=3, progress=False, keep=False
    )
    why = wb.why_slower(result)
    assert "dynamic-int8-convolutions" in kinds(why.record)
    shares = [reason for reason in why.reasons if reason.cost_share is not None]
    assert [reason.cost_s / why.record.candidate_s for reason in shares] == pytest.approx(
        [reason.cost_share for reason in shares]
    )
    again = wb.open(why.save(tmp_path / "why.ortbench"))
    assert again.record == why.record
    assert again.still().to_png()[:4] == b"\x89PNG"
    reopened = wb.open(result.save(tmp_path / "result.ortbench"))
    with pytest.raises(wb.ConfigError, match="model at hand"):
        wb.why_slower(reopened)
    with pytest.raises(wb.ConfigError, match="no candidate"):
        wb.why_slower(result, label="A")


def test_accuracy_is_kept_with_a_comparison(digits, tmp_path):
    given = Config(precision=wb.PreparedModel("digits-conv-qat"))
    result = wb.compare(digits, Config(), given, budget_s=3, progress=False, keep=False)
    assert result.precision_frame()["error_from"].dropna().unique().tolist() == ["the timed inputs"]
    table = result.accuracy(items=40, progress=False)
    assert result.accuracy().record == table.record
    reopened = wb.open(result.save(tmp_path / "result.ortbench"))
    assert reopened.accuracy().record == table.record
    frame = reopened.precision_frame()
    assert frame["error_from"].dropna().unique().tolist() == ["the evaluation"]
    assert frame["accuracy"].notna().all()
    assert frame.loc[1, "file_bytes"] == wb.load("digits-conv-qat").path.stat().st_size
    assert reopened.precision_figure().data
    with pytest.raises(wb.WorkbenchError, match="not at hand"):
        reopened.accuracy("digits-conv")
