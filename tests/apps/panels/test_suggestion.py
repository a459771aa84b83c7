"""The first minute: a sample to open, then one experiment for the model at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.apps.panels.conftest import settle, steps_of
from tests.core.models import tiny
from workbench.apps.panels.tabs.next_steps import FIRST, experiment_for
from workbench.core.models.samples import sample_names


def test_without_a_model_samples_are_offered() -> None:
    bench = wb.Workbench()
    place = bench.panels.results.place
    assert [*steps_of(place)] == list(FIRST)
    assert set(FIRST) <= set(sample_names())
    steps_of(place)[FIRST[-1]].click()
    if (job := bench.opening.running) is not None:  # else it is open already
        job.finished.wait()
    settle(bench)
    assert [*steps_of(place)] == ["What are ORT's graph optimizations worth on digits-conv? Compare"]


def test_a_small_model_is_asked_about_optimizations_and_never_after_a_person_chose(
    bench: wb.Workbench,
) -> None:
    experiment = experiment_for(bench.state)
    assert experiment is not None
    assert "graph optimizations" in experiment[0]
    assert experiment[1] == wb.Config(level="disabled")
    bench.set("spinning", False)
    assert experiment_for(bench.state) is None
    for config in (wb.Engine("openvino"), wb.Config(level="basic")):
        bench.state.set_configs({"A": config, "B": config})
        assert experiment_for(bench.state) is None, config


@pytest.mark.slow
def test_a_large_transformer_is_asked_about_int8() -> None:
    bench = wb.Workbench()
    bench.load("bert-base", wait=True)
    experiment = experiment_for(bench.state)
    assert experiment is not None
    assert experiment[0] == "Does int8 pay on bert-base? Compare"
    assert isinstance(experiment[1].precision, wb.DynamicInt8)


@pytest.mark.slow
@pytest.mark.real
def test_one_click_sets_b_and_compares(bench: wb.Workbench) -> None:
    place, experiment = bench.panels.results.place, experiment_for(bench.state)
    assert experiment is not None
    steps_of(place)[experiment[0]].click()
    job = bench.jobs.running
    assert job is not None
    assert all(step.disabled for step in steps_of(place).values()), "one at a time"
    job.finished.wait()
    settle(bench)
    assert bench.result.runs[1].config == wb.Config(level="disabled")


def test_a_model_whose_products_lie_in_branches_is_not_asked_about_int8(tmp_path: Path) -> None:
    branches = [
        helper.make_graph(
            [helper.make_node("MatMul", ["x", weight], ["y"], f"product {weight}")],
            weight,
            [],
            [tiny.tensor("y", [1, 700])],
            [numpy_helper.from_array(tiny.weights(700, 700), weight)],
        )
        for weight in ("w", "v")
    ]
    choose = helper.make_node("If", ["c"], ["y"], "choose", then_branch=branches[0], else_branch=branches[1])
    inputs = [tiny.tensor("x", [1, 700]), tiny.tensor("c", [], TensorProto.BOOL)]
    path = tiny.save(tiny.model([choose], inputs, [tiny.tensor("y", [1, 700])]), tmp_path)
    bench = wb.Workbench()
    bench.load(str(path), wait=True)
    experiment = experiment_for(bench.state)
    assert experiment is not None
    assert "graph optimizations" in experiment[0]
