"""Compiled models: refused where a provider keeps nothing, where it cannot load its own, and on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from tests.core.models import tiny
from tests.test_plugins import PLUGIN
from tests.test_plugins import pytestmark as needs_the_plugin


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
        model, wb.Config(), PLUGIN.replace(saved_graph="compiled"), budget_s=1, progress=False, keep=False
    )
    assert compared.runs[0].failure is None
    assert "EPContext" in str(compared.runs[1].failure)


@pytest.mark.real
@pytest.mark.slow
def test_a_compiled_model_that_does_not_load_is_refused(openvino: str) -> None:
    config = wb.Config(providers=["openvino", "cpu"], runtime=openvino, saved_graph="compiled")
    with pytest.raises(wb.PrepareError, match="OpenVINOExecutionProvider cannot load the model that it comp"):
        wb.prepare("digits-conv", config)


def test_a_script_compiles_with_the_same_options(model: Path) -> None:
    config = wb.Config(providers=["openvino", "cpu"], saved_graph="compiled", intra_op_threads=1)
    text = config.to_python(model)
    assert "options.add_provider('OpenVINOExecutionProvider'" in text
    assert "compiler.compile_to_file(" in text
    compile(text, "script.py", "exec")
