"""Custom operators from a library, through everything that makes a session."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.factories import records as examples
from workbench.core.bundle.bundle import pack_record, unpack_record
from workbench.core.bundle.trust import with_trust
from workbench.core.config.foreign import ForeignPath

SOURCE = Path(__file__).with_name("custom_ops.c")
COMPILER = shutil.which("cc") or shutil.which("gcc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler, cc or gcc, on the path")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The library of test::Twice, built here."""
    path = tmp_path_factory.mktemp("library") / "libtwice.so"
    subprocess.run([str(COMPILER), "-shared", "-fPIC", "-O1", str(SOURCE), "-o", str(path)], check=True)
    return str(path)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Twice between two products, so that there is something to quantize."""
    draw = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(draw.standard_normal((16, 16)).astype(np.float32), f"w{n}") for n in (0, 1)
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["a"], "first"),
        helper.make_node("Twice", ["a"], ["b"], "twice", domain="test"),
        helper.make_node("MatMul", ["b", "w1"], ["y"], "second"),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 16]) for name in "xy"]
    graph = helper.make_graph(nodes, "custom", values[:1], values[1:], weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("test", 1)]
    path = tmp_path_factory.mktemp("model") / "custom.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return str(path)


def test_a_config_holds_paths_and_looks_none_up() -> None:
    config = wb.Config(custom_ops=["/none/b.so", "/none/a.so", "/none/a.so"])
    assert config.custom_ops == ("/none/a.so", "/none/b.so")
    assert wb.Config.from_dict(config.to_dict()) == config
    assert wb.Config.from_assignments(["custom_ops=/none/a.so, /none/b.so"]) == config
    assert config.plan().to_dict()["custom_ops"] == ["/none/a.so", "/none/b.so"]
    assert "options.register_custom_ops_library('/none/a.so')" in config.to_python("model.onnx")
    with pytest.raises(wb.ConfigError, match="custom_ops"):
        wb.Config(custom_ops="/none/a.so")


def test_a_strangers_library_is_loaded_after_the_users_word_only() -> None:
    record = examples.comparison(
        "01-abc", replace(examples.run("B"), config=wb.Config(custom_ops=("x/evil.so",)))
    )
    bundle = unpack_record(pack_record(record, None, private=False))
    (path,) = bundle.foreign
    assert path == ForeignPath("custom_ops", "x/evil.so")
    config = bundle.record.runs[1].config
    uses: tuple[Any, ...] = (
        config.plan,
        lambda: config.to_python("model.onnx"),
        lambda: wb.prepare("digits-conv", config),
        lambda: wb.Config.from_dict(config.to_dict()).plan(),
    )
    for use in uses:
        with pytest.raises(wb.ConfigError) as refusal:
            use()
        assert "opened.trust('custom_ops')" in refusal.value.fix
    trusted = with_trust(bundle.record, [path])
    assert trusted.runs[1].config.custom_ops == ("x/evil.so",)


@pytest.mark.real
def test_an_unknown_operator_asks_for_the_library_by_the_name_of_its_option(model: str) -> None:
    with pytest.raises(wb.RunFailed, match="test:Twice") as refusal:
        wb.measure(model, progress=False, budget_s=0.2, keep=False)
    assert "Config(custom_ops=['/path/lib.so'])" in refusal.value.fix
    with pytest.raises(wb.WorkbenchError, match=r"there is no library '/none/x\.so'"):
        wb.measure(model, wb.Config(custom_ops=["/none/x.so"]), progress=False, budget_s=0.2, keep=False)


@pytest.mark.real
@needs_compiler
def test_measured_explained_profiled_and_scripted(model: str, library: str) -> None:
    config = wb.Config(custom_ops=[library])
    result = wb.compare(
        model, config, config.replace(level="disabled"), budget_s=0.2, progress=False, keep=False
    )
    assert all(run.failure is None for run in result.runs)
    assert all(row.agrees for row in result.agreement)
    explained = wb.explain(model, config, keep=False)
    assert "test::Twice" in {node.kind for node in explained.record.optimized.nodes}
    assert "twice" in set(wb.profile(model, config, budget_s=0.1, keep=False).to_frame()["node"])
    scope: dict[str, Any] = {}
    exec(compile(config.to_python(model), "script", "exec"), scope)
    x = np.ones((4, 16), np.float32)
    weights = [numpy_helper.to_array(tensor) for tensor in onnx.load(model).graph.initializer]
    assert np.allclose(scope["run"]({"x": x})[0], x @ weights[0] * 2 @ weights[1], atol=1e-4)


@pytest.mark.real
@needs_compiler
@pytest.mark.parametrize(
    "change",
    [
        {"precision": wb.DynamicInt8()},
        {"precision": wb.StaticInt8()},
        {"precision": wb.WeightOnly()},
        {"precision": wb.Float16()},
        {"saved_graph": "onnx"},
    ],
    ids=["dynamic", "static", "weights", "float16", "saved"],
)
def test_prepared_with_the_library(model: str, library: str, change: Any) -> None:
    prepared = wb.prepare(model, wb.Config(custom_ops=[library], **change))
    nodes = onnx.load(prepared.model.path).graph.node
    assert "Twice" in {node.op_type for node in nodes}
    result = wb.measure(
        model, wb.Config(custom_ops=[library], **change), progress=False, budget_s=0.2, keep=False
    )
    assert result.record.run.failure is None
