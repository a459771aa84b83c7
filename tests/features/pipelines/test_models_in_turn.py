"""Pipelines as people have them: tokenizer and model, encoder and decoder, detector and classifiers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser
from PIL import Image, ImageDraw, ImageFont

import workbench as wb
from benchmarks.zoo import files
from tests.features.pipelines import ocr_steps, steps
from workbench.features.pipelines.call import examples_for, one_pass

pytestmark = pytest.mark.real

QUICK: dict[str, Any] = {"budget_s": 0.2, "progress": False, "keep": False}

ENCODER = """
<ir_version: 8, opset_import: ["": 17]>
encoder (float[1, s, 8] sound) => (float[1, s, 8] states) { states = Tanh (sound) }
"""
DECODER = """
<ir_version: 8, opset_import: ["": 17]>
decoder (float[1, s, 8] states, float[1, t, 8] query) => (float[1, t, s] scores) {
    turned = Transpose <perm = [0, 2, 1]> (states)
    raw = MatMul (query, turned)
    scores = Softmax <axis = -1> (raw)
}
"""


def saved(text: str, path: Path) -> Path:
    onnx.save(parser.parse_model(text), path)
    return path


def test_a_tokenizer_and_a_model() -> None:
    """`letters` comes from the inputs, and the logits go to the only input that nothing gives by name."""
    letters = np.array([chr(code) for code in range(128)])
    pipeline = wb.Pipeline([steps.token_ids, "char-gpt", steps.next_letter])
    inputs = {"text": np.array("Shall I compare thee"), "letters": letters}
    given = one_pass(pipeline, [inputs], {})
    assert given.taken[1][0]["input_ids"].shape == (1, 20)
    assert {*given.taken[2][0]} == {"scores", "letters"}
    assert str(given.outputs[0]["next_letter"]) in letters
    assert "char-gpt takes" in str(wb.measure_pipelines(pipeline, inputs=inputs, **QUICK))


@pytest.mark.slow
def test_an_encoder_and_a_decoder_with_inputs_of_its_own(tmp_path: Path) -> None:
    encoder, decoder = (
        saved(text, tmp_path / f"{name}.onnx") for name, text in (("encoder", ENCODER), ("decoder", DECODER))
    )
    draws = np.random.default_rng(0)
    inputs = {
        "sound": draws.normal(size=(1, 16, 8)).astype(np.float32),
        "query": draws.normal(size=(1, 3, 8)).astype(np.float32),
    }
    basic = wb.Config(level="basic")
    pipelines = wb.Pipeline([encoder, decoder]), wb.Pipeline([(encoder, basic), (decoder, basic)])
    result = wb.measure_pipelines(*pipelines, inputs=inputs, **QUICK)
    assert all(row.agrees for row in result.record.agreement)
    assert [row.stage.name for row in result.stages()] == ["encoder", "decoder"]
    served = wb.deploy(pipelines[1], folder=tmp_path / "served", inputs=inputs)
    assert served.check(progress=False, keep=False).record.check.agrees


@pytest.mark.slow
def test_a_detector_and_the_models_that_read_what_it_finds(tmp_path: Path) -> None:
    folder = os.environ.get("WORKBENCH_ZOO")
    found = {path.stem: path for path in files(Path(folder))} if folder else {}
    names = ("ch_PP-OCRv4_det_infer", "ch_ppocr_mobile_v2.0_cls_infer", "ch_PP-OCRv4_rec_infer")
    if not found and not os.environ.get("CI"):
        pytest.skip("WORKBENCH_ZOO names no folder with the packages of benchmarks/zoo.py")
    detector, direction, reader = (found[name] for name in names)
    stages: list[Any] = [ocr_steps.normalized, detector, ocr_steps.cut, direction, ocr_steps.upright]
    pipeline = wb.Pipeline([*stages, reader, ocr_steps.places])
    inputs = {"picture": written("HELLO WORLD")}
    (text,) = one_pass(pipeline, [inputs], {}).outputs
    assert read(text["places"], reader).replace(" ", "") == "HELLOWORLD"
    result = wb.measure_pipelines(pipeline, inputs=inputs, **QUICK)
    assert sum(row.share.value or 0.0 for row in result.stages()) == pytest.approx(1)
    int8 = wb.Pipeline([*stages, (reader, wb.Config(precision=wb.StaticInt8(samples=2))), ocr_steps.places])
    pictures = [{"picture": written(word)} for word in ("ONE MORE", "SAMPLE", "THIRD")]
    arrived = examples_for(int8, [inputs], pictures)
    assert [feed["x"].shape for feed in arrived[5]] == [(1, 3, 48, 320)] * 2
    served = wb.deploy(int8, folder=tmp_path / "served", inputs=inputs, calibration=pictures)
    assert served.check(progress=False, keep=False).record.check.agrees


def written(text: str) -> np.ndarray[Any, Any]:
    """Return a picture of a line of text."""
    picture = Image.new("RGB", (448, 96), "white")
    ImageDraw.Draw(picture).text((24, 24), text, fill="black", font=ImageFont.load_default(40))
    return np.asarray(picture)


def read(places: Any, reader: Path) -> str:
    """Return the letters, whose alphabet stands in the file of the model."""
    notes = {entry.key: entry.value for entry in onnx.load(reader).metadata_props}
    alphabet = ["", *notes["character"].splitlines(), " "]
    return "".join(alphabet[place] for place in places)
