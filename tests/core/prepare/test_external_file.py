"""Files that were prepared elsewhere, and models that came quantized."""

import pytest

import workbench as wb

GIVEN = wb.Config(precision=wb.PreparedModel("digits-conv-qat"))


def test_a_given_file_takes_the_place_of_the_models_own():
    prepared = wb.prepare("digits-conv", GIVEN)
    assert prepared.model.path == wb.load("digits-conv-qat").path
    assert prepared.model.name == "digits-conv"
    assert prepared.config == wb.Config()
    assert "QDQ" in prepared.steps[0].did
    assert prepared.record.sha256 == wb.load("digits-conv-qat").sha256


def test_it_reads_and_writes_like_any_precision():
    assert wb.Config.from_dict(GIVEN.to_dict()) == GIVEN
    assert "prepared file" in str(wb.Config().diff(GIVEN))


@pytest.mark.parametrize(
    ("given", "words"),
    [("char-gpt", "has the inputs"), ("no-such-file.onnx", "does not exist")],
)
def test_another_model_is_refused(given, words):
    with pytest.raises(wb.PrepareError, match=words):
        wb.prepare("digits-conv", wb.Config(precision=wb.PreparedModel(given)))


@pytest.mark.parametrize("precision", [wb.StaticInt8(), wb.DynamicInt8(), wb.WeightOnly(), wb.Float16()])
def test_what_is_quantized_already_is_not_quantized_again(precision):
    with pytest.raises(wb.PrepareError, match="is quantized already: QDQ"):
        wb.prepare("digits-conv-qat", wb.Config(precision=precision))


def test_a_quantized_model_says_so():
    assert "QDQ" in str(wb.load("digits-conv-qat").describe().quantized)
    assert wb.prepare("digits-conv-qat", wb.Config()).steps == ()
