"""The printed script does what the workbench does, with plain onnxruntime."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import workbench as wb
from sample_models.evaluation import read_calibration_set
from tests.core.models import tiny
from tests.core.prepare.test_failures import UNKNOWN_SHAPES, save, weight
from workbench.core.models.samples import sample_path
from workbench.core.prepare.runnable import cast_feeds

RUN = """
import runpy, sys, numpy as np
script, feeds, out = sys.argv[1:]
names = runpy.run_path(script)
assert not any(name.partition(".")[0] == "workbench" for name in sys.modules)
results = names["run"](dict(np.load(feeds)))
np.savez(out, *results)
"""
CONFIGS = {
    "dynamic": ("digits-vit", wb.Config(precision=wb.DynamicInt8(per_channel=True))),
    "static": ("digits-conv", wb.Config(precision=wb.StaticInt8(samples=12), level="extended")),
    "percentile": (
        "digits-vit",
        wb.Config(precision=wb.StaticInt8(samples=5, calibrator="percentile", percentile=99.0)),
    ),
    "qoperator": ("char-gpt", wb.Config(precision=wb.StaticInt8(samples=6, format="qoperator"))),
    "weights": ("char-gpt", wb.Config(precision=wb.WeightOnly(bits=8, symmetric=False))),
    "k-quant": ("char-gpt", wb.Config(precision=wb.WeightOnly(algorithm="k_quant"))),
    "float16": ("digits-vit", wb.Config(precision=wb.Float16(blocked_ops=["Softmax"]))),
    "fused": ("digits-vit", wb.Config(fusion=wb.TransformerFusion(), precision=wb.DynamicInt8())),
    "saved": ("digits-conv", wb.Config(saved_graph="onnx", level="layout", free_dimensions={"batch": 1})),
    "ort": ("digits-conv", wb.Config(saved_graph="ort", precision=wb.StaticInt8(samples=3))),
    "fused weights": ("digits-vit", wb.Config(fusion=wb.TransformerFusion(), precision=wb.WeightOnly())),
    "half outputs": ("char-gpt", wb.Config(precision=wb.Float16(keep_io=False))),
}
QUICK = ("dynamic", "static", "weights", "float16", "saved", "ort")
LEFT_OUT = [wb.DynamicInt8(exclude=["fc"]), wb.StaticInt8(exclude=["fc"]), wb.WeightOnly(exclude=["fc"])]


@pytest.mark.real
@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.release) for name in CONFIGS],
)
def test_the_script_makes_the_same(name: str, tmp_path: Path) -> None:
    sample, config = CONFIGS[name]
    shutil.copy(sample_path(sample), tmp_path / "model.onnx")
    calibration = read_calibration_set(sample)
    few = {key: array[: getattr(config.precision, "samples", 1)] for key, array in calibration.feeds.items()}
    np.savez(tmp_path / "calibration.npz", **few)
    feed = {key: array[-1:] for key, array in calibration.feeds.items()}
    prepared = wb.prepare(tmp_path / "model.onnx", config, calibration=few)
    run_the_script(prepared, feed, tmp_path)


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("precision", LEFT_OUT, ids=lambda precision: precision.LABEL)
def test_nodes_to_leave_out_have_the_names_that_the_quantizer_sees(precision: Any, tmp_path: Path) -> None:
    """Pre-processing makes one Gemm of fc and its Add, and ORT ignores a name that it does not know."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="fc"),
        helper.make_node("Add", ["h", "b"], ["a"], name="bias"),
        helper.make_node("MatMul", ["a", "v"], ["y"], name="last"),
    ]
    weights = [weight("w", 64, 64), weight("b", 64), weight("v", 64, 32)]
    path = save(tmp_path, nodes, weights, ["n", 64], ["n", 32])
    feed = {"x": np.linspace(-1, 1, 64, dtype=np.float32)[None]}
    np.savez(tmp_path / "calibration.npz", **feed)
    prepared = wb.prepare(path, wb.Config(precision=precision), calibration=[feed])
    run_the_script(prepared, feed, tmp_path)


@pytest.mark.real
def test_a_sample_in_the_place_of_the_model_is_named_by_its_file(tmp_path: Path) -> None:
    config = wb.Config(precision=wb.PreparedModel("digits-conv-qat"))
    assert "# The name of a sample is no file" in config.to_python("model.onnx")
    feed = {"pixels": np.ones((1, 1, 64, 64), np.float32)}
    run_the_script(wb.prepare("digits-conv", config), feed, tmp_path)


@pytest.mark.slow
@pytest.mark.real
def test_where_symbolic_shapes_fail_nothing_is_left_behind(tmp_path: Path) -> None:
    path = save(tmp_path, *UNKNOWN_SHAPES)
    prepared = wb.prepare(path, wb.Config(precision=wb.DynamicInt8()))
    run_the_script(prepared, {"x": np.ones((2, 8), np.float32)}, tmp_path)


def run_the_script(prepared: wb.Prepared, feed: dict[str, Any], folder: Path) -> None:
    """It gives what the prepared file gives, and leaves no file but those that it names."""
    feed = {name: _as_taken(value, name, prepared.model) for name, value in feed.items()}
    np.savez(folder / "feeds.npz", **feed)
    script = folder / "script.py"
    script.write_text(prepared.to_python(), "utf-8")
    known = set(folder.rglob("*"))
    process = subprocess.run(
        [sys.executable, "-c", RUN, str(script), "feeds.npz", "out.npz"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    made = {path for path in set(folder.rglob("*")) - known if path.is_file()}
    for path in made - {folder / "out.npz"}:
        name = str(path.relative_to(folder)).removesuffix(".data")
        assert name in script.read_text("utf-8")
        assert name.startswith(f"{prepared.source.stem}-prepared{os.sep}"), "nothing stands beside the model"
    ours = _outputs(prepared.model.path, prepared.config, feed)
    with np.load(folder / "out.npz") as theirs:
        for at, array in enumerate(ours):
            np.testing.assert_array_equal(array, theirs[f"arr_{at}"])


def _as_taken(value: Any, name: str, model: Any) -> Any:
    return cast_feeds([{name: value}], model)[0][name]


def _outputs(path: Path, config: wb.Config, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    import onnxruntime as ort

    options = ort.SessionOptions()
    if config.level == "disabled":
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    elif config.level == "extended":
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feed))


@pytest.mark.slow
@pytest.mark.real
def test_an_exported_folder_has_all_that_its_script_needs(tmp_path: Path) -> None:
    """With the calibration data the script makes the same file, and without them it draws examples."""
    config = wb.Config(precision=wb.StaticInt8(samples=4))
    prepared = wb.prepare("digits-conv", config)
    folder = prepared.export(tmp_path / "out")
    assert sorted(path.name for path in folder.iterdir()) == ["calibration.npz", "model.onnx", "script.py"]
    assert "one call: " in _run_as_program(folder)
    made = next(folder.glob("*-prepared/int8/model.onnx"))
    feed = {name: array[:1] for name, array in read_calibration_set("digits-conv").feeds.items()}
    feed = {name: _as_taken(value, name, prepared.model) for name, value in feed.items()}
    expected = _outputs(folder / "model.onnx", prepared.config, feed)
    np.testing.assert_array_equal(_outputs(made, prepared.config, feed)[0], expected[0])
    (folder / "calibration.npz").unlink()
    printed = _run_as_program(folder)
    assert "RANDOM data" in printed
    assert "one call: " in printed
    with pytest.raises(wb.ConfigError, match="exists"):
        prepared.export(folder)


@pytest.mark.slow
@pytest.mark.real
def test_the_script_of_an_opened_model_times_its_own_inputs(tmp_path: Path) -> None:
    """Token types index a table of two rows, and the free axes have the sizes of the bench."""
    model = wb.load(tiny.save(tiny.bert_like(), tmp_path))
    shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in model.inputs().feeds[0].items())
    for config in (wb.Config(level="basic"), wb.Config(fusion=wb.TransformerFusion())):
        (tmp_path / "script.py").write_text(config.to_python(model), "utf-8")
        assert f"the median of 21, on {shapes}" in _run_as_program(tmp_path)


@pytest.mark.real
def test_the_script_of_a_result_times_the_inputs_that_were_measured(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    result = wb.measure(path, inputs=wb.load(path).inputs(batch=5), budget_s=0.3, progress=False, keep=False)
    (tmp_path / "script.py").write_text(result.to_python(path), "utf-8")
    assert "on x [5, " in _run_as_program(tmp_path)


def _run_as_program(folder: Path) -> str:
    process = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return process.stdout


@pytest.mark.real
def test_what_only_the_graph_tells_is_filled_in() -> None:
    prepared = wb.prepare("digits-vit", wb.Config(fusion=wb.TransformerFusion()))
    assert "model_type='vit', num_heads=4, hidden_size=96" in " ".join(prepared.to_python().split())
