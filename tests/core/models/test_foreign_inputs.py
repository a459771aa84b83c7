"""Inputs of models as other people export them: unnamed axes, states, sample rates, branches, own arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from tests.core.models import tiny
from workbench.core.errors import InputError
from workbench.core.models import load
from workbench.core.prepare.calibration import calibration_source
from workbench.core.prepare.examples import examples

INT64 = TensorProto.INT64


def speech() -> ModelProto:
    """Sound, the state of a recurrent network, and a sample rate that chooses a branch."""
    branches = {
        f"{name}_branch": helper.make_graph(
            [helper.make_node(operator, ["sound"], [f"{name}_out"])],
            name,
            [],
            [tiny.tensor(f"{name}_out", None)],
        )
        for name, operator in (("then", "Relu"), ("else", "Neg"))
    }
    nodes = [
        helper.make_node("Equal", ["sr", "rate"], ["is_fast"], "compare"),
        helper.make_node("If", ["is_fast"], ["y"], "which_rate", **branches),
        helper.make_node("Identity", ["state"], ["next_state"], "hand on"),
    ]
    inputs = [tiny.tensor("sound", [None, None]), tiny.tensor("state", [2, None, 16])]
    inputs.append(tiny.tensor("sr", [], INT64))
    outputs = [tiny.tensor("y", [None, None]), tiny.tensor("next_state", [2, None, 16])]
    return tiny.model(nodes, inputs, outputs, {"rate": np.array(16000)})


def picture() -> ModelProto:
    node = helper.make_node("Relu", ["x"], ["y"], "relu")
    return tiny.model([node], [tiny.tensor("x", ["?", 3, "?", "?"])], [tiny.tensor("y", ["?", 3, "?", "?"])])


def test_every_axis_called_by_a_question_mark_has_a_size_of_its_own() -> None:
    model = load(picture())
    assert model.inputs(**{"x.2": 48, "x.3": 192}).shapes == (("x", "float32[1,3,48,192]"),)
    assert "x: axis 2 has no size or name; made 224 (the side of an image)" in model.inputs().guesses
    assert model.inputs({"x": np.zeros((1, 3, 48, 192), np.float32)}).shapes[0][1] == "float32[1,3,48,192]"


def test_scalars_and_states_are_recognised() -> None:
    inputs = load(speech()).inputs()
    assert dict(inputs.shapes) == {
        "sound": "float32[1,512]", "state": "float32[2,1,16]", "sr": "int64[]",
    }  # fmt: skip
    assert inputs.feeds[0]["sr"] == 16000
    assert not inputs.feeds[0]["state"].any()
    assert "sr: 16000, with which its reader compares it" in inputs.guesses


def test_a_given_batch_counts_for_a_state_too() -> None:
    assert dict(load(speech()).inputs(**{"sound.0": 4}).shapes)["state"] == "float32[2,4,16]"


def test_a_branch_that_the_values_choose_is_said_before_measuring() -> None:
    (said,) = [guess for guess in load(speech()).inputs().guesses if "branch" in guess]
    assert "sr" in said
    assert "which_rate" in said


def test_token_ids_stay_within_a_one_hot_that_is_written_out() -> None:
    nodes = [
        helper.make_node("Unsqueeze", ["bytes", "last"], ["column"], "column"),
        helper.make_node("Equal", ["column", "known"], ["hot"], "one hot"),
        helper.make_node("Cast", ["hot"], ["y"], "cast", to=TensorProto.FLOAT),
    ]
    weights = {"known": np.arange(257)[None, None], "last": np.array([2])}
    inputs = [tiny.tensor("bytes", [None, 2048], INT64)]
    drawn = load(tiny.model(nodes, inputs, [tiny.tensor("y", None)], weights)).inputs().feeds[0]["bytes"]
    assert (drawn.min(), drawn.max()) == (0, 256)


def test_an_image_that_the_graph_scales_is_drawn_from_bytes() -> None:
    nodes = [helper.make_node("Div", ["image", "most"], ["y"], "scale")]
    inputs = [tiny.tensor("image", [1, 3, 32, 32])]
    model = load(tiny.model(nodes, inputs, [tiny.tensor("y", None)], {"most": np.float32([255])}))
    assert 200 < model.inputs().feeds[0]["image"].max() <= 255


def test_an_array_is_given_by_the_name_of_its_input_and_its_sizes_count() -> None:
    model, left = load(tiny.shared_dims()), np.ones((2, 5), np.float32)
    inputs = model.inputs(left=left)
    assert dict(inputs.shapes) == {"left": "float32[2,5]", "right": "float32[5,8]"}
    assert (inputs.feeds[0]["left"] == 1).all()
    assert (inputs.made_by, inputs.seed) == ("random, seed 0, except 'left'", None)
    assert not inputs.is_real
    assert not examples(model, inputs).real
    assert not calibration_source(model, inputs, None).is_real
    whole = model.inputs(left=left, right=np.ones((5, 8), np.float32))
    assert (whole.is_real, examples(model, whole).real) == (True, True)
    assert load(speech()).inputs(sr=8000).feeds[0]["sr"] == 8000
    with pytest.raises(InputError, match="left' has 5 for the dim 'inner', given as 4"):
        model.inputs(left=left, inner=4)
    with pytest.raises(InputError, match="float32 is declared"):
        model.inputs(left=left.astype(np.float64))


def test_an_array_goes_where_a_file_would(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", left=np.ones((2, 5), np.float32), right=np.ones((5, 8), np.float32))
    with pytest.raises(InputError, match="single arrays go with random inputs"):
        load(tiny.shared_dims()).inputs(tmp_path / "x.npz", left=np.ones((2, 5), np.float32))
