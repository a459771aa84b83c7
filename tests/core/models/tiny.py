"""Tiny valid models, one trait each, that ORT can run in microseconds. `ALL` names them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

IR = 10
OPSET = 20  # onnx's own defaults (IR 14, opset 28) are newer than what ORT 1.31 takes
FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64


def model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    weights: dict[str, np.ndarray] | None = None,
    *,
    name: str = "tiny",
    domains: dict[str, int] | None = None,
) -> ModelProto:
    """A model at the pinned versions."""
    initializers = [numpy_helper.from_array(array, key) for key, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", OPSET)]
    opsets += [helper.make_opsetid(domain, version) for domain, version in (domains or {}).items()]
    return helper.make_model(graph, ir_version=IR, opset_imports=opsets, producer_name="tiny")


def tensor(name: str, shape: Sequence[int | str | None] | None, element: int = FLOAT) -> ValueInfoProto:
    """A tensor's declaration."""
    return helper.make_tensor_value_info(name, element, shape)


def save(proto: ModelProto, folder: Path, name: str = "tiny.onnx") -> Path:
    """Write it as one file."""
    path = Path(folder) / name
    path.write_bytes(proto.SerializeToString())
    return path


def save_external(proto: ModelProto, folder: Path, name: str = "tiny.onnx") -> Path:
    """Write it with every weight in `<name>.data` beside it."""
    path = Path(folder) / name
    copy = ModelProto.FromString(proto.SerializeToString())
    onnx.save_model(copy, path, save_as_external_data=True, location=f"{name}.data", size_threshold=0)
    return path


def weights(*shape: int, seed: int = 0, scale: float = 0.1) -> np.ndarray:
    """Small float32 weights."""
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def mlp(width: int = 8) -> ModelProto:
    """Two dense layers with a symbolic batch."""
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["h"], "dense1"),
        helper.make_node("Add", ["h", "b1"], ["hb"], "bias1"),
        helper.make_node("Relu", ["hb"], ["r"], "relu"),
        helper.make_node("MatMul", ["r", "w2"], ["y"], "dense2"),
    ]
    parameters = {"w1": weights(4, width), "b1": weights(width), "w2": weights(width, 3)}
    return model(nodes, [tensor("x", ["batch", 4])], [tensor("y", ["batch", 3])], parameters)


def conv_net() -> ModelProto:
    """An image classifier: convolution, batch norm, pooling, dense."""
    nodes = [
        helper.make_node("Conv", ["image", "k"], ["c"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"], "norm"),
        helper.make_node("Relu", ["n"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w"], ["logits"], "head"),
    ]
    ones = np.ones(6, np.float32)
    parameters = {"k": weights(6, 3, 3, 3), "s": ones, "b": ones * 0, "m": ones * 0, "v": ones}
    parameters["w"] = weights(6, 10)
    image = tensor("image", ["batch", 3, "height", "width"])
    return model(nodes, [image], [tensor("logits", ["batch", 10])], parameters)


def embedding(vocabulary: int = 11) -> ModelProto:
    """Token ids, through a Cast and a Reshape, into a Gather."""
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["i32"], "cast", to=TensorProto.INT32),
        helper.make_node("Reshape", ["i32", "flat"], ["ids"], "flatten"),
        helper.make_node("Gather", ["table", "ids"], ["rows"], "embed"),
        helper.make_node("ReduceMean", ["rows"], ["y"], "mean", keepdims=0),
    ]
    parameters = {"flat": np.array([-1], np.int64), "table": weights(vocabulary, 4)}
    ids = tensor("input_ids", ["batch", "sequence"], INT64)
    return model(nodes, [ids], [tensor("y", [])], parameters)


def bert_like() -> ModelProto:
    """Three integer inputs as an encoder takes them, with a position table of 16 rows."""
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["w"], "word_embeddings"),
        helper.make_node("Gather", ["types", "token_type_ids"], ["t"], "type_embeddings"),
        helper.make_node("Gather", ["places", "position_ids"], ["p"], "position_embeddings"),
        helper.make_node("Add", ["w", "t"], ["wt"], "add1"),
        helper.make_node("Add", ["wt", "p"], ["e"], "add2"),
        helper.make_node("Cast", ["attention_mask"], ["mask"], "cast_mask", to=FLOAT),
        helper.make_node("Unsqueeze", ["mask", "two"], ["m"], "widen"),
        helper.make_node("Mul", ["e", "m"], ["em"], "masked"),
        helper.make_node("Softmax", ["em"], ["y"], "softmax"),
    ]
    parameters = {"words": weights(30, 4), "types": weights(2, 4), "places": weights(16, 4)}
    parameters["two"] = np.array([2], np.int64)
    names = ["input_ids", "attention_mask", "token_type_ids", "position_ids"]
    inputs = [tensor(name, ["batch_size", "sequence_length"], INT64) for name in names]
    return model(nodes, inputs, [tensor("y", ["batch_size", "sequence_length", 4])], parameters)


def if_branches() -> ModelProto:
    """A bool input that chooses between Neg and Exp, each in its own subgraph."""
    then = helper.make_graph([helper.make_node("Neg", ["x"], ["a"], "neg")], "then", [], [tensor("a", [2])])
    other = helper.make_graph([helper.make_node("Exp", ["x"], ["b"], "exp")], "else", [], [tensor("b", [2])])
    nodes = [helper.make_node("If", ["flag"], ["y"], "if", then_branch=then, else_branch=other)]
    return model(nodes, [tensor("flag", [], TensorProto.BOOL), tensor("x", [2])], [tensor("y", [2])])


def loop(trips: int = 3) -> ModelProto:
    """A Loop that adds its input to an accumulator a fixed number of times."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"], "keep"),
            helper.make_node("Add", ["acc", "x"], ["acc_out"], "accumulate"),
        ],
        "body",
        [tensor("i", [], INT64), tensor("go", [], TensorProto.BOOL), tensor("acc", [2])],
        [tensor("go_on", [], TensorProto.BOOL), tensor("acc_out", [2])],
    )
    nodes = [helper.make_node("Loop", ["trips", "yes", "x"], ["y"], "loop", body=body)]
    parameters = {"trips": np.array(trips, np.int64), "yes": np.array(True)}
    return model(nodes, [tensor("x", [2])], [tensor("y", [2])], parameters)


def scan() -> ModelProto:
    """A Scan that sums the rows of its input."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["state", "row"], ["next"], "add"),
            helper.make_node("Identity", ["next"], ["seen"], "copy"),
        ],
        "body",
        [tensor("state", [2]), tensor("row", [2])],
        [tensor("next", [2]), tensor("seen", [2])],
    )
    nodes = [helper.make_node("Scan", ["start", "x"], ["end", "all"], "scan", body=body, num_scan_inputs=1)]
    outputs = [tensor("end", [2]), tensor("all", ["rows", 2])]
    return model(nodes, [tensor("x", ["rows", 2])], outputs, {"start": np.zeros(2, np.float32)})


def strings() -> ModelProto:
    """Two string inputs, joined."""
    nodes = [helper.make_node("StringConcat", ["first", "second"], ["y"], "join")]
    inputs = [tensor(name, ["n"], TensorProto.STRING) for name in ("first", "second")]
    return model(nodes, inputs, [tensor("y", ["n"], TensorProto.STRING)])


def sequence() -> ModelProto:
    """A sequence of float tensors, concatenated."""
    nodes = [helper.make_node("ConcatFromSequence", ["parts"], ["y"], "concat", axis=0)]
    parts = helper.make_tensor_sequence_value_info("parts", FLOAT, ["n", 2])
    return model(nodes, [parts], [tensor("y", ["total", 2])])


def optional() -> ModelProto:
    """An optional tensor, and whether it is there."""
    nodes = [helper.make_node("OptionalHasElement", ["maybe"], ["y"], "has")]
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOAT, [2]))
    maybe = helper.make_value_info("maybe", kind)
    return model(nodes, [maybe], [tensor("y", [], TensorProto.BOOL)])


def dictionary() -> ModelProto:
    """A map from int64 to float, as classical models take it."""
    kind = onnx.TypeProto()
    kind.map_type.key_type = INT64
    kind.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(FLOAT, []))
    nodes = [
        helper.make_node(
            "DictVectorizer",
            ["features"],
            ["y"],
            "vectorize",
            domain="ai.onnx.ml",
            int64_vocabulary=[1, 2, 5],
        )
    ]
    features = helper.make_value_info("features", kind)
    return model(nodes, [features], [tensor("y", [1, 3])], domains={"ai.onnx.ml": 3})


def float16() -> ModelProto:
    """A half-precision matrix product."""
    parameters = {"w": weights(4, 2).astype(np.float16)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], "product")]
    half = TensorProto.FLOAT16
    return model(nodes, [tensor("x", ["n", 4], half)], [tensor("y", ["n", 2], half)], parameters)


def casting(element: int) -> ModelProto:
    """A tensor of any element type that Cast knows, turned into float32."""
    nodes = [helper.make_node("Cast", ["x"], ["y"], "cast", to=FLOAT)]
    proto = model(nodes, [tensor("x", [2, 3], element)], [tensor("y", [2, 3])])
    proto.opset_import[0].version = 21  # the first with int4
    return proto


def bfloat16() -> ModelProto:
    """A bfloat16 input."""
    return casting(TensorProto.BFLOAT16)


def zero_dim() -> ModelProto:
    """An input that holds no element."""
    nodes = [helper.make_node("Concat", ["x", "w"], ["y"], "concat", axis=0)]
    return model(nodes, [tensor("x", [0, 3])], [tensor("y", [2, 3])], {"w": weights(2, 3)})


def shared_dims() -> ModelProto:
    """Two inputs that must agree on one symbolic dim."""
    nodes = [helper.make_node("MatMul", ["left", "right"], ["y"], "product")]
    inputs = [tensor("left", ["rows", "inner"]), tensor("right", ["inner", "columns"])]
    return model(nodes, inputs, [tensor("y", ["rows", "columns"])])


def scalar() -> ModelProto:
    """A rank-0 input."""
    return model([helper.make_node("Neg", ["x"], ["y"], "neg")], [tensor("x", [])], [tensor("y", [])])


def no_inputs() -> ModelProto:
    """A graph that only hands out a weight."""
    nodes = [helper.make_node("Identity", ["w"], ["y"], "identity")]
    return model(nodes, [], [tensor("y", [2])], {"w": weights(2)})


def quantized() -> ModelProto:
    """A QDQ pair around a product."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], "quantize"),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"], "dequantize"),
        helper.make_node("MatMul", ["d", "w"], ["y"], "product"),
    ]
    parameters = {"scale": np.float32(0.1).reshape(()), "zero": np.zeros((), np.uint8), "w": weights(4, 2)}
    return model(nodes, [tensor("x", ["batch", 4])], [tensor("y", ["batch", 2])], parameters)


def function() -> ModelProto:
    """A node that calls a function of the model itself, twice."""
    twice = helper.make_function(
        "local",
        "Twice",
        ["a"],
        ["b"],
        [helper.make_node("Add", ["a", "a"], ["b"], "add")],
        [helper.make_opsetid("", OPSET)],
    )
    nodes = [
        helper.make_node("Twice", ["x"], ["h"], "one", domain="local"),
        helper.make_node("Twice", ["h"], ["y"], "two", domain="local"),
    ]
    proto = model(nodes, [tensor("x", [2])], [tensor("y", [2])], domains={"local": 1})
    proto.functions.append(twice)
    return proto


def nested_if(depth: int = 5) -> ModelProto:
    """An If inside an If, and so on."""
    graph = _leaf("leaf")
    for level in range(depth):
        node = helper.make_node(
            "If", ["flag"], ["o"], f"if{level}", then_branch=graph, else_branch=_leaf("e")
        )
        graph = GraphProto(name=f"level{level}", node=[node], output=[tensor("o", [2])])
    inputs = [tensor("flag", [], TensorProto.BOOL), tensor("x", [2])]
    return model(list(graph.node), inputs, [tensor("o", [2])])


def _leaf(name: str) -> GraphProto:
    return GraphProto(
        name=name, node=[helper.make_node("Neg", ["x"], ["o"], f"neg_{name}")], output=[tensor("o", [2])]
    )


ALL: dict[str, Callable[[], ModelProto]] = {
    made.__name__: made
    for made in (
        mlp,
        conv_net,
        embedding,
        bert_like,
        if_branches,
        loop,
        scan,
        strings,
        sequence,
        optional,
        dictionary,
        float16,
        bfloat16,
        zero_dim,
        shared_dims,
        scalar,
        no_inputs,
        quantized,
        function,
        nested_if,
    )
}
