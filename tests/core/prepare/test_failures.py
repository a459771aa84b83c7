"""What fails in ORT's own tools, each with a model that shows it, and the way round or the refusal."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.core.worker.harness import interpreter

pytestmark = pytest.mark.real
FLOAT = TensorProto.FLOAT
RNG = np.random.default_rng(0)


def weight(name: str, *dims: int, scale: float = 0.3) -> TensorProto:
    return numpy_helper.from_array((RNG.standard_normal(dims) * scale).astype(np.float32), name)


# Symbolic shape inference does not know CDist.
UNKNOWN_SHAPES = (
    [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="first"),
        helper.make_node("CDist", ["h", "v"], ["d"], name="odd", domain="com.microsoft", metric="euclidean"),
        helper.make_node("MatMul", ["d", "u"], ["y"], name="last"),
    ],
    [weight("w", 8, 16), weight("v", 4, 16), weight("u", 4, 3)],
    ["n", 8],
    ["n", 3],
)


def save(
    folder: Path, nodes: list[Any], weights: list[Any], dims: list[Any], out: list[Any], infos: Any = (), *,
    opset: int = 17, inputs: tuple[Any, ...] = (),
) -> Path:  # fmt: skip
    """Write a model from x to y, and perhaps further inputs."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", FLOAT, dims), *inputs],
        [helper.make_tensor_value_info("y", FLOAT, out)],
        weights,
        value_info=list(infos),
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
    return path


def agree(path: Path, config: wb.Config, least: float = 20.0) -> wb.Prepared:
    """Prepared, run by plain ORT, and near enough to the original."""
    import onnxruntime as ort

    model = wb.load(path)
    feed = dict(model.inputs(seed=3).feeds[0])
    static = isinstance(config.precision, wb.StaticInt8)
    prepared = wb.prepare(model, config, calibration=[feed] if static else None)
    sessions = [
        ort.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        for file in (path, prepared.model.path)
    ]
    ours, theirs = (session.run(None, feed)[0] for session in sessions)
    noise = float(np.square(ours - theirs).sum())
    assert noise <= float(np.square(ours).sum()) * 10 ** (-least / 10)
    return prepared


def test_symbolic_shapes_of_an_operator_that_they_do_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onnxruntime.quantization.shape_inference import quant_pre_process

    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    path = save(tmp_path, *UNKNOWN_SHAPES)
    prepared = agree(path, wb.Config(precision=wb.DynamicInt8()))
    assert "without symbolic shape inference" in prepared.notes[0]
    with pytest.raises(wb.PrepareError, match="types that it does not take"):
        wb.prepare(path, wb.Config(precision=wb.Float16()))
    assert list(here.iterdir()) == [], "nothing is left in the folder of the user"
    with pytest.raises(Exception, match="Incomplete symbolic shape inference"):
        quant_pre_process(str(path), str(tmp_path / "out.onnx"), auto_merge=True)
    assert Path("sym_shape_infer_temp.onnx").exists(), "which ORT itself leaves there"


def test_shapes_that_an_exporter_wrote_wrongly(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="first", transB=1),
        helper.make_node("Relu", ["h"], ["r"], name="relu"),
        helper.make_node("MatMul", ["r", "v"], ["y"], name="last"),
    ]
    wrong = helper.make_tensor_value_info("r", FLOAT, [3, 99])
    path = save(
        tmp_path,
        nodes,
        [weight("w", 16, 8), weight("b", 16), weight("v", 16, 3)],
        ["n", 8],
        ["n", 3],
        [wrong],
    )
    agree(path, wb.Config(precision=wb.DynamicInt8()))


@pytest.mark.parametrize("calibrator", ["entropy", "percentile", "distribution"])
def test_a_tensor_whose_values_are_all_but_equal(tmp_path: Path, calibrator: Any) -> None:
    tiny = numpy_helper.from_array(np.array(1e-44, np.float32), "tiny")
    nodes = [
        helper.make_node("Mul", ["x", "tiny"], ["flat"], name="flat"),
        helper.make_node("Add", ["x", "flat"], ["s"], name="sum"),
        helper.make_node("MatMul", ["s", "w"], ["y"], name="last"),
    ]
    path = save(tmp_path, nodes, [tiny, weight("w", 8, 3)], ["n", 8], ["n", 3])
    prepared = wb.prepare(
        path, wb.Config(precision=wb.StaticInt8(calibrator=calibrator)), calibration="random"
    )
    assert dict(prepared.steps[2].statistics)["QuantizeLinear"] > 0


@pytest.mark.parametrize("form", ["qdq", "qoperator"])
def test_a_bias_behind_an_identity(tmp_path: Path, form: Any) -> None:
    from onnxruntime.quantization import QuantFormat, quantize_static
    from onnxruntime.quantization.calibrate import CalibrationDataReader

    nodes = [
        helper.make_node("Identity", ["b"], ["shared"], name="share"),
        helper.make_node("Conv", ["x", "w", "shared"], ["c"], name="conv", kernel_shape=[3, 3]),
        helper.make_node("Relu", ["c"], ["y"], name="relu"),
    ]
    path = save(tmp_path, nodes, [weight("b", 4), weight("w", 4, 3, 3, 3)], [1, 3, 12, 12], [1, 4, 10, 10])
    if form == "qoperator":

        class One(CalibrationDataReader):  # type: ignore[misc]
            def __init__(self) -> None:
                self.left = [{"x": np.zeros((1, 3, 12, 12), np.float32)}]

            def get_next(self) -> Any:
                return self.left.pop() if self.left else None

        with pytest.raises(AttributeError):
            quantize_static(str(path), str(tmp_path / "o.onnx"), One(), quant_format=QuantFormat.QOperator)
    made = dict(agree(path, wb.Config(precision=wb.StaticInt8(format=form))).steps[2].statistics)
    assert made.get("QLinearConv") == 1 or made["DequantizeLinear"] >= 3  # input, weight and bias


def test_weights_whose_rows_are_no_multiple_of_a_block(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="one")]
    path = save(tmp_path, nodes, [weight("w", 100, 36)], ["n", 100], ["n", 36])
    for bits, algorithm, least in (
        (2, "rounding", 5),
        (4, "rounding", 15),
        (4, "k_quant", 15),
        (8, "rounding", 15),
    ):
        agree(path, wb.Config(precision=wb.WeightOnly(bits=bits, algorithm=algorithm)), least=least)


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is installed")
def test_an_algorithm_that_needs_pytorch_says_so(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="one")]
    path = save(tmp_path, nodes, [weight("w", 64, 64)], ["n", 64], ["n", 64])
    with pytest.raises(wb.WorkbenchError, match="hqq needs torch"):
        wb.prepare(path, wb.Config(precision=wb.WeightOnly(algorithm="hqq")))


def test_float16_after_a_fusion_of_ort_s_own_operators() -> None:
    both = wb.Config(fusion=wb.TransformerFusion(), precision=wb.Float16())
    prepared = wb.prepare("digits-vit", both)
    assert dict(prepared.steps[0].statistics)["SkipLayerNormalization"] == 8


def test_int8_after_a_fusion_of_ort_s_own_operators() -> None:
    both = wb.Config(fusion=wb.TransformerFusion(), precision=wb.DynamicInt8())
    assert dict(wb.prepare("digits-vit", both).steps[2].statistics)["MatMulInteger"] > 10


@pytest.mark.parametrize("blocked", [(), ("CDist",)])
def test_float16_around_an_operator_without_it_is_refused(tmp_path: Path, blocked: tuple[str, ...]) -> None:
    far = helper.make_node("CDist", ["h", "w"], ["y"], name="far", domain="com.microsoft")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="one"), far]
    path = save(tmp_path, nodes, [weight("w", 8, 8)], [4, 8], [4, 8])
    with pytest.raises(wb.PrepareError, match=r"would not load: Type Error.*CDist") as caught:
        wb.prepare(path, wb.Config(precision=wb.Float16(blocked_ops=blocked)))
    assert "another precision" in caught.value.fix


def test_bfloat16_is_refused_with_the_reason() -> None:
    with pytest.raises(wb.ConfigError, match="no converter to bfloat16") as caught:
        wb.Config(precision="bfloat16")
    assert "wb.Float16()" in caught.value.fix


def test_the_optimizer_s_own_error_becomes_a_reason() -> None:
    from workbench.core.config import TransformerFusion
    from workbench.core.prepare.transformer_fusion import transformer_fusion

    step = transformer_fusion(TransformerFusion(), wb.Config())
    explanation = step.explain("IndexError: list index out of range")
    assert explanation is not None
    assert "Gemm" in explanation[0]
    assert step.explain("something else") is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"num_heads": 12, "hidden_size": 768},
            "you gave 12 heads and hidden size 768, the graph has 4 heads and hidden size 96",
        ),
        ({"num_heads": 6}, "you gave 6 heads, the graph has 4 heads"),
    ],
)
def test_heads_that_the_graph_does_not_have_are_named(given: dict[str, int], words: str) -> None:
    prepared = wb.prepare("digits-vit", wb.Config(fusion=wb.TransformerFusion(**given)))
    assert prepared.notes == (f"no attention was fused: {words}",)


def test_heads_that_do_not_divide_the_width_are_refused_with_the_way_out() -> None:
    with pytest.raises(
        wb.PrepareError, match="5 heads: the number does not divide the hidden size 96"
    ) as caught:
        wb.prepare("digits-vit", wb.Config(fusion=wb.TransformerFusion(num_heads=5)))
    assert "leave num_heads" in caught.value.fix


def test_a_width_without_heads_fuses_what_needs_none(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("LayerNormalization", ["x", "scale", "bias"], ["n"], name="norm"),
        helper.make_node("MatMul", ["n", "w"], ["p"], name="product"),
        helper.make_node("Add", ["p", "b"], ["a"], name="add"),
        helper.make_node("Gelu", ["a"], ["y"], name="gelu", domain="com.microsoft"),
    ]
    weights = [weight("scale", 8), weight("bias", 8), weight("w", 8, 8), weight("b", 8)]
    path = save(tmp_path, nodes, weights, ["n", 3, 8], ["n", 3, 8])
    prepared = wb.prepare(path, wb.Config(fusion=wb.TransformerFusion(model_type="bert")))
    assert prepared.steps[0].did.startswith("1 BiasGelu, 1 LayerNormalization; 4 nodes became 3")


def test_an_output_that_is_a_weight_is_refused_with_the_way_out(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["r"], name="relu")]
    path = save(tmp_path, nodes, [weight("y", 4, 4)], ["n", 4], [4, 4])
    with pytest.raises(wb.PrepareError, match="one of its inputs or weights") as caught:
        wb.prepare(path, wb.Config(precision=wb.Float16()))
    assert "without that output" in caught.value.fix


def test_dynamic_int8_leaves_the_attention_of_onnx_as_it_is(tmp_path: Path) -> None:
    nodes = [
        *(helper.make_node("MatMul", ["x", name], [f"{name}x"], name=name) for name in "qkv"),
        helper.make_node("Attention", ["qx", "kx", "vx"], ["y"], name="a", q_num_heads=2, kv_num_heads=2),
    ]
    path = save(tmp_path, nodes, [weight(name, 8, 8) for name in "qkv"], [1, 3, 8], [1, 3, 8])
    model = onnx.load(path)
    model.opset_import[0].version, model.ir_version = 23, 11
    onnx.save(model, path)
    prepared = agree(path, wb.Config(precision=wb.DynamicInt8()))
    assert dict(prepared.steps[-1].statistics)["MatMulInteger"] == 3


def test_nothing_to_do_is_refused_with_the_reason(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="relu")]
    path = save(tmp_path, nodes, [], ["n", 4], ["n", 4])
    for precision in (wb.DynamicInt8(), wb.WeightOnly()):
        with pytest.raises(wb.PrepareError, match="no node became integer"):
            wb.prepare(path, wb.Config(precision=precision))
    with pytest.raises(wb.PrepareError, match="no attention"):
        wb.prepare(path, wb.Config(fusion=wb.TransformerFusion()))


def test_excluded_nodes_are_found_under_their_later_names() -> None:
    model = wb.load("digits-conv")
    convolutions = [node.name for node in model.structure.graph.node if node.op_type == "Conv"]
    whole = wb.prepare(model, wb.Config(precision=wb.DynamicInt8()))
    kept = wb.prepare(model, wb.Config(precision=wb.DynamicInt8(exclude=convolutions[:2])))
    counts = [dict(prepared.steps[1].statistics)["ConvInteger"] for prepared in (whole, kept)]
    assert counts[0] - counts[1] == 2
    with pytest.raises(wb.PrepareError, match="no node of this model") as caught:
        wb.prepare(model, wb.Config(precision=wb.DynamicInt8(exclude=[convolutions[0] + "x"])))
    assert convolutions[0] in caught.value.fix


def test_nodes_without_names_are_quantized_apart(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("MatMul", ["h", "v"], ["y"]),
    ]
    path = save(tmp_path, nodes, [weight("w", 8, 16), weight("v", 16, 3)], ["n", 8], ["n", 3])
    agree(path, wb.Config(precision=wb.DynamicInt8()))
    prepared = agree(path, wb.Config(precision=wb.DynamicInt8(exclude=["MatMul_0"])))
    assert dict(prepared.steps[1].statistics)["MatMulInteger"] == 1


@pytest.mark.parametrize("reader", ["Add", "Gemm"])
def test_a_bias_that_several_nodes_share_in_the_form_of_integer_operators(
    tmp_path: Path, reader: str
) -> None:
    """Shared with an Add: ORT refused the file. Shared with a Gemm: the bias had the scales of the other."""
    first = {
        "Add": helper.make_node("Add", ["x", "b"], ["h"], name="first"),
        "Gemm": helper.make_node("Gemm", ["x", "v", "b"], ["h"], name="first", transB=1),
    }[reader]
    last = helper.make_node("Gemm", ["h", "w", "b"], ["y"], name="last", transB=1)
    random = np.random.default_rng(0)
    values = {name: random.normal(size=size) for name, size in (("b", 8), ("w", (8, 8)), ("v", (8, 8)))}
    values["v"] *= 0.01  # so that the two products have scales of their own
    constants = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in values.items()]
    path = save(tmp_path, [first, last], constants[: 3 if reader == "Gemm" else 2], ["n", 8], ["n", 8])
    agree(path, wb.Config(precision=wb.StaticInt8(format="qoperator")), least=25.0)


def test_symbolic_shapes_are_not_inferred_where_ort_knows_every_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their formulas of two nested Resize with open sizes take seconds each."""
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    from workbench.core.worker.preparing import conversions, plain

    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
        helper.make_node("Resize", ["c", "", "scales"], ["y"], name="resize", mode="nearest"),
    ]
    scales = numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")
    open_sizes = ["n", 3, "h", "w"]
    path = save(tmp_path, nodes, [weight("w", 4, 3, 1, 1), scales], open_sizes, ["n", 4, "high", "wide"])
    asked: list[object] = []
    monkeypatch.setattr(SymbolicShapeInference, "infer_shapes", lambda *given: asked.append(given))
    assert plain.preprocess(str(path), str(tmp_path / "out.onnx"))["notes"] == []
    assert asked == []
    assert conversions.has_shapes(str(tmp_path / "out.onnx"))


@pytest.mark.parametrize("precision", [wb.DynamicInt8, wb.StaticInt8], ids=["dynamic", "static"])
def test_an_excluded_node_that_is_folded_away_is_said(tmp_path: Path, precision: Any) -> None:
    nodes = [
        helper.make_node("Transpose", ["w"], ["turned"], name="turn"),
        helper.make_node("MatMul", ["x", "turned"], ["h"], name="first"),
        helper.make_node("MatMul", ["h", "v"], ["y"], name="last"),
    ]
    path = save(tmp_path, nodes, [weight("w", 16, 8), weight("v", 16, 3)], ["n", 8], ["n", 3])
    prepared = agree(path, wb.Config(precision=precision(exclude=("turn", "last"))))
    (note,) = [note for note in prepared.notes if "turn" in note]
    assert note == "not left in float by name: pre-processing folded 'turn' into others or away"
    assert prepared.asked.precision.exclude == ("last",)
    with pytest.raises(wb.PrepareError, match="'trun', which is no node"):
        wb.prepare(path, wb.Config(precision=precision(exclude=("trun",))))


def test_an_environment_without_onnx_cannot_save_a_graph_and_says_how_to(tmp_path: Path) -> None:
    (tmp_path / "onnx.py").write_text("raise ModuleNotFoundError(\"No module named 'onnx'\")\n")
    python = interpreter(tmp_path, f'PYTHONPATH="{tmp_path}" exec "$PYTHON" "$@"')
    with pytest.raises(wb.PrepareError, match="lacks onnx") as caught:
        wb.prepare("digits-conv", wb.Config(saved_graph="ort", runtime=python))
    assert f"{python} -m pip install onnx" in caught.value.fix


@pytest.mark.parametrize("as_node", [True, False])
def test_a_weight_beyond_float16_keeps_its_node_in_float32(tmp_path: Path, as_node: bool) -> None:
    """A text detector has a variance of 97,903,600, which the converter would cut to 65,504."""
    variance = numpy_helper.from_array(np.array([1e8, 4.0, 1.0, 1.0], np.float32), "variance")
    constant = helper.make_node("Constant", [], ["variance"], name="of variance", value=variance)
    weights = [weight("scale", 4), weight("shift", 4), weight("mean", 4)]
    product = helper.make_node("MatMul", ["x", "w"], ["h"], name="product")
    norm = helper.make_node("BatchNormalization", ["h", "scale", "shift", "mean", "variance"], ["y"])
    nodes = [*([constant] if as_node else []), product, norm]
    weights += [weight("w", 8, 4), *([] if as_node else [variance])]
    path = save(tmp_path, nodes, weights, [4, 8], [4, 4])
    prepared = agree(path, wb.Config(precision=wb.Float16()), least=50)
    assert "'BatchNormalization_of_y' in float32: it reads weights above 65,504" in prepared.notes[0]


def test_a_mask_of_large_numbers_is_cut_in_float16(tmp_path: Path) -> None:
    mask = numpy_helper.from_array(np.array([0, -1e9, 0, 1e38], np.float32), "mask")
    nodes = [helper.make_node("Add", ["x", "mask"], ["y"], name="masked")]
    path = save(tmp_path, nodes, [mask], ["n", 4], ["n", 4])
    assert not any("float32: it reads" in note for note in prepared_notes(path))


def prepared_notes(path: Path) -> tuple[str, ...]:
    return wb.prepare(path, wb.Config(precision=wb.Float16())).notes
