"""Compiled models: loaded where a provider can, refused where it keeps nothing or cannot load its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import workbench as wb
from tests.core.models import tiny
from tests.test_plugins import PLUGIN
from tests.test_plugins import pytestmark as needs_the_plugin
from workbench.core.prepare.step import key_of
from workbench.core.prepare.steps import steps_of


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny.save(tiny.mlp(), tmp_path)


def test_the_cpu_alone_compiles_nothing() -> None:
    with pytest.raises(wb.ConfigError, match="compiles nothing"):
        wb.Config(saved_graph="compiled")


@needs_the_plugin[0]
@needs_the_plugin[1]
def test_a_provider_that_keeps_nothing_is_named(model: Path) -> None:
    with pytest.raises(wb.PrepareError, match=r"cpu_ep compiled nothing .* no EPContext node"):
        wb.prepare(model, PLUGIN.replace(saved_graph="compiled"))


@needs_the_plugin[0]
@needs_the_plugin[1]
def test_a_refused_contestant_leaves_the_others(model: Path) -> None:
    compared = wb.compare(
        model, wb.Config(), PLUGIN.replace(saved_graph="compiled"), budget_s=0.2, progress=False, keep=False
    )
    assert compared.runs[0].failure is None
    assert "EPContext" in str(compared.runs[1].failure)


@pytest.mark.real
@pytest.mark.slow
def test_a_compiled_model_that_does_not_load_is_refused(openvino: str) -> None:
    config = wb.Config(providers=["openvino", "cpu"], runtime=openvino, saved_graph="compiled")
    with pytest.raises(wb.PrepareError, match="OpenVINOExecutionProvider cannot load the model that it comp"):
        wb.prepare("digits-conv", config)


@pytest.fixture
def openvino_plugin() -> wb.Config:
    """A plugin that compiles whole models and loads what it compiled, on Intel's processors."""
    library = os.environ.get("WORKBENCH_OPENVINO_PLUGIN")
    if library is None:
        assert not os.environ.get("CI"), "continuous integration names the library"
        pytest.skip("WORKBENCH_OPENVINO_PLUGIN names no library")
    return wb.Config(providers=[wb.Provider("openvino", library=library), "cpu"], saved_graph="compiled")


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.usefixtures("own_home")
def test_a_compiled_model_is_loaded_found_again_and_measured_without(openvino_plugin: wb.Config) -> None:
    if "GenuineIntel" not in Path("/proc/cpuinfo").read_text():
        with pytest.raises(wb.PrepareError, match=r"no device is offered; .* offers no device here"):
            wb.prepare("digits-conv", openvino_plugin)
        return
    at_load = openvino_plugin.replace(saved_graph=None)  # of the same arithmetic, be it bfloat16
    compared = wb.compare("digits-conv", at_load, openvino_plugin, budget_s=0.2, progress=False, keep=False)
    run = compared.runs[1]
    assert run.failure is None
    assert run.providers == ("OpenVINOExecutionProvider", "CPUExecutionProvider")
    assert dict(run.nodes_on or ()) == {"OpenVINOExecutionProvider": 1}
    assert all(row.agrees for row in compared.agreement)
    (step,) = wb.prepare("digits-conv", openvino_plugin).steps
    assert step.cached
    assert "1 part compiled by OpenVINOExecutionProvider, and loaded without compiling" in step.did
    assert "FULL_DEVICE_NAME" in dict(step.parameters)["devices"]
    assert "library_path" not in dict(step.parameters)["devices"]
    start = wb.cold_start("digits-conv", openvino_plugin).record
    assert start.saved is not None
    assert (start.saved.words, start.saved.hit) == ("compiled", True)
    assert start.saves_s is not None
    assert "its compiled graph (a hit in the cache" in str(start)


def test_a_model_compiled_for_another_device_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    config, keys = wb.Config(providers=["tensorrt", "cpu"], saved_graph="compiled"), []
    for device in ("GPU of one", "GPU of another", "GPU of one"):
        answer = {"devices": [device]}
        monkeypatch.setattr("workbench.core.prepare.steps.call_job", lambda *_, a=answer, **__: a)
        (step,) = steps_of(config, wb.load("digits-conv"), None)
        keys.append(key_of(step, "source", step.arguments(wb.load("digits-conv")), {}))
    assert keys[0] == keys[2] != keys[1]


def test_a_script_compiles_with_the_same_options(model: Path) -> None:
    config = wb.Config(providers=["openvino", "cpu"], saved_graph="compiled", intra_op_threads=1)
    text = config.to_python(model)
    assert "options.add_provider('OpenVINOExecutionProvider'" in text
    assert "compiler.compile_to_file(" in text
    compile(text, "script.py", "exec")
