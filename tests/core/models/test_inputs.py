"""Generated inputs fit the model, say how they were made, and run in ORT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from tests.amount import amount
from tests.core.models import tiny
from workbench.core.errors import InputError
from workbench.core.models import Inputs, load
from workbench.core.models.checking import check_feed
from workbench.core.models.declared import element_name

LIGHT = sorted((Path(onnx.__file__).parent / "backend/test/data/light").glob("*.onnx"))
ELEMENTS = [number for name, number in TensorProto.DataType.items() if name != "UNDEFINED"]


def run(model_path: Path, feed: dict[str, Any]) -> list[Any]:
    session = ort.InferenceSession(str(model_path))
    return session.run(None, feed)


@pytest.mark.real
@pytest.mark.parametrize("name", [name for name in tiny.ALL if name != "bfloat16"])
def test_every_tiny_model_runs(name: str) -> None:
    model = load(tiny.ALL[name]())
    inputs = model.inputs()
    assert [key for key, _ in inputs.shapes] == [declared.name for declared in model.describe().inputs]
    assert run(model.path, dict(inputs.feeds[0])) is not None


@pytest.mark.real
@pytest.mark.parametrize(
    "path", [path for path in LIGHT if "vgg" not in path.name and "alex" not in path.name]
)
def test_full_topologies_run(path: Path) -> None:
    (output, *_) = run(path, dict(load(path).inputs().feeds[0]))
    assert np.isfinite(output).all()


PACKED = ("int4", "uint4", "int2", "uint2", "float4", "float6e", "float8e8m0")


@pytest.mark.parametrize("element", [each for each in ELEMENTS if element_name(each).startswith(PACKED)])
def test_an_element_type_that_no_array_holds_is_refused(element: int) -> None:
    model = load(tiny.casting(element))
    for given_inputs in (None, {"x": np.ones((2, 3), np.int8)}):
        with pytest.raises(
            InputError, match=f"'x' has {element_name(element)}, which the workbench does"
        ) as caught:
            model.inputs(given_inputs)
        assert "casts it" in caught.value.fix


HELD = [each for each in ELEMENTS if not element_name(each).startswith(PACKED)]
assert {TensorProto.DOUBLE, TensorProto.INT8, TensorProto.FLOAT8E5M2, TensorProto.UINT16} < {*HELD}


@pytest.mark.real
@pytest.mark.parametrize("element", HELD, ids=[element_name(element) for element in HELD])
def test_every_element_type(element: int) -> None:
    (value,) = load(tiny.casting(element)).inputs().feeds[0].values()
    assert value.shape == (2, 3)
    assert value.dtype == helper.tensor_dtype_to_np_dtype(element)
    if element in (TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN):
        session = ort.InferenceSession(tiny.casting(element).SerializeToString())
        fed = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.array(value), element)
        (out,) = session.run_with_ort_values(None, {"x": fed})
        np.testing.assert_array_equal(out.numpy(), value.astype(np.float32))


@settings(max_examples=amount(25))
@given(st.sampled_from(sorted(tiny.ALL)), st.integers(0, 2**32))
def test_a_seed_decides_everything(name: str, seed: int) -> None:
    model = load(tiny.ALL[name]())
    first, two = model.inputs(seed=seed), model.inputs(seed=seed)
    assert str(first) == str(two)
    assert first.record() == two.record()
    for left, right in zip(first.feeds[0].values(), two.feeds[0].values(), strict=True):
        if isinstance(left, np.ndarray):
            np.testing.assert_array_equal(left, right)


@settings(max_examples=amount(30))
@given(st.sampled_from(sorted(tiny.ALL)), st.integers(0, 5))
def test_what_is_made_passes_the_check_for_what_is_given(name: str, seed: int) -> None:
    model = load(tiny.ALL[name]())
    feed = model.inputs(seed=seed).feeds[0]
    assert check_feed(feed, model.structure, []).keys() == feed.keys()


def test_token_ids_stay_in_the_vocabulary_and_names_are_heeded() -> None:
    feed = load(tiny.bert_like()).inputs(sequence_length=20, batch_size=3).feeds[0]
    ids = feed["input_ids"]
    assert (ids.shape, ids.min() >= 0, ids.max() < 30) == ((3, 20), True, True)
    assert len(np.unique(ids)) > 10
    assert (feed["attention_mask"] == 1).all()
    assert (feed["token_type_ids"] == 0).all()
    assert feed["position_ids"][0].tolist() == [*range(16), 15, 15, 15, 15]


def test_ids_are_followed_into_functions_and_subgraphs() -> None:
    look_up = helper.make_node("Gather", ["table", "ids"], ["row"], "look_up")
    twice = helper.make_function("local", "F", ["table", "i"], ["row"], [
        helper.make_node("Identity", ["i"], ["ids"], "copy"), look_up,
    ], [helper.make_opsetid("", tiny.OPSET)])  # fmt: skip
    call = helper.make_node("F", ["t", "x"], ["y"], "call", domain="local")
    widen = helper.make_node("Identity", ["w"], ["t"], "same")
    proto = tiny.model(
        [widen, call], [tiny.tensor("x", [400], TensorProto.INT64)], [tiny.tensor("y", [400, 2])],
        {"w": tiny.weights(5, 2)}, domains={"local": 1},
    )  # fmt: skip
    proto.functions.append(twice)
    assert set(load(proto).inputs().feeds[0]["x"].tolist()) == {0, 1, 2, 3, 4}
    inner = helper.make_graph(
        [helper.make_node("Gather", ["w", "x"], ["y"], "g")], "b", [], [tiny.tensor("y", [400, 2])]
    )
    branch = helper.make_node("If", ["flag"], ["y"], "if", then_branch=inner, else_branch=inner)
    flag = tiny.tensor("flag", [], TensorProto.BOOL)
    proto = tiny.model(
        [branch], [flag, proto.graph.input[0]], list(proto.graph.output), {"w": tiny.weights(5, 2)}
    )
    assert set(load(proto).inputs().feeds[0]["x"].tolist()) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("rows", [(3, 50), (50, 3)])
def test_branches_may_call_two_tables_by_one_name(rows: tuple[int, int]) -> None:
    then_branch, else_branch = (
        helper.make_graph(
            [helper.make_node("Gather", ["table", "ids"], ["row"], "pick")], "branch", [],
            [tiny.tensor("row", [200, 4])],
            [onnx.numpy_helper.from_array(tiny.weights(count, 4), "table")],
        )
        for count in rows
    )  # fmt: skip
    choose = helper.make_node(
        "If", ["flag"], ["y"], "choose", then_branch=then_branch, else_branch=else_branch
    )
    inputs = [tiny.tensor("flag", [], TensorProto.BOOL), tiny.tensor("ids", [200], TensorProto.INT64)]
    made = load(tiny.model([choose], inputs, [tiny.tensor("y", [200, 4])])).inputs()
    assert int(np.max(made.feeds[0]["ids"])) == 2
    assert any("ids: drawn from 0 to 2, the rows of 'table'" in guess for guess in made.guesses)


@pytest.mark.parametrize("numbers", [[np.nan], [np.inf], [-np.inf, 1e30], [2.0**63]])
@pytest.mark.parametrize("count", [1, 3])
def test_numbers_that_no_integer_can_equal_are_not_taken(numbers: list[float], count: int) -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["wide"], to=TensorProto.FLOAT),
        helper.make_node("Greater", ["wide", "limits"], ["y"]),
    ]
    inputs, outputs = (
        [tiny.tensor("x", [count], TensorProto.INT64)],
        [tiny.tensor("y", None, TensorProto.BOOL)],
    )
    limits = np.array([[number] for number in numbers], np.float32)
    made = load(tiny.model(nodes, inputs, outputs, {"limits": limits})).inputs()
    assert not any("compare" in guess for guess in made.guesses)
    assert 0 <= made.feeds[0]["x"].min() <= made.feeds[0]["x"].max() < 10


def test_a_number_beyond_the_inputs_own_type_is_not_taken() -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["wide"], to=TensorProto.INT64),
        helper.make_node("Equal", ["wide", "rates"], ["y"]),
    ]
    inputs, outputs = [tiny.tensor("x", [1], TensorProto.INT8)], [tiny.tensor("y", None, TensorProto.BOOL)]
    made = load(tiny.model(nodes, inputs, outputs, {"rates": np.array([16_000, 100])})).inputs()
    assert made.feeds[0]["x"].tolist() == [100]
    assert made.guesses == ("x: 100, with which its reader compares it",)


def test_an_index_into_something_unknown_is_zero() -> None:
    node = helper.make_node("Gather", ["x", "i"], ["y"], "pick")
    inputs = [tiny.tensor("x", ["n", 2]), tiny.tensor("i", ["k"], TensorProto.INT64)]
    made = load(tiny.model([node], inputs, [tiny.tensor("y", ["k", 2])])).inputs()
    assert made.feeds[0]["i"].tolist() == [0]
    assert any("unknown extent" in guess for guess in made.guesses)


def test_a_decoder_with_a_cache_gets_one_new_token() -> None:
    ids = tiny.tensor("input_ids", ["batch_size", "sequence_length"], TensorProto.INT64)
    mask = tiny.tensor(
        "attention_mask", ["batch_size", "past_sequence_length + sequence_length"], TensorProto.INT64
    )
    past = tiny.tensor("past_key_values.0.key", ["batch_size", 4, "past_sequence_length", 8])
    places = tiny.tensor("position_ids", ["batch_size", "sequence_length"], TensorProto.INT64)
    flag = tiny.tensor("use_cache_branch", [1], TensorProto.BOOL)
    model = load(tiny.model([], [ids, mask, past, places, flag], []))
    assert dict(model.inputs().shapes) == {
        "input_ids": "int64[1,1]",
        "attention_mask": "int64[1,128]",
        "past_key_values.0.key": "float32[1,4,127,8]",
        "position_ids": "int64[1,1]",
        "use_cache_branch": "bool[1]",
    }
    assert model.inputs().feeds[0]["position_ids"].tolist() == [[127]]
    feed = model.inputs(past_sequence_length=10, sequence_length=3).feeds[0]
    assert feed["attention_mask"].shape == (1, 13)
    assert feed["position_ids"].tolist() == [[10, 11, 12]]
    assert not feed["use_cache_branch"].any()


def test_a_sequence_fits_the_position_table() -> None:
    proto = tiny.embedding()
    proto.graph.initializer.append(onnx.numpy_helper.from_array(tiny.weights(34, 4), "wpe.weight"))
    assert load(proto).inputs().feeds[0]["input_ids"].shape == (1, 32)


@pytest.mark.real
def test_parameters_of_nodes_get_values_that_work() -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["r"], "reshape"),
        helper.make_node("Tile", ["r", "times"], ["t"], "tile"),
        helper.make_node("Slice", ["t", "from", "to"], ["s"], "slice"),
        helper.make_node("TopK", ["s", "k"], ["y", "i"], "top"),
    ]
    inputs = [tiny.tensor("x", [2, 6])]
    sizes = {"shape": 2, "times": 2, "from": 2, "to": 2, "k": 1}
    inputs += [tiny.tensor(name, [size], TensorProto.INT64) for name, size in sizes.items()]
    model = load(tiny.model(nodes, inputs, [tiny.tensor("y", None)]))
    assert run(model.path, dict(model.inputs().feeds[0]))[0].shape == (12, 1)


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ({"bacth": 2}, r"did you mean 'batch'"),
        ({"x.1": 2}, "no input has a free dim 'x.1'"),
        ({"batch": -1}, "0 or more"),
        ({"batch": 1.5}, "whole number"),
        ({"batch": True}, "whole number"),
        ({"batch": 2, "x.0": 3}, "two sizes"),
        ({"batch": 2**50}, "above the bound"),
    ],
)
def test_dims_that_are_refused(dims: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=f"(?i){words}"):
        load(tiny.mlp()).inputs(**dims)


def test_dims_by_name_and_by_axis() -> None:
    model = load(tiny.shared_dims())
    assert dict(model.inputs(inner=5, **{"left.0": 2}).shapes) == {
        "left": "float32[2,5]",
        "right": "float32[5,8]",
    }
    assert load(tiny.mlp()).inputs(batch=0).feeds[0]["x"].shape == (0, 4)
    assert load(tiny.mlp()).inputs(batch=np.int64(2)).feeds[0]["x"].shape == (2, 4)


def test_what_cannot_be_made_says_so() -> None:
    proto = tiny.mlp()
    proto.graph.input[0].ClearField("type")
    with pytest.raises(InputError, match="no type"):
        load(proto).inputs()
    proto.graph.input[0].type.sparse_tensor_type.elem_type = TensorProto.FLOAT
    with pytest.raises(InputError, match="sparse"):
        load(proto).inputs()
    proto = tiny.mlp()
    proto.graph.input[0].type.tensor_type.shape.dim.extend(
        [proto.graph.input[0].type.tensor_type.shape.dim[1]] * 70
    )
    with pytest.raises(InputError, match="72 dims"):
        load(proto).inputs()


def test_inputs_are_frozen_and_render() -> None:
    inputs = load(tiny.bert_like()).inputs()
    with pytest.raises(ValueError, match="read-only"):
        inputs.feeds[0]["input_ids"][0] = 1
    with pytest.raises(TypeError):
        inputs.feeds[0]["input_ids"] = None  # type: ignore[index]
    assert list(inputs.to_frame()["input"]) == [name for name, _ in inputs.shapes]
    assert "random, seed 0" in inputs._repr_html_()
    assert inputs.record().seed == 0
    assert isinstance(inputs, Inputs)


def test_a_graph_is_followed_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [helper.make_node("Identity", [f"v{i}"], [f"v{i + 1}"], f"n{i}") for i in range(500)]
    nodes.append(helper.make_node("Gather", ["w", "v500"], ["y"], "look_up"))
    ids = tiny.tensor("v0", [200], TensorProto.INT64)
    model = load(tiny.model(nodes, [ids], [tiny.tensor("y", [200, 2])], {"w": tiny.weights(2, 2)}))
    assert set(model.inputs().feeds[0]["v0"].tolist()) == {0, 1}
    monkeypatch.setattr("workbench.core.models.uses.MOST_STEPS", 100)
    assert model.inputs().feeds[0]["v0"].max() > 1


def test_weights_that_are_inputs_take_no_steps_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [helper.make_node("Identity", ["v0"], ["v1"]), helper.make_node("Gather", ["w", "v1"], ["y"])]
    weights = {"w": tiny.weights(2, 2)} | {f"w{number}": tiny.weights(1) for number in range(100)}
    inputs = [tiny.tensor("v0", [200], TensorProto.INT64), *(tiny.tensor(name, None) for name in weights)]
    monkeypatch.setattr("workbench.core.models.uses.MOST_STEPS", 100)
    model = load(tiny.model(nodes, inputs, [tiny.tensor("y", [200, 2])], weights))
    assert set(model.inputs().feeds[0]["v0"].tolist()) == {0, 1}


def test_names_made_to_be_slow_are_not() -> None:
    """A pattern that goes over a megabyte of its own first word would take hours."""
    name = "past" * 2**18
    proto = tiny.mlp()
    proto.graph.input[0].name = proto.graph.node[0].input[0] = name
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
    assert load(proto).inputs().feeds[0][name].ndim == 2


@pytest.mark.real
def test_sizes_come_from_declared_outputs() -> None:
    inputs = [tiny.tensor("x", [6]), tiny.tensor("parts", [2], TensorProto.INT64)]
    node = helper.make_node("Split", ["x", "parts"], ["a", "b"], "split")
    model = load(tiny.model([node], inputs, [tiny.tensor("a", [2]), tiny.tensor("b", [4])]))
    assert model.inputs().feeds[0]["parts"].tolist() == [2, 4]
    assert run(model.path, dict(model.inputs().feeds[0]))[1].shape == (4,)
    inputs = [tiny.tensor("x", [1, 3, 1]), tiny.tensor("axes", [2], TensorProto.INT64)]
    node = helper.make_node("Squeeze", ["x", "axes"], ["y"], "squeeze")
    model = load(tiny.model([node], inputs, [tiny.tensor("y", [3])]))
    assert model.inputs().feeds[0]["axes"].tolist() == [0, 2]


def test_a_samples_usual_dims_are_taken_and_said() -> None:
    model = load(tiny.mlp())
    model.usual_dims = {"batch": 6}
    assert model.inputs().shapes == (("x", "float32[6,4]"),)
    assert "dim batch made 6 (the sample's usual size)" in model.inputs().guesses
    assert model.inputs(batch=2).shapes == (("x", "float32[2,4]"),)


def test_sequences_nested_deep_are_refused_before_they_fill_the_memory() -> None:
    proto = tiny.mlp()
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])
    for _ in range(40):
        kind = helper.make_sequence_type_proto(kind)
    proto.graph.input.append(helper.make_value_info("deep", kind))
    with pytest.raises(InputError, match="more than 4,096 values"):
        load(proto).inputs()
