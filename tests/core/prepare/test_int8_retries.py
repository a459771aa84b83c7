"""Static int8 of graphs on which ORT's quantizer fails: the retry that works, or the reason."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.core.prepare.test_failures import save
from workbench.core.worker.preparing import retries

pytestmark = pytest.mark.real
FLOAT = TensorProto.FLOAT
FORMATS = ("qdq", "qoperator")


def constant(name: str, *dims: int, scale: Any = 0.3) -> TensorProto:
    random = np.random.default_rng(sum(map(ord, name)))
    return numpy_helper.from_array((random.standard_normal(dims) * scale).astype(np.float32), name)


def session(path: Path) -> Any:
    import onnxruntime as ort

    return ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def sqnr_db(path: Path, prepared: Path, feeds: list[dict[str, Any]]) -> float:
    """Return the SQNR of a prepared file, run by plain ORT."""
    ours, theirs = (
        np.concatenate([session(file).run(None, feed)[0].ravel() for feed in feeds])
        for file in (path, prepared)
    )
    return float(10 * np.log10(np.square(ours).sum() / max(np.square(ours - theirs).sum(), 1e-30)))


def examples(path: Path, count: int = 8) -> list[dict[str, Any]]:
    return [dict(wb.load(path).inputs(seed=seed).feeds[0]) for seed in range(count)]


def quantized(path: Path, least_db: float = 20.0, **fields: Any) -> wb.Prepared:
    """Prepare static int8, and check the outputs of the file."""
    feeds = examples(path)
    prepared = wb.prepare(path, wb.Config(precision=wb.StaticInt8(**fields)), calibration=feeds)
    assert sqnr_db(path, prepared.model.path, feeds) >= least_db
    return prepared


def run_script(prepared: wb.Prepared, folder: Path) -> Path:
    """Run the exported script; return the model file that it made."""
    prepared.export(folder)
    process = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr[-3000:]
    (made,) = folder.glob("*-prepared/int8/model.onnx")
    return made


def old_convolutions(folder: Path, opset: int = 11) -> Path:
    """Write two convolutions with a Squeeze, whose form differs in opset 13."""
    weights = [constant("w", 8, 3, 3, 3), constant("v", 4, 8, 1, 1)]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="first"),
        helper.make_node("Squeeze", ["x"], ["s"], name="unused", axes=[0]),
        helper.make_node("Conv", ["c", "v"], ["d"], name="second"),
        helper.make_node("ReduceMean", ["s"], ["m"], name="mean"),
        helper.make_node("Add", ["d", "m"], ["y"], name="sum"),
    ]
    return save(folder, nodes, weights, [1, 3, 10, 10], [1, 4, 8, 8], opset=opset)


@pytest.mark.parametrize("opset", [11, 12])
def test_an_old_opset_is_converted_so_that_each_channel_keeps_its_scale(tmp_path: Path, opset: int) -> None:
    prepared = quantized(old_convolutions(tmp_path, opset), op_types=["Conv"])
    assert [step.name for step in prepared.steps][1] == "opset"
    assert f"opset {opset} became 13" in prepared.steps[1].did
    assert "the same outputs" in prepared.steps[1].did
    assert "a scale for each channel" in prepared.steps[-1].did
    constants = {tensor.name: tensor for tensor in onnx.load(str(prepared.model.path)).graph.initializer}
    assert list(constants["w_scale"].dims) == [8]
    feeds = examples(prepared.source)
    assert sqnr_db(prepared.source, run_script(prepared, tmp_path / "out"), feeds) >= 20.0


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_a_bias_with_an_axis_more(tmp_path: Path, form: Any) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], name="product"),
        helper.make_node("Add", ["m", "b"], ["y"], name="sum"),
    ]
    weights = [constant("w", 16, 6, scale=np.geomspace(0.01, 3, 6)), constant("b", 1, 6)]
    prepared = quantized(save(tmp_path, nodes, weights, ["n", 16], ["n", 6]), format=form)
    made = dict(prepared.steps[-1].statistics)
    assert made.get("QGemm") == 1 or made["DequantizeLinear"] >= 4  # input, weight, bias, output
    assert sqnr_db(prepared.source, run_script(prepared, tmp_path / "out"), examples(prepared.source)) >= 20


@pytest.mark.slow
def test_an_old_opset_that_is_converted_wrongly_gets_one_scale_for_each_tensor(tmp_path: Path) -> None:
    """ONNX's converter takes the axis of a Hardmax as it is, which means another thing in opset 13."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
        helper.make_node("Hardmax", ["c"], ["y"], name="hard", axis=1),
    ]
    path = save(tmp_path, nodes, [constant("w", 4, 3, 3, 3)], [1, 3, 8, 8], [1, 4, 6, 6], opset=11)
    prepared = quantized(path, 10.0)
    assert "differs after the conversion" in prepared.steps[1].notes[0]
    assert prepared.steps[1].did == "opset 11 stays"
    assert any(note.startswith("one scale for each tensor") for note in prepared.notes)
    assert "per_channel=False" in prepared.to_python()


@pytest.mark.slow
def test_a_tensor_without_a_range_stays_in_float(tmp_path: Path) -> None:
    """ORT measures no range for an operator that it quantizes only if asked to."""
    nodes = [
        helper.make_node("Sin", ["x"], ["s"], name="sine"),
        helper.make_node("ReduceMax", ["s"], ["m"], name="most", axes=[1], keepdims=1),
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Mul", ["c", "m"], ["y"], name="last"),
    ]
    path = save(tmp_path, nodes, [constant("w", 4, 3, 3, 3)], [1, 3, 8, 8], [1, 4, 8, 8])
    prepared = quantized(path, op_types=["Conv", "ReduceMax"])
    assert "'most' in float: its range is not known" in prepared.steps[-1].did
    assert prepared.asked.precision.exclude == ("most",)
    assert "exclude=['most']" in prepared.to_python()


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_a_tensor_whose_type_nobody_knows(tmp_path: Path, form: Any) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="first"),
        helper.make_node("BiasGelu", ["h", "b"], ["g"], name="odd", domain="com.microsoft"),
        helper.make_node("MatMul", ["g", "v"], ["y"], name="last"),
    ]
    weights = [constant("w", 8, 16), constant("b", 16), constant("v", 16, 3)]
    quantized(save(tmp_path, nodes, weights, ["n", 8], ["n", 3]), format=form)


def branches(folder: Path, *inside: Any, before: tuple[Any, ...] = ()) -> Path:
    """Write a model whose If has `inside` in both of its bodies."""
    flag = helper.make_tensor_value_info("flag", TensorProto.BOOL, [])
    bodies = []
    for at in range(2):
        own = [onnx.NodeProto.FromString(node.SerializeToString()) for node in inside]
        for node in own:
            node.name += f"_{at}"
            for at_output, output in enumerate(node.output):
                if output == "out":
                    node.output[at_output] = f"out_{at}"
        out = helper.make_tensor_value_info(f"out_{at}", FLOAT, None)
        bodies.append(helper.make_graph(own, f"body_{at}", [], [out]))
    branch = {"then_branch": bodies[0], "else_branch": bodies[1]}
    nodes = [*before, helper.make_node("If", ["flag"], ["y"], name="choice", **branch)]
    weights = [constant("w", 4, 3, 3, 3), constant("v", 8, 8)]
    return save(folder, nodes, weights, [1, 3, 8, 8], [1, None, None, None], inputs=(flag,))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_a_relu_that_the_body_of_an_if_reads(tmp_path: Path, form: Any) -> None:
    before = (
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
    )
    path = branches(tmp_path, helper.make_node("Neg", ["r"], ["out"], name="inside"), before=before)
    prepared = quantized(path, format=form)
    assert any("relu" in note for note in prepared.notes)


@pytest.mark.slow
@pytest.mark.parametrize("precision", [wb.StaticInt8(), wb.StaticInt8(format="qoperator"), wb.DynamicInt8()])
def test_operators_that_are_all_in_bodies_are_refused_by_name(tmp_path: Path, precision: Any) -> None:
    path = branches(tmp_path, helper.make_node("Conv", ["x", "w"], ["out"], name="inside"))
    calibration = None if isinstance(precision, wb.DynamicInt8) else examples(path)
    with pytest.raises(wb.PrepareError, match=r"2 Conv.*bodies of .?choice") as caught:
        wb.prepare(path, wb.Config(precision=precision), calibration=calibration)
    assert "without If" in caught.value.fix


def test_operators_of_bodies_that_stay_in_float_are_named(tmp_path: Path) -> None:
    before = (helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),)
    path = branches(tmp_path, helper.make_node("MatMul", ["c", "v"], ["out"], name="inside"), before=before)
    prepared = quantized(path)
    assert any("2 MatMul" in note and "choice" in note for note in prepared.notes)


def test_unknown_failures_are_tried_with_one_scale_and_in_the_other_form_before_they_are_refused() -> None:
    model = onnx.load(str(wb.load("digits-conv").path))
    asked = {"format": "qdq", "per_channel": True, "activation": "uint8", "exclude": []}
    error, settings, changes = RuntimeError("boom"), asked, []
    while change := retries.after(error, model, settings, asked):
        settings = change.settings
        changes.append(change)
    assert [change.setting for change in changes] == ["per_channel", "format", "per_channel"]
    assert settings == {**asked, "format": "qoperator", "per_channel": False}
    refusal = retries.refused(error, changes)
    assert "boom" in refusal.problem
    assert "integer operators in the file" in refusal.problem
    assert "exclude=" in refusal.fix


def test_a_full_disk_is_no_failure_of_the_quantizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.core.worker.preparing import static

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(static, "quantize_calibrated", full)
    asked = {"format": "qdq", "per_channel": True, "activation": "uint8", "exclude": []}
    with pytest.raises(OSError, match="space"):
        static.run(str(wb.load("digits-conv").path), str(tmp_path / "model.onnx"), "", **asked)


def test_a_node_that_ort_refuses_as_integers_stays_in_float() -> None:
    model = onnx.load(str(wb.load("digits-conv").path))
    name = next(node.name for node in model.graph.node if node.op_type == "Conv")
    error = RuntimeError(
        f"Could not find an implementation for QLinearConv(10) node with name '{name}_quant'"
    )
    asked = {"format": "qoperator", "per_channel": True, "activation": "uint8", "exclude": []}
    change = retries.after(error, model, asked, asked)
    assert change is not None
    assert change.settings["exclude"] == [name]
