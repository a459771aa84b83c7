"""PyTorch's worker: against a stand-in for torch, and against torch itself where it is installed."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.core.models import tiny
from tests.sample_models.test_torch import WITHOUT
from workbench.core.measure.candidates import engine_plan
from workbench.core.models.model import Model

FACTORY = """
import torch


class Net(torch.nn.Module):
    def forward(self, *values):
        first = values[0].numpy()
        return {"a": torch.from_numpy(first * 2), "b": [torch.from_numpy(first.sum(keepdims=True))]}


def make(path):
    assert path.endswith(".onnx")
    return Net()


def make_nothing(path):
    return 3
"""
TORCH = "WORKBENCH_TORCH_PYTHON"  # the Python of an environment with torch, onnx and transformers


@pytest.fixture
def factory(tmp_path: Path) -> str:
    """The path of a file with factories."""
    (tmp_path / "net.py").write_text(FACTORY)
    return str(tmp_path / "net.py")


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return wb.load(tiny.save(tiny.mlp(), tmp_path))


def loaded(model: Model, **options: Any) -> Any:
    worker = import_module("workbench.core.worker.engine_torch")
    plan = engine_plan(wb.Engine("pytorch", **options), model, list(model.inputs().feeds))
    return worker.load(str(model.path), plan)


def test_a_factory_makes_the_module_that_is_run(fakes: Any, model: Model, factory: str) -> None:
    _, torch = fakes
    torch.events.clear()
    feed = dict(model.inputs().feeds[0])
    engine = loaded(model, factory=f"{factory}:make", compile="max-autotune", threads=3)
    assert torch.events == ["eval", "to cpu", "compile max-autotune"]
    assert engine.runs_on == ["PyTorch compiled on cpu"]
    assert engine.threads == 3
    first = next(iter(feed.values()))
    twice, total = engine.arrays(engine.call(feed)())
    assert np.array_equal(twice, first * 2)
    assert np.array_equal(total, first.sum(keepdims=True))


def test_its_plain_script_computes_the_same(fakes: Any, model: Model, factory: str) -> None:
    assert fakes
    feed = dict(model.inputs().feeds[0])
    script = wb.Engine("pytorch", factory=f"{factory}:make").to_python(model.path)
    names: dict[str, Any] = {}
    exec(compile(script, "script", "exec"), names)
    engine = loaded(model, factory=f"{factory}:make")
    expected = engine.arrays(engine.call(feed)())
    assert all(map(np.array_equal, names["run"](feed), expected))


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"function": "make", "device": "cuda"}, "finds no CUDA device"),
        ({"function": "make_nothing"}, "returned a int, not a torch.nn.Module"),
        ({}, "must name what makes its module"),
    ],
)
def test_its_refusals_say_why(options: dict[str, str], message: str, model: Model, factory: str) -> None:
    function = options.pop("function", None)
    chosen = {"factory": f"{factory}:{function}", **options} if function else options
    with pytest.raises((RuntimeError, TypeError), match=message):
        loaded(model, **chosen)


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("compiled", [None, "default"])
def test_torch_itself_agrees_with_the_weights_of_a_sample(compiled: Any) -> None:
    python = os.environ.get(TORCH) or (sys.executable if find_spec("torch") else None)
    if python is None:
        pytest.skip(f"{WITHOUT}; {TORCH} may name another environment that has it")
    engine = wb.Engine("pytorch", compile=compiled).replace(runtime=python)
    result = wb.compare("digits-conv", wb.Config(), engine, budget_s=1, progress=False, keep=False)
    assert result.runs[1].failure is None
    assert all(row.agrees for row in result.record.agreement)
