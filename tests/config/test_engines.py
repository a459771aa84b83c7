"""Configs of other engines: what they take, how they are written, and whose code they may run."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.config.foreign import check_trusted, quarantined


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
        (lambda: wb.Config(engine=wb.OpenVino(), providers=("cpu",)), "'providers' cannot be set beside"),
    ],
)
def test_what_it_cannot_take_is_refused(make: Any, message: str) -> None:
    with pytest.raises(wb.ConfigError, match=message):
        make()


def test_it_has_no_session_of_onnx_runtime() -> None:
    for ask in (wb.Engine("openvino").plan, lambda: wb.Engine("pytorch").to_python("model.onnx")):
        with pytest.raises(wb.ConfigError, match="has no session of ONNX Runtime"):
            ask()


def test_a_strangers_factory_is_not_run() -> None:
    data, paths = quarantined(wb.Engine("pytorch", factory="/home/you/net.py:make").to_dict())
    assert [(path.option, path.value) for path in paths] == [("engine.factory", "/home/you/net.py:make")]
    config = wb.Config.from_dict(data)
    with pytest.raises(wb.ConfigError, match=r"engine\.factory"):
        check_trusted(config)
