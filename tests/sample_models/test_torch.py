"""Against torch itself: a fresh export is the skeleton's graph, a fresh training gives the card's score."""

from importlib import import_module

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from sample_models import CARDS, SKELETONS
from sample_models.cards import read_card
from sample_models.catalogue import SKELETONS as ENTRIES
from sample_models.skeleton import load_skeleton

pytestmark = [pytest.mark.torch, pytest.mark.slow]

WITHOUT = "the extra `torch` is not installed; `.ci/run all` has an environment for it"
SCRIPTS = {
    "digits-conv": "train_conv",
    "digits-vit": "train_vit",
    "digits-conv-qat": "train_qat",
    "char-gpt": "train_gpt",
}


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_a_fresh_export_has_the_skeletons_graph(name, tmp_path):
    pytest.importorskip("transformers", reason=WITHOUT)
    from sample_models.blueprints import fresh_export

    fresh, shipped = fresh_export(name, tmp_path), load_skeleton((SKELETONS / f"{name}.onnx.xz").read_bytes())
    assert [(n.op_type, n.name, tuple(n.input), tuple(n.output)) for n in fresh.graph.node] == [
        (n.op_type, n.name, tuple(n.input), tuple(n.output)) for n in shipped.graph.node
    ]
    for part in ("initializer", "input", "output", "value_info"):
        assert shapes(getattr(fresh.graph, part)) == shapes(getattr(shipped.graph, part))


@pytest.mark.parametrize("name", SCRIPTS)
def test_training_again_gives_the_score_within_a_point(name, tmp_path):
    pytest.importorskip("torch", reason=WITHOUT)
    from sample_models.training import score_of

    path = import_module(f"sample_models.{SCRIPTS[name]}").make(tmp_path)
    assert score_of(name, path) == pytest.approx(read_card(CARDS / f"{name}.json").score, abs=0.01)


def shapes(items):
    return [
        (item.name, item.data_type, tuple(item.dims))
        if hasattr(item, "data_type")
        else (item.name, item.type.SerializeToString(deterministic=True))
        for item in items
    ]


def test_a_layer_that_shares_its_weight_in_torch_takes_its_own_from_the_file(tmp_path):
    """GPT-2's last layer shares the embedding; the weights of a skeleton are made for each on its own."""
    torch = pytest.importorskip("torch", reason=WITHOUT)
    from sample_models.torch_module import filled

    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(5, 3)
            self.head = torch.nn.Linear(3, 5, bias=False)
            self.head.weight = self.embedding.weight

    embedding, head = np.eye(5, 3, dtype=np.float32), np.ones((3, 5), np.float32)
    nodes = [
        helper.make_node("Gather", ["embedding.weight", "token"], ["hidden"], "/embedding/Gather"),
        helper.make_node("MatMul", ["hidden", "head"], ["logits"], "/head/MatMul"),
    ]
    token = helper.make_tensor_value_info("token", TensorProto.INT64, [1])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 5])
    model = helper.make_model(helper.make_graph(nodes, "tied", [token], [logits]))
    model.graph.initializer.extend(
        [numpy_helper.from_array(embedding, "embedding.weight"), numpy_helper.from_array(head, "head")]
    )
    onnx.save(model, path := tmp_path / "tied.onnx")
    module = filled(Tied(), str(path))
    assert module.embedding.weight.tolist() == embedding.tolist()
    assert module.head.weight.tolist() == head.T.tolist()
