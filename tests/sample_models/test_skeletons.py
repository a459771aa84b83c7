"""Every shipped skeleton: the graph of its card, weights that can be drawn, a signal that survives."""

from collections import Counter

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from sample_models import CARDS, FOLDER, SKELETONS
from sample_models.cards import read_card
from sample_models.catalogue import SKELETONS as ENTRIES
from sample_models.rehydrate import rehydrate
from sample_models.skeleton import load_skeleton, recipe_of
from tests.sample_models.feeds import feeds_for

NAMES = sorted(ENTRIES)
LEVELS = ("DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_LAYOUT", "ENABLE_ALL")
QUICK = {"mobilenetv2": LEVELS, "efficientnet-b0": LEVELS, "bert-base": ("ENABLE_ALL",)}
SMALLEST_NORMAL = np.finfo(np.float32).tiny
NEWEST_OPSET, NEWEST_IR = 26, 13  # that ORT 1.31 reads


def skeleton(name):
    return load_skeleton((SKELETONS / f"{name}.onnx.xz").read_bytes())


@pytest.fixture
def rehydrated(tmp_path):
    def make(name):
        return rehydrate((SKELETONS / f"{name}.onnx.xz").read_bytes(), tmp_path / f"{name}.onnx")[0]

    return make


def test_the_shipped_files_are_the_catalogue():
    assert sorted(path.name.removesuffix(".onnx.xz") for path in SKELETONS.iterdir()) == NAMES
    assert {path.stem for path in CARDS.iterdir()} >= set(NAMES)


def test_all_files_together_are_small():
    files = [path for path in FOLDER.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 15_000_000


@pytest.mark.parametrize("name", NAMES)
def test_the_graph_is_what_the_card_says(name):
    model, card = skeleton(name), read_card(CARDS / f"{name}.json")
    assert len(model.graph.node) == card.nodes
    assert {opset.domain: opset.version for opset in model.opset_import}[""] == card.opset <= NEWEST_OPSET
    assert model.ir_version == card.ir <= NEWEST_IR
    assert [port.name for port in card.inputs] == [value.name for value in model.graph.input]
    assert [port.name for port in card.outputs] == [value.name for value in model.graph.output]
    free = {extent for port in card.inputs for extent in port.shape if isinstance(extent, str)}
    assert free == set(dict(card.dims))


@pytest.mark.parametrize("name", NAMES)
def test_the_graph_is_a_valid_inference_graph(name):
    model = skeleton(name)
    assert not any(node.op_type == "Dropout" for node in model.graph.node)
    assert not any(node.doc_string for node in model.graph.node)
    assert max(Counter(node.name for node in model.graph.node).values()) == 1
    for tensor in list(model.graph.initializer):
        recipe = recipe_of(tensor)
        if recipe is not None:  # the checker would look for its file: to it, a weight is one more input
            assert recipe.shape == tuple(tensor.dims)
            assert np.isfinite([recipe.centre, recipe.scale]).all()
            info = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            model.graph.initializer.remove(tensor)
            model.graph.input.append(info)
    onnx.checker.check_model(onnx.shape_inference.infer_shapes(model, strict_mode=True))


@pytest.mark.parametrize("name", NAMES)
def test_no_path_of_the_exporting_machine_is_left(name):
    content = skeleton(name).SerializeToString()
    assert not any(
        part in content for part in (b"site-packages", b"/opt/", b"/home/", b"/tmp/", b".py:", b".py(")
    )


@pytest.mark.real
@pytest.mark.parametrize("name", QUICK)
def test_it_runs_with_finite_outputs(name, rehydrated):
    check_levels(rehydrated(name), name, QUICK[name])


@pytest.mark.real
@pytest.mark.parametrize("name", ["mobilenetv2", "efficientnet-b0"])
def test_the_signal_survives_the_depth(name, rehydrated):
    check_signal(rehydrated(name), name)


@pytest.mark.real
@pytest.mark.release
@pytest.mark.parametrize("name", NAMES)
def test_every_skeleton_at_every_level(name, rehydrated):
    path = rehydrated(name)
    check_levels(path, name, LEVELS)
    check_signal(path, name)


def check_levels(path, name, levels):
    """Finite outputs that depend on the input and not on the level."""
    feeds = feeds_for(read_card(CARDS / f"{name}.json"))
    first = None
    for level in levels:
        outputs = session(path, level).run(None, feeds)
        for output in outputs:
            assert np.isfinite(output).all()
            assert output.std() > 1e-3
        first = first or outputs
        for first_output, other in zip(first, outputs, strict=True):
            assert np.abs(first_output - other).max() <= 1e-3 * np.abs(first_output).max()


HIDDEN = 1e30
CARRIES_SIGNAL = {"MatMul", "Gemm", "Conv", "Relu", "Clip", "Softmax", "LayerNormalization", "Sigmoid"}


def check_signal(path, name):
    """No tensor in between is infinite, constant, denormal or out of all proportion."""
    model = onnx.load(path, load_external_data=False)
    probe = onnx.shape_inference.infer_shapes(model)
    outputs = {value.name for value in probe.graph.output}
    constants = {out for node in probe.graph.node if node.op_type == "Constant" for out in node.output}
    floats = [
        value
        for value in probe.graph.value_info
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
        and value.name not in outputs | constants
    ]
    model.graph.output.extend(floats)
    probed = path.with_name("probed.onnx")
    probed.write_bytes(model.SerializeToString())
    outputs = session(probed, "DISABLE_ALL").run(None, feeds_for(read_card(CARDS / f"{name}.json")))
    signals = {value.name: array for value, array in zip(model.graph.output, outputs, strict=True)}
    wide = {tensor: array for tensor, array in signals.items() if array.size >= 512 and array.ndim > 2}
    assert len(wide) > 40
    for tensor, array in signals.items():
        assert not np.isnan(array).any(), tensor
        tiny = (np.abs(array) < SMALLEST_NORMAL) & (array != 0)
        assert not tiny.any(), tensor
    maker = {out: node.op_type for node in model.graph.node for out in node.output}
    for tensor, array in wide.items():
        visible = array[np.abs(array) < HIDDEN]
        if not visible.any():  # an attention mask: zeros for what is seen, nearly minus infinity for the rest
            assert maker[tensor] not in CARRIES_SIGNAL, tensor
        else:
            assert 1e-5 < visible.std() < 1e4, tensor


def session(path, level):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, f"ORT_{level}")
    options.log_severity_level = 3
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
