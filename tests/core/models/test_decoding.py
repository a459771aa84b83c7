"""What a loop over tokens needs, read from names and shapes."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.core.models import tiny
from tests.core.models.decoders import decoder, value
from workbench.core.models.decoding import Cache, cache_feeds, check_length, decoding_names, weight_bytes


@pytest.mark.parametrize(
    ("past", "present"),
    [
        ("past_key_values.0.key", "present.0.key"),
        ("past_key_values.3.decoder.value", "present.3.decoder.value"),
        ("past_0", "present_0"),
        ("past_key_self_1", "present_key_self_1"),
        ("past_key_values_0_key", "present_key_values_0_key"),
    ],
)
def test_a_cache_is_a_past_with_its_present(past: str, present: str) -> None:
    names = decoding_names(decoder(past=past, present=present))
    assert names.caches == (Cache(past, present, 2),)
    assert (names.tokens, names.logits, names.mask) == ("input_ids", "logits", None)


def test_the_growing_axis_of_gpt2s_cache_of_both() -> None:
    model = decoder()
    model.graph.input[1].CopyFrom(value("past_0", TensorProto.FLOAT, [2, "batch", 12, "past_length", 64]))
    model.graph.output[1].CopyFrom(value("present_0", TensorProto.FLOAT, [2, "batch", 12, "total", 64]))
    (cache,) = decoding_names(model).caches
    assert cache.axis == 3
    feed = {"past_0": np.zeros((2, 1, 12, 4, 64), np.float32)}
    assert cache_feeds(decoding_names(model), feed) == {"past_0": [2, 1, 12, 0, 64]}


def test_a_past_without_a_present_is_no_cache() -> None:
    model = decoder(past="past_key_values.0.encoder.key", present="present.0.key")
    assert decoding_names(model).caches == ()


def test_other_inputs_are_known_by_their_names() -> None:
    model = decoder(mask=True)
    model.graph.input.append(value("position_ids", TensorProto.INT64, ["batch", "sequence"]))
    model.graph.input.append(value("token_type_ids", TensorProto.INT64, ["batch", "sequence"]))
    model.graph.input.append(value("use_cache_branch", TensorProto.BOOL, [1]))
    names = decoding_names(model)
    assert (names.mask, names.positions, names.segments, names.branch) == (
        "attention_mask", "position_ids", "token_type_ids", "use_cache_branch",
    )  # fmt: skip


def test_what_cannot_go_on_is_refused() -> None:
    with pytest.raises(wb.InputError, match="'input_ids' takes 8 tokens and no other number"):
        decoding_names(decoder(fixed=8))
    with pytest.raises(wb.InputError, match="No input takes tokens"):
        decoding_names(tiny.mlp())
    model = decoder()
    model.graph.input[1].CopyFrom(value("past_key_values.0.key", TensorProto.FLOAT, ["batch", 1, 16, 4]))
    with pytest.raises(wb.InputError, match="has a fixed length"):
        decoding_names(model)


def test_more_tokens_than_positions_are_refused() -> None:
    model = decoder()
    model.graph.initializer.append(numpy_helper.from_array(np.zeros((20, 4), np.float32), "wpe.weight"))
    names = decoding_names(model)
    assert names.most_tokens == 20
    check_length(names, 16, 4)
    with pytest.raises(wb.InputError, match="the model has positions for 20"):
        check_length(names, 16, 5)


@pytest.mark.parametrize(
    ("element", "size"),
    [(TensorProto.INT4, 8), (TensorProto.UINT2, 4), (TensorProto.BOOL, 15), (TensorProto.BFLOAT16, 30)],
)
def test_weights_of_few_bits_are_packed(element: int, size: int) -> None:
    weight = TensorProto(name="w", data_type=element, dims=[3, 5])
    nodes = [helper.make_node("DequantizeLinear", ["w", "scale"], ["y"])]
    graph = helper.make_graph(nodes, "graph", [], [], [weight])
    assert weight_bytes(helper.make_model(graph)) == size
