"""Configs of other engines: what they take, how they are written, and whose code they may run."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.core.config.foreign import check_trusted, quarantined


def test_an_engine_is_a_config() -> None:
    config = wb.Engine("openvino", threads=2, hint="latency")
    assert config == wb.Config(engine=wb.OpenVino(hint="latency"), intra_op_threads=2)
    assert wb.Config.from_dict(config.to_dict()) == config
    assert eval(repr(config), {"Config": wb.Config, "OpenVino": wb.OpenVino}) == config


@pytest.mark.parametrize(
    "config",
    [
        wb.Engine("pytorch"),
        wb.Engine("pytorch", factory="nets.mine:make", compile="max-autotune", device="cuda"),
        wb.Engine("pytorch", factory="/home/me/net.py:make"),
        wb.Engine("genai", threads=2),
        wb.Engine("tensorrt", precision="tf32", workspace_bytes=1 << 30),
        wb.Engine("openvino", device="GPU", precision="float16").replace(precision=wb.StaticInt8()),
    ],
)
def test_it_is_read_back_from_json(config: wb.Config) -> None:
    assert wb.Config.from_dict(config.to_dict()) == config


def test_a_command_line_names_it() -> None:
    config = wb.Config.from_assignments(["engine=openvino", "engine.hint=latency", "intra_op_threads=1"])
    assert config == wb.Engine("openvino", threads=1, hint="latency")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wb.Engine("openvin"), "Did you mean 'openvino'"),
        (lambda: wb.Engine("pytorch", compiled=True), "has no field 'compiled'"),
        (lambda: wb.Engine("pytorch", compile="fast"), "compile cannot be 'fast'"),
        (lambda: wb.Engine("pytorch", factory="make"), "names no function"),
        (lambda: wb.Engine("pytorch", factory="a.py:"), "names no function"),
        (lambda: wb.Engine("pytorch", threads=0), "intra_op_threads"),
        (lambda: wb.Config(engine=wb.PyTorch(), level="all"), "'level' cannot be set beside"),
        (lambda: wb.Config(engine=wb.PyTorch(), precision=wb.Float16()), "'precision' cannot be set beside"),
        (lambda: wb.Config(engine=wb.GenAi(), precision=wb.Float16()), "'precision' cannot be set beside"),
        (lambda: wb.Config(engine=wb.OpenVino(), providers=("cpu",)), "'providers' cannot be set beside"),
    ],
)
def test_what_it_cannot_take_is_refused(make: Any, message: str) -> None:
    with pytest.raises(wb.ConfigError, match=message):
        make()


def test_it_has_no_session_of_onnx_runtime() -> None:
    with pytest.raises(wb.ConfigError, match="has no session of ONNX Runtime"):
        wb.Engine("openvino").plan()


def test_a_strangers_factory_is_not_run() -> None:
    data, paths = quarantined(wb.Engine("pytorch", factory="/home/you/net.py:make").to_dict())
    assert [(path.option, path.value) for path in paths] == [("engine.factory", "/home/you/net.py:make")]
    config = wb.Config.from_dict(data)
    with pytest.raises(wb.ConfigError, match=r"engine\.factory"):
        check_trusted(config)


@pytest.mark.parametrize(
    ("config", "lines"),
    [
        (
            wb.Engine("openvino", threads=2, hint="latency", precision="bfloat16"),
            [
                "'INFERENCE_PRECISION_HINT': 'bf16'",
                "'PERFORMANCE_HINT': 'LATENCY'",
                "'INFERENCE_NUM_THREADS': 2",
            ],
        ),
        (
            wb.Engine("pytorch", threads=2, factory="nets.mine:make", compile="max-autotune", device="cuda"),
            [
                "import_module('nets.mine')",
                "getattr(source, 'make')('model.onnx').eval().to('cuda')",
                "torch.compile(module, mode='max-autotune')",
                "torch.set_num_threads(2)",
            ],
        ),
        (
            wb.Engine("pytorch", factory="/home/me/net.py:make"),
            ["source = module_of('/home/me/net.py', 'net')"],
        ),
        (wb.Engine("pytorch"), ["torch_module')('model', 'model.onnx')"]),
        (
            wb.Engine("tensorrt", precision="float16"),
            ["settings.set_flag(tensorrt.BuilderFlag.FP16)", "clear_flag(tensorrt.BuilderFlag.TF32)"],
        ),
    ],
)
def test_its_script_is_one_of_the_engine(config: wb.Config, lines: list[str]) -> None:
    script = config.to_python("model.onnx")
    ast.parse(script)
    assert "onnxruntime" not in script
    assert "def run(feeds):" in script
    for line in lines:
        assert line in script


def test_its_script_prepares_the_file_first() -> None:
    config = wb.Engine("openvino").replace(precision=wb.DynamicInt8(), runtime="/env/bin/python")
    script = config.to_python("model.onnx")
    ast.parse(script)
    assert script.startswith("# for the packages of another environment: run it with '/env/bin/python'")
    assert script.index("quantize_dynamic(") < script.index(
        "core.read_model('model-prepared/int8/model.onnx')"
    )


def test_the_architecture_of_a_sample_is_named_in_the_script() -> None:
    assert "('resnet50', 'model.onnx')" in wb.Engine("pytorch").to_python("model.onnx", sample="resnet50")
    assert "('resnet50', 'resnet50.onnx')" in wb.Engine("pytorch").to_python(Path("resnet50.onnx"))


def test_names_in_a_script_stay_text() -> None:
    """A model's path may hold anything; a factory's place too."""
    engine = wb.Engine("pytorch", factory="/a'); import os #.py:make")
    tree = ast.parse(engine.to_python("x'); import os #.onnx"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"importlib.util", "sys", "onnx", "torch"}
