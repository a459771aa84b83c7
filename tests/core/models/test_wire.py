"""Dropping weights changes nothing else."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tests.amount import amount
from tests.core.models import tiny
from workbench.core.errors import ModelError
from workbench.core.models import wire
from workbench.core.models.structure import structure_of_bytes, tensors
from workbench.core.models.wire import KEEP_BYTES, MAX_DEPTH, Malformed, without_weights


def slim(data: bytes) -> ModelProto:
    return ModelProto.FromString(without_weights(io.BytesIO(data), len(data)))


def cleared(model: ModelProto) -> ModelProto:
    """The same by the protobuf library: every tensor's payload is taken out."""
    for tensor in tensors(model):
        for name in (
            "float_data",
            "int32_data",
            "string_data",
            "int64_data",
            "raw_data",
            "double_data",
            "uint64_data",
        ):
            tensor.ClearField(name)
    return model


@pytest.mark.parametrize("name", tiny.ALL)
def test_small_models_stay_whole(name: str) -> None:
    proto = tiny.ALL[name]()
    assert slim(proto.SerializeToString()) == proto


@pytest.mark.parametrize("name", tiny.ALL)
def test_every_payload_goes_and_nothing_else(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "KEEP_BYTES", -1)
    proto = tiny.ALL[name]()
    assert slim(proto.SerializeToString()) == cleared(proto)


@settings(max_examples=amount(60))
@given(
    st.lists(st.integers(0, 3000), max_size=4),
    st.sampled_from([TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE, TensorProto.INT32]),
    st.booleans(),
)
def test_only_large_tensors_are_emptied(sizes: list[int], element: int, raw: bool) -> None:
    values = [np.arange(size).astype(helper.tensor_dtype_to_np_dtype(element)) for size in sizes]
    proto = tiny.no_inputs()
    for index, value in enumerate(values):
        data = value.tobytes() if raw else value.tolist()
        proto.graph.initializer.append(helper.make_tensor(f"t{index}", element, value.shape, data, raw=raw))
    kept = slim(proto.SerializeToString()).graph.initializer
    for before, after in zip(proto.graph.initializer, kept, strict=True):
        assert (after.name, after.dims, after.data_type) == (before.name, before.dims, before.data_type)
        if before.ByteSize() <= KEEP_BYTES:
            assert after == before
        else:
            assert after.ByteSize() < 64


def test_weights_hide_in_constants_subgraphs_and_functions() -> None:
    big = numpy_helper.from_array(tiny.weights(64, 64), "big")
    constant = helper.make_node("Constant", [], ["c"], "constant", value=big)
    then = helper.make_graph([constant], "then", [], [tiny.tensor("c", [64, 64])], [big])
    node = helper.make_node("If", ["flag"], ["y"], "if", then_branch=then, else_branch=then)
    proto = tiny.model([node], [tiny.tensor("flag", [], TensorProto.BOOL)], [tiny.tensor("y", [64, 64])])
    proto.functions.append(helper.make_function("local", "F", [], ["c"], [constant], proto.opset_import))
    data = proto.SerializeToString()
    assert len(data) > 5 * 64 * 64 * 4
    assert slim(data).ByteSize() < 1000
    assert slim(data) == cleared(proto)


@pytest.mark.parametrize("name", ["mlp", "if_branches"])
def test_every_truncation_is_noticed_or_still_a_message(name: str) -> None:
    data = tiny.ALL[name]().SerializeToString()
    noticed = 0
    for end in range(1, len(data)):
        try:
            slim(data[:end])
        except Malformed:
            noticed += 1
    assert noticed > len(data) * 0.9


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x80" * 12, "longer than ten bytes"),
        (b"\x08", "ends in the middle of a field"),
        (b"\x08\x80", "ends in the middle of a number"),
        (b"\x3a\xff\xff\x03a", "bytes too early"),
        (b"\x0b", "wire type 3"),
        (b"\x02\x00", "field 0"),
        (b"\x0d\x01", "in the middle"),
    ],
)
def test_broken_wire_is_named(data: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        without_weights(io.BytesIO(data), len(data))


def test_depth_is_bounded_before_the_stack_is() -> None:
    def wrapped(tag: int, body: bytes) -> bytes:
        return bytes([tag]) + wire.varint(len(body)) + body

    data = b"\x0a\x00" * 3000
    for _ in range(MAX_DEPTH):
        data = wrapped(
            0x0A, wrapped(0x2A, wrapped(0x32, data))
        )  # a node, its attribute, the attribute's graph
    data = wrapped(0x3A, data)
    with pytest.raises(Malformed, match="deeper than 100"):
        without_weights(io.BytesIO(data), len(data))


def tree_ensemble(count: int) -> ModelProto:
    """One node with `count` integers, floats and strings, each a field of its own."""
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml",
        nodes_nodeids=list(range(count)), nodes_values=[float(number) for number in range(count)],
        nodes_modes=["BRANCH_LEQ"] * count,
    )  # fmt: skip
    return tiny.model([node], [tiny.tensor("x", [1, 9])], [tiny.tensor("y", [1, 1])], {})


def test_the_lists_of_a_tree_ensemble_are_taken_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_FIELDS", 1000)
    proto = tree_ensemble(100_000)
    assert slim(proto.SerializeToString()) == proto


def test_a_file_of_too_many_fields_is_no_damaged_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_FIELDS", 1000)
    with pytest.raises(ModelError, match=r"^many\.onnx is too large: .* more than 1,000 fields\n"):
        structure_of_bytes(b"\x08\x01" * 1001, "many.onnx")


@settings(max_examples=amount(200))
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("ints"), st.integers(-(2**63), 2**63 - 1)),
            st.tuples(st.just("floats"), st.floats(width=32, allow_nan=False)),
            st.tuples(st.just("strings"), st.binary(max_size=300)),
        ),
        max_size=120,
    ),
    st.integers(1, 50),
)
def test_lists_keep_every_field(values: list[tuple[str, object]], times: int) -> None:
    proto = tiny.no_inputs()
    for field, value in values:
        getattr(proto.graph.node[0].attribute.add(name="a"), field).extend([value] * times)
    assert slim(proto.SerializeToString()) == proto
