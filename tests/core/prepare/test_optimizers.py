"""Optimizers of other people as rewrites: cached, judged, refused where missing, and ended alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

import workbench as wb
from tests.core.prepare.test_failures import save
from tests.core.prepare.test_script import run_the_script

NAMES = ("onnxslim", "onnxsim", "onnxscript", "onnxoptimizer")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A product with a sum of constants, which any of them folds."""
    weights = [
        numpy_helper.from_array(np.full((4, 4), value, np.float32), name)
        for name, value in (("a", 1), ("b", 2))
    ]
    nodes = [helper.make_node("Add", ["a", "b"], ["w"]), helper.make_node("MatMul", ["x", "w"], ["y"])]
    return save(tmp_path, nodes, weights, [2, 4], [2, 4])


def put(name: str, code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a package of this name on the path of this process and of its workers."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(code)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.real
def test_onnxslim_prepares_a_file_that_is_kept(model: Path, tmp_path: Path) -> None:
    config = wb.Config(rewrites=("onnxslim",))
    first, again = (wb.prepare(model, config) for _ in range(2))
    assert [node.op_type for node in first.model.structure.graph.node] == ["MatMul"]
    assert first.steps[0].did == "onnxslim applied 1 time"
    assert again.steps[0].cached
    run_the_script(first, {"x": np.ones((2, 4), np.float32)}, tmp_path)


@pytest.mark.real
def test_a_package_that_fails_is_named(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def optimize(model):\n    raise RecursionError('too deep')\n"
    put("onnxoptimizer", code, tmp_path / "packages", monkeypatch)
    with pytest.raises(wb.WorkbenchError, match="onnxoptimizer failed on this model: too deep") as caught:
        wb.prepare(model, wb.Config(rewrites=("onnxoptimizer",)))
    assert caught.value.fix == "leave onnxoptimizer out of rewrites"


@pytest.mark.real
def test_a_contestant_is_judged_by_its_outputs(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
def simplify(model):
    for tensor in model.graph.initializer:
        tensor.raw_data = bytes(len(tensor.raw_data))
    return model, True
"""
    put("onnxsim", code, tmp_path / "path", monkeypatch)
    result = wb.compare(
        model, wb.Config(), wb.Config(rewrites=("onnxsim",)), wb.Config(rewrites=("onnxslim",)),
        budget_s=0.3, progress=False, keep=False,
    )  # fmt: skip
    assert [run.failure for run in result.runs] == [None] * 3
    assert result.record.verdicts[0].kind == "outputs differ"
    assert {row.label: row.agrees for row in result.record.agreement} == {"B": False, "C": True}


@pytest.mark.real
def test_a_crash_of_the_optimizer_ends_its_own_process_alone(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os\n\n\ndef optimize(model):\n    os.abort()\n"
    put("onnxoptimizer", code, tmp_path / "path", monkeypatch)
    result = wb.compare(
        model, wb.Config(), wb.Config(rewrites=("onnxoptimizer",)), budget_s=0.3, progress=False, keep=False
    )
    plain, crashed = result.runs
    assert plain.failure is None
    assert crashed.failure is not None
    assert crashed.failure.stage == "prepare"
    assert "model rewrites" in crashed.failure.problem


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_package_is_refused_with_the_line_that_installs_it(
    model: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(wb.PrepareError, match=f"the package {name} is not installed") as caught:
        wb.prepare(model, wb.Config(rewrites=(name,)))
    assert caught.value.fix == f"pip install {name}"
