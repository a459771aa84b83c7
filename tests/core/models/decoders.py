"""A language model of four numbers a token, with and without a cache; both compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

VOCABULARY, WIDTH = 17, 4


def decoder(
    *, cached: bool = True, past: str = "past_key_values.0.key", present: str = "present.0.key",
    mask: bool = False, fixed: Any = None, logits: str = "logits",
) -> onnx.ModelProto:  # fmt: skip
    """Each logit sums what the tokens so far are; the cache holds a row for each token."""
    rng = np.random.default_rng(3)
    table = rng.standard_normal((VOCABULARY, WIDTH)).astype(np.float32)
    head = rng.standard_normal((WIDTH, VOCABULARY)).astype(np.float32)
    weights = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(head, "head")]
    weights.append(numpy_helper.from_array(np.array([1]), "one"))
    weights.append(numpy_helper.from_array(np.array([2]), "two"))
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"])]
    nodes.append(helper.make_node("Unsqueeze", ["rows", "one"], ["fresh"]))
    inputs = [value("input_ids", TensorProto.INT64, ["batch", fixed or "sequence"])]
    outputs = [value(logits, TensorProto.FLOAT, ["batch", "sequence", VOCABULARY])]
    whole = "fresh"
    if cached:
        inputs.append(value(past, TensorProto.FLOAT, ["batch", 1, "past", WIDTH]))
        outputs.append(value(present, TensorProto.FLOAT, ["batch", 1, "total", WIDTH]))
        nodes.append(helper.make_node("Concat", [past, "fresh"], [present], axis=2))
        whole = present
    if mask:
        inputs.append(value("attention_mask", TensorProto.INT64, ["batch", "total"]))
        nodes.append(helper.make_node("Cast", ["attention_mask"], ["floats"], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Unsqueeze", ["floats", "ends"], ["columns"]))
        weights.append(numpy_helper.from_array(np.array([1, 3]), "ends"))
        nodes.append(helper.make_node("Mul", [whole, "columns"], ["masked"]))
        whole = "masked"
    nodes += [
        helper.make_node("ReduceSum", [whole, "two"], ["sum"], keepdims=0),
        helper.make_node("Sub", ["rows", "rows"], ["zeros"]),
        helper.make_node("Add", ["zeros", "sum"], ["state"]),
        helper.make_node("MatMul", ["state", "head"], [logits]),
    ]
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def grouped(cache: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """One layer of GroupQueryAttention between a table and a head, with a cache of this element type."""
    rng = np.random.default_rng(5)
    heads, size = 2, 16
    shapes = {
        "table": (VOCABULARY, heads * size), "q": (heads * size, heads * size), "k": (heads * size, size),
        "v": (heads * size, size), "head": (heads * size, VOCABULARY),
    }  # fmt: skip
    drawn = {name: rng.standard_normal(shape).astype(np.float32) / 3 for name, shape in shapes.items()}
    weights = [numpy_helper.from_array(array, name) for name, array in drawn.items()]
    weights += [numpy_helper.from_array(np.array([1]), "one"), numpy_helper.from_array(np.array(1), "index")]
    scales: list[str] = []
    kinds: dict[str, Any] = {"num_heads": heads, "kv_num_heads": 1}
    if cache == TensorProto.INT8:
        weights.append(numpy_helper.from_array(np.array([0.02], np.float32), "scale"))
        scales = ["", "", "", "", "", "scale", "scale"]
        kinds |= {"kv_cache_bit_width": 8, "k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR"}
    pasts = ["past_key_values.0.key", "past_key_values.0.value"]
    presents = ["present.0.key", "present.0.value"]
    make = helper.make_node
    nodes = [
        make("Gather", ["table", "input_ids"], ["rows"]),
        *(make("MatMul", ["rows", name], [f"{name}s"]) for name in "qkv"),
        make("ReduceSum", ["attention_mask", "one"], ["sums"], keepdims=0),
        make("Sub", ["sums", "one"], ["lasts"]),
        make("Cast", ["lasts"], ["seqlens_k"], to=TensorProto.INT32),
        make("Shape", ["attention_mask"], ["shape"]),
        make("Gather", ["shape", "index"], ["length"], axis=0),
        make("Cast", ["length"], ["total_length"], to=TensorProto.INT32),
        make(
            "GroupQueryAttention", ["qs", "ks", "vs", *pasts, "seqlens_k", "total_length", *scales],
            ["attended", *presents], domain="com.microsoft", **kinds,
        ),
        make("Add", ["rows", "attended"], ["state"]),
        make("MatMul", ["state", "head"], ["logits"]),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "grouped",
        [
            value("input_ids", TensorProto.INT64, ["batch", "sequence"]),
            value("attention_mask", TensorProto.INT64, ["batch", "total"]),
            *(value(name, cache, ["batch", 1, "past", size]) for name in pasts),
        ],
        [
            value("logits", TensorProto.FLOAT, ["batch", "sequence", VOCABULARY]),
            *(value(name, cache, ["batch", 1, "total", size]) for name in presents),
        ],
        weights,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


GENAI_CONFIG = {  # of ONNX Runtime GenAI, for `grouped`
    "model": {
        "type": "llama", "vocab_size": VOCABULARY, "context_length": 128,
        "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
        "decoder": {
            "session_options": {"provider_options": []}, "filename": "model.onnx", "head_size": 16,
            "hidden_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 1,
            "inputs": {
                "input_ids": "input_ids", "attention_mask": "attention_mask",
                "past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value",
            },
            "outputs": {
                "logits": "logits", "present_key_names": "present.%d.key",
                "present_value_names": "present.%d.value",
            },
        },
    },
    "search": {"max_length": 128, "do_sample": False, "past_present_share_buffer": True},
}  # fmt: skip


def value(name: str, element: int, dims: Sequence[Any]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, dims)
