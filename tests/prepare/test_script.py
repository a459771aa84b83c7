"""The printed script does what the workbench does, with plain onnxruntime."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from sample_models.evaluation import read_calibration_set
from workbench.models.samples import sample_path

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
    "float16": ("digits-vit", wb.Config(precision=wb.Float16(blocked_ops=["Softmax"]))),
    "fused": ("digits-vit", wb.Config(fusion=wb.TransformerFusion(), precision=wb.DynamicInt8())),
    "saved": ("digits-conv", wb.Config(saved_graph="onnx", level="layout", free_dimensions={"batch": 1})),
    "ort": ("digits-conv", wb.Config(saved_graph="ort", precision=wb.StaticInt8(samples=3))),
}


@pytest.mark.real
@pytest.mark.parametrize("name", CONFIGS)
def test_the_script_makes_the_same(name: str, tmp_path: Path) -> None:
    sample, config = CONFIGS[name]
    shutil.copy(sample_path(sample), tmp_path / "model.onnx")
    calibration = read_calibration_set(sample)
    few = {key: array[: getattr(config.precision, "samples", 1)] for key, array in calibration.feeds.items()}
    np.savez(tmp_path / "calibration.npz", **few)
    feed = {key: array[-1:] for key, array in calibration.feeds.items()}
    np.savez(tmp_path / "feeds.npz", **feed)
    prepared = wb.prepare(tmp_path / "model.onnx", config, calibration=few)
    script = tmp_path / "script.py"
    script.write_text(prepared.to_python(), "utf-8")
    told = subprocess.run(
        [sys.executable, "-c", RUN, str(script), "feeds.npz", "out.npz"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-3000:]
    ours = _outputs(prepared.model.path, prepared.config, feed)
    with np.load(tmp_path / "out.npz") as theirs:
        for at, array in enumerate(ours):
            np.testing.assert_array_equal(array, theirs[f"arr_{at}"])


def _outputs(path: Path, config: wb.Config, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    import onnxruntime as ort

    options = ort.SessionOptions()
    if config.level == "disabled":
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    elif config.level == "extended":
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feed))


def test_what_only_the_graph_tells_is_filled_in() -> None:
    prepared = wb.prepare("digits-vit", wb.Config(fusion=wb.TransformerFusion()))
    assert "model_type='vit', num_heads=4, hidden_size=96" in prepared.to_python()


def test_there_is_no_plain_script_for_bfloat16() -> None:
    with pytest.raises(wb.ConfigError, match="no converter to bfloat16"):
        wb.Config(precision=wb.BFloat16(), providers=["cuda"]).to_python("model.onnx")
