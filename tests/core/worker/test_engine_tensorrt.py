"""TensorRT's worker against a stand-in for its package: a GPU measures it, this shows that the calls fit."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import workbench as wb
from tests.core.models import tiny
from tests.core.worker.conftest import FAKES
from workbench.core.measure.candidates import engine_plan
from workbench.core.models.model import Model


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return wb.load(tiny.save(tiny.mlp(), tmp_path))


def loaded(model: Model, feeds: list[Any], **options: Any) -> Any:
    """Return the model in the engine of the worker."""
    worker = import_module("workbench.core.worker.engine_tensorrt")
    plan = engine_plan(wb.Engine("tensorrt", **options), model, feeds)
    return worker.load(str(model.path), plan)


def test_it_computes_and_copies_in_the_order_of_its_stream(fakes: Any, model: Model) -> None:
    tensorrt, torch = fakes
    feeds = [dict(feed) for feed in model.inputs().feeds]
    engine = loaded(model, feeds)
    assert engine.runs_on == ["TensorRT float32"]
    assert engine.threads is None
    run = engine.call(feeds[0])
    torch.events.clear()
    outputs = engine.arrays(run())
    assert torch.events == ["copy to cuda", "copy to cpu", "synchronize the stream"]
    from onnx.reference import ReferenceEvaluator

    expected = ReferenceEvaluator(str(model.path)).run(engine.names, feeds[0])
    for output, wanted in zip(outputs, expected, strict=True):
        assert np.array_equal(output, wanted)
    (built,) = tensorrt.built
    assert built["flags"] == []  # TensorRT's own default is TF32
    assert built["shapes"] == {name: (value.shape,) * 3 for name, value in feeds[0].items()}


@pytest.mark.parametrize(
    ("options", "flags", "pools"),
    [
        ({"precision": "float16"}, ["FP16"], {}),
        ({"precision": "tf32"}, ["TF32"], {}),
        ({"workspace_bytes": 1 << 30}, [], {"WORKSPACE": 1 << 30}),
    ],
)
def test_options_reach_the_builder(fakes: Any, model: Model, options: Any, flags: Any, pools: Any) -> None:
    tensorrt, _ = fakes
    loaded(model, list(model.inputs().feeds), **options)
    assert (tensorrt.built[0]["flags"], tensorrt.built[0]["pools"]) == (flags, pools)


@pytest.mark.usefixtures("fakes")
def test_two_feeds_do_not_share_their_memory(model: Model) -> None:
    first, second = dict(model.inputs(seed=1).feeds[0]), dict(model.inputs(seed=2).feeds[0])
    engine = loaded(model, [first])
    runs = [engine.call(feed) for feed in (first, second)]
    before = engine.arrays(runs[0]())
    runs[1]()
    assert all(map(np.array_equal, before, engine.arrays(runs[0]())))


def test_its_refusals_say_what_it_said(fakes: Any, model: Model, tmp_path: Path) -> None:
    tensorrt, _ = fakes
    feeds = list(model.inputs().feeds)
    tensorrt.refuse_to_run = True
    with pytest.raises(RuntimeError, match="refused to run"):
        loaded(model, feeds).call(feeds[0])()
    tensorrt.refuse_to_build = True
    with pytest.raises(RuntimeError, match="could not build an engine"):
        loaded(model, feeds)
    node = helper.make_node("Unknown", ["x"], ["y"], domain="strange")
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    path = tmp_path / "strange.onnx"
    path.write_bytes(tiny.model([node], [value], [tiny.tensor("y", [1])]).SerializeToString())
    worker = import_module("workbench.core.worker.engine_tensorrt")
    with pytest.raises(RuntimeError, match="no importer for the operator of node 0"):
        worker.load(str(path), {"engine": {}, "outputs": ["y"], "shapes": {"x": [1]}})


def test_its_plain_script_computes_the_same(fakes: Any, model: Model) -> None:
    tensorrt, _ = fakes
    feed = dict(model.inputs().feeds[0])
    script = wb.Engine("tensorrt", precision="float16", workspace_bytes=1 << 20).to_python(model.path)
    names: dict[str, Any] = {}
    exec(compile(script, "script", "exec"), names)
    engine = loaded(model, [feed])
    expected = engine.arrays(engine.call(feed)())
    outputs = names["run"](feed)
    assert all(map(np.array_equal, outputs, expected))
    last = tensorrt.built[-1]
    assert (last["flags"], last["pools"]) == (["FP16"], {"WORKSPACE": 1 << 20})


@pytest.mark.real
def test_it_takes_part_in_a_comparison(tmp_path: Path) -> None:
    """With the stand-ins on the path of an interpreter, as in an environment that has the packages."""
    path = tiny.save(tiny.mlp(), tmp_path)
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nPYTHONPATH={FAKES} exec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    engine = wb.Engine("tensorrt", precision="float16").replace(runtime=str(wrapper))
    result = wb.compare(path, wb.Config(), engine, budget_s=0.5, progress=False, keep=False)
    assert result.runs[1].failure is None
    assert result.runs[1].providers == ("TensorRT float16",)
    assert all(row.agrees for row in result.record.agreement)
