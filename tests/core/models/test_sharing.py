"""What a file to hand on keeps of a model: names, types, shapes and the constants that shapes need."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from workbench.core.models.sharing import KEPT_CONSTANTS, NAME_SCOPES, shareable

SECRET = 0.12345678
SECRET_TEXT = "a word of Ada's diary"
SECRET_NUMBER = 0x5EC2E75EC2E7
STACK = 'File "/home/ada/secret project/train.py", line 3, in forward\n  y = self.secret(x)'


def model() -> ModelProto:
    """A 30 x 30 layer, a shape computed from the input, an index table, and texts of its author."""
    weights = numpy_helper.from_array(np.full((30, 30), SECRET, np.float32), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="layer", doc_string=STACK),
        helper.make_node("Shape", ["x"], ["size"]),
        helper.make_node("Gather", ["size", "zero"], ["n"]),
        helper.make_node("Constant", [], ["ten"], value=numpy_helper.from_array(np.array([10, 3]), "t")),
        helper.make_node("Concat", ["n", "ten"], ["to"], axis=0),
        helper.make_node("Reshape", ["h", "to"], ["r"]),
        helper.make_node("Gather", ["table", "r_index"], ["e"]),
        helper.make_node("Constant", [], ["bias"], value_float=SECRET),
        helper.make_node("Add", ["r", "bias"], ["y"]),
        helper.make_node("Scaler", ["x"], ["z"], domain="ai.onnx.ml", scale=[SECRET], offset=[SECRET]),
    ]
    for key, value in (("pkg.torch.onnx.stack_trace", STACK), (NAME_SCOPES, "['', 'encoder']")):
        nodes[0].metadata_props.add(key=key, value=value)
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 30])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "z", "e")],
        [
            weights,
            numpy_helper.from_array(np.array([0]), "zero"),
            numpy_helper.from_array(np.full((9, 9), SECRET, np.float32), "table"),
            numpy_helper.from_array(np.array([7, 7, 7]), "r_index"),
        ],
        doc_string=STACK,
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=10, doc_string=STACK)
    made.metadata_props.add(key="author", value=STACK)
    return made


@pytest.fixture
def shared() -> tuple[bytes, ModelProto]:
    blob = shareable(model().SerializeToString())
    return blob, ModelProto.FromString(blob)


def test_no_weight_stays_however_small(shared: tuple[bytes, ModelProto]) -> None:
    blob, proto = shared
    assert np.float32(SECRET).tobytes() not in blob
    assert [list(tensor.dims) for tensor in proto.graph.initializer] == [[30, 30], [1], [9, 9], [3]]
    assert {tensor.name: len(tensor.raw_data) for tensor in proto.graph.initializer} == {
        "w": 0,
        "zero": 8,
        "table": 0,
        "r_index": 0,
    }


def test_no_text_of_the_author_stays_but_the_names_of_modules(shared: tuple[bytes, ModelProto]) -> None:
    blob, proto = shared
    assert b"ada" not in blob
    assert b"secret" not in blob
    assert [(entry.key, entry.value) for entry in proto.graph.node[0].metadata_props] == [
        (NAME_SCOPES, "['', 'encoder']")
    ]


def test_what_shapes_need_stays_and_is_listed(shared: tuple[bytes, ModelProto]) -> None:
    _, proto = shared
    assert [(entry.key, entry.value) for entry in proto.metadata_props] == [(KEPT_CONSTANTS, "ten\nzero")]
    inferred = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    shapes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in inferred.graph.value_info
    }
    assert shapes["r"][1:] == [10, 3]


def test_the_weights_of_every_sparse_tensor_subgraph_and_function_go() -> None:
    proto = model()
    inner = helper.make_graph([], "inner", [], [], [numpy_helper.from_array(np.float32([SECRET]), "v")])
    proto.graph.node.append(helper.make_node("If", ["c"], ["o"], then_branch=inner, else_branch=inner))
    values = numpy_helper.from_array(np.float32([SECRET]), "s")
    sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array([3]), "i"), [9])
    proto.graph.sparse_initializer.append(sparse)
    constant = helper.make_node("Constant", [], ["k"], value_floats=[SECRET])
    proto.functions.append(
        helper.make_function("f", "f", [], ["k"], [constant], [helper.make_opsetid("", 20)])
    )
    context = helper.make_node(
        "EPContext", ["x"], ["q"], domain="com.microsoft", ep_cache_context=b"compiled"
    )
    proto.graph.node.append(context)
    blob = shareable(proto.SerializeToString())
    assert np.float32(SECRET).tobytes() not in blob
    assert b"compiled" not in blob


def assert_nothing_secret(blob: bytes) -> None:
    number = b"\xe7\x85\xfb\xba\xae\xd8\x17"  # SECRET_NUMBER as protobuf writes it
    secrets = (np.float32(SECRET).tobytes(), SECRET_TEXT.encode(), number)
    assert [secret for secret in secrets if secret in blob] == []


def weight(name: str) -> TensorProto:
    return numpy_helper.from_array(np.full((4, 4), SECRET, np.float32), name)


def made(nodes: list[onnx.NodeProto], initializers: list[TensorProto]) -> ModelProto:
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    return helper.make_model(helper.make_graph(nodes, "g", [], outputs, initializers))


def test_a_weight_that_has_the_name_of_a_shape_in_a_function_goes() -> None:
    proto = made([helper.make_node("Identity", ["w"], ["y"])], [weight("w")])
    shape = helper.make_node("Constant", [], ["w"], value_ints=[4, 4])
    reshape = helper.make_node("Reshape", ["a", "w"], ["b"])
    opsets = [helper.make_opsetid("", 20)]
    proto.functions.append(helper.make_function("d", "f", ["a"], ["b"], [shape, reshape], opsets))
    blob = shareable(proto.SerializeToString())
    assert np.float32(SECRET).tobytes() not in blob
    shape = ModelProto.FromString(blob).functions[0].node[0]
    assert list(shape.attribute[0].ints) == [4, 4]


@pytest.mark.parametrize("op_type", ["Reshape", "Resize"])
def test_a_constant_that_a_shape_in_a_subgraph_needs_stays(op_type: str) -> None:
    inputs, value = (["x", "s"], np.array([4, 4])) if op_type == "Reshape" else (["x", "", "s"], np.ones(2))
    shape = numpy_helper.from_array(value.astype(np.float32 if op_type == "Resize" else np.int64), "s")
    inner = helper.make_graph([helper.make_node(op_type, inputs, ["o"])], "inner", [], [])
    proto = made([helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)], [shape])
    shared = ModelProto.FromString(shareable(proto.SerializeToString()))
    assert shared.graph.initializer[0].raw_data == shape.raw_data
    assert shared.metadata_props[0].value == "s"


def test_weights_of_training_defaults_of_functions_and_other_domains_go() -> None:
    proto = made([], [])
    proto.training_info.add().initialization.initializer.append(weight("w"))
    opsets = [helper.make_opsetid("", 20)]
    defaults = [
        helper.make_attribute("t", weight("w")),
        helper.make_attribute("g", helper.make_graph([], "inner", [], [], [weight("w")])),
    ]
    proto.functions.append(helper.make_function("d", "f", [], [], [], opsets, attribute_protos=defaults))
    own = {"table": [SECRET] * 4, "engine": np.float32(SECRET).tobytes(), "axis": 1}
    proto.graph.node.append(helper.make_node("Plugin", [], ["y"], domain="trt.plugins", **own))
    blob = shareable(proto.SerializeToString() + b"\xa2\x1f\x04" + np.float32(SECRET).tobytes())
    assert np.float32(SECRET).tobytes() not in blob
    kept = {item.name: item for item in ModelProto.FromString(blob).graph.node[0].attribute}
    assert (kept["axis"].i, list(kept["table"].floats)) == (1, [])


def test_of_attributes_only_settings_of_known_operators_stay() -> None:
    grams = {"weights": [SECRET], "pool_int64s": [SECRET_NUMBER], "ngram_counts": [SECRET_NUMBER]}
    conv = {
        "kernel_shape": [3, 3],
        "auto_pad": "SAME_UPPER",
        "group": 2,
        "learned": [SECRET],
        "by": SECRET_TEXT,
    }
    plugin = {"axis": 1, "axes": [SECRET_NUMBER], "mode": SECRET_TEXT, "scale": SECRET}
    proto = made(
        [
            helper.make_node(
                "TfIdfVectorizer", ["x"], ["t"], mode="TFIDF", pool_strings=[SECRET_TEXT], **grams
            ),
            helper.make_node("StringNormalizer", ["x"], ["n"], stopwords=[SECRET_TEXT], locale=SECRET_TEXT),
            helper.make_node("Conv", ["x", "w"], ["y"], **conv),
            helper.make_node(
                "FusedConv", ["x", "w"], ["z"], domain="com.microsoft", activation_params=[SECRET]
            ),
            helper.make_node("Plugin", [], ["p"], domain="trt.plugins", **plugin),
        ],
        [],
    )
    blob = shareable(proto.SerializeToString())
    assert_nothing_secret(blob)
    settings = {
        (node.op_type, attribute.name): helper.get_attribute_value(attribute)
        for node in ModelProto.FromString(blob).graph.node
        for attribute in node.attribute
    }
    assert settings["TfIdfVectorizer", "mode"] == b"TFIDF"
    assert settings["Conv", "kernel_shape"] == [3, 3]
    assert settings["Conv", "auto_pad"] == b"SAME_UPPER"
    assert (settings["Conv", "group"], settings["Plugin", "axis"]) == (2, 1)


def test_quantization_annotations_and_defaults_of_functions_go() -> None:
    proto = made([], [])
    annotation = proto.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value=SECRET_TEXT)
    defaults = [helper.make_attribute("to", SECRET_TEXT), helper.make_attribute("axes", [SECRET_NUMBER])]
    opsets = [helper.make_opsetid("", 20)]
    proto.functions.append(helper.make_function("d", "f", [], [], [], opsets, attribute_protos=defaults))
    assert_nothing_secret(shareable(proto.SerializeToString()))


def test_of_a_file_of_weights_its_name_and_place_stay() -> None:
    tensor = TensorProto(name="w", dims=[4], data_type=1, data_location=TensorProto.EXTERNAL)
    entries = {"location": "/home/ada/w.bin", "offset": "0", "length": "16", "note": "by ada"}
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    blob = shareable(made([], [tensor]).SerializeToString())
    left = ModelProto.FromString(blob).graph.initializer[0].external_data
    assert {entry.key: entry.value for entry in left} == {"location": "w.bin", "offset": "0", "length": "16"}


def test_what_is_no_model_is_not_handed_on() -> None:
    assert shareable(b"\xff\xff not a model") == b""
