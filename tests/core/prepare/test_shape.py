"""Kind, heads and width of every shipped architecture, read from the graph alone."""

from __future__ import annotations

import onnx
import pytest

from sample_models import SKELETONS
from sample_models.packed_weights import load_trained, packed_path
from sample_models.skeleton import load_skeleton
from workbench.core.prepare.shape import transformer_shape

EXPECTED = {
    "bert-base": ("bert", 12, 768),
    "bert-base-dynamo": ("bert", 12, 768),
    "bert-base-sdpa": ("bert", 12, 768),
    "distilbert": ("bert", 12, 768),
    "gpt2": ("gpt2", 12, 768),
    "gpt2-dynamo": ("gpt2", 12, 768),
    "llama-small": ("gpt2", 12, 768),
    "vit-base": ("vit", 12, 768),
    "whisper-small-encoder": ("bart", 12, 768),
    "resnet50": (None, None, None),
    "yolov5s": (None, None, None),
    "digits-vit": ("vit", 4, 96),
    "char-gpt": ("gpt2", 4, 128),
    "digits-conv": (None, None, None),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_transformer_is_known_by_its_graph(name: str) -> None:
    if packed_path(name).exists():
        model = load_trained(name)
    else:
        model = load_skeleton((SKELETONS / f"{name}.onnx.xz").read_bytes())
    shape = transformer_shape(model)
    assert (shape.model_type, shape.num_heads, shape.hidden_size) == EXPECTED[name]
    assert len(shape.why) == sum(part is not None for part in EXPECTED[name])


def test_a_reshape_by_an_attribute_tells_no_heads() -> None:
    nodes = [
        onnx.helper.make_node("Reshape", ["x"], ["r"], shape=[1, 4, 2, 8]),
        onnx.helper.make_node("Transpose", ["r"], ["t"], perm=[0, 2, 1, 3]),
        onnx.helper.make_node("Softmax", ["t"], ["y"]),
    ]
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in "xy"]
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "old", ends[:1], ends[1:]))
    assert transformer_shape(model).num_heads is None


def test_functions_of_the_file_tell_no_shape() -> None:
    model = load_skeleton((SKELETONS / "bert-base.onnx.xz").read_bytes())
    known = transformer_shape(model)
    body = [onnx.helper.make_node("Relu", ["a"], ["b"])]
    opsets = [onnx.helper.make_opsetid("", 17)]
    model.functions.append(onnx.helper.make_function("own", "f", ["a"], ["b"], body, opsets))
    assert transformer_shape(model) == known
