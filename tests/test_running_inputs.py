"""Where a guess does not run, usual sizes and values are tried in a worker, and what runs is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import workbench as wb
from tests.core.models import tiny

QUICK: dict[str, Any] = {"budget_s": 0.2, "progress": False, "keep": False}


def text_line(name: str, rows: int = 48) -> ModelProto:
    """Run pictures that are divided into lines of so many rows."""
    nodes = [
        helper.make_node("Reshape", ["x", "lines"], ["r"], "to lines"),
        helper.make_node("Relu", ["r"], ["y"], "relu"),
    ]
    inputs = [tiny.tensor("x", [1, 3, "?", "width"])]
    outputs = [tiny.tensor("y", None)]
    return tiny.model(nodes, inputs, outputs, {"lines": np.array([1, 3, rows, -1])}, name=name)


def sound(name: str = "sound") -> ModelProto:
    """Run at least 256 samples."""
    nodes = [
        helper.make_node("Unsqueeze", ["input", "one"], ["column"], "column"),
        helper.make_node("Conv", ["column", "w"], ["y"], "spectrum"),
        helper.make_node("Identity", ["state"], ["next_state"], "hand on"),
    ]
    inputs = [tiny.tensor("input", ["batch", "sequence"]), tiny.tensor("state", [2, "batch", 16])]
    outputs = [tiny.tensor("y", None), tiny.tensor("next_state", [2, "batch", 16])]
    weights = {"one": np.array([1]), "w": tiny.weights(4, 1, 256)}
    return tiny.model(nodes, inputs, outputs, weights, name=name)


def hidden_ids() -> ModelProto:
    """Look up numbers in a table that a product hides from who reads the graph."""
    nodes = [
        helper.make_node("Mul", ["ids", "one"], ["same"], "same"),
        helper.make_node("Gather", ["table", "same"], ["y"], "look up"),
    ]
    inputs = [tiny.tensor("ids", ["batch", "sequence"], TensorProto.INT64)]
    weights = {"one": np.array(1), "table": tiny.weights(2, 4)}
    return tiny.model(nodes, inputs, [tiny.tensor("y", None)], weights)


@pytest.mark.real
def test_sizes_that_run_are_found_named_and_known_from_then_on(tmp_path: Path) -> None:
    path = tiny.save(text_line("found"), tmp_path)
    inputs = wb.measure(path, **QUICK).record.measured.inputs
    assert inputs.shapes == (("x", "float32[1,3,48,320]"),)
    (said,) = [guess for guess in inputs.guesses if guess.startswith("dim width")]
    assert said == "dim width made 320 (found by trying: x float32[1,3,224,224] did not run)"
    assert wb.load(path).inputs().shapes == inputs.shapes


@pytest.mark.real
@pytest.mark.parametrize(
    ("make", "name", "shape"),
    [(sound, "input", "float32[1,512]"), (hidden_ids, "ids", "int64[1,128]")],
)
def test_lengths_and_token_ids_are_found(
    tmp_path: Path, make: Callable[[], ModelProto], name: str, shape: str
) -> None:
    path = tiny.save(make(), tmp_path)
    assert dict(wb.measure(path, **QUICK).record.measured.inputs.shapes)[name] == shape
    assert any("found by trying" in guess for guess in wb.load(path).inputs().guesses)


CALLS: dict[str, Callable[[Path], Any]] = {
    "compare": lambda path: wb.compare(path, wb.Config(), wb.Config(level="basic"), **QUICK),
    "profile": lambda path: wb.profile(path),
    "accuracy": lambda path: wb.accuracy(
        path, wb.Config(), wb.Config(level="basic"), progress=False, keep=False
    ),
    "matrix": lambda path: wb.matrix([path], [wb.Config(), wb.Config(level="basic")], **QUICK),
}


@pytest.mark.real
@pytest.mark.parametrize("name", CALLS)
def test_every_call_finds_them(tmp_path: Path, name: str) -> None:
    path = tiny.save(text_line(name), tmp_path)
    CALLS[name](path)
    assert wb.load(path).inputs().shapes == (("x", "float32[1,3,48,320]"),)


@pytest.mark.real
def test_layers_to_exclude_are_found_with_inputs_that_run(tmp_path: Path) -> None:
    path = tiny.save(sound("exclude"), tmp_path)
    config = wb.Config(precision=wb.StaticInt8())
    proposal = wb.exclude_for(path, config, max_error=0.5, items=1, remeasure=False, progress=False)
    assert proposal.config.precision is not None


@pytest.mark.real
def test_given_sizes_stay_and_only_the_guessed_ones_are_searched(tmp_path: Path) -> None:
    model = wb.load(tiny.save(text_line("given", rows=45), tmp_path))
    measured = wb.measure(model, inputs=model.inputs(width=144, seed=3), **QUICK).record.measured
    assert measured.inputs.shapes == (("x", "float32[1,3,320,144]"),)
    assert measured.inputs.seed == 3


@pytest.mark.real
def test_where_nothing_runs_the_first_error_stays(tmp_path: Path) -> None:
    path = tiny.save(text_line("never", rows=4099), tmp_path)
    with pytest.raises(wb.RunFailed, match="to lines"):
        wb.measure(path, **QUICK)
    inputs = wb.load(path).inputs()
    assert inputs.shapes == (("x", "float32[1,3,224,224]"),)
    assert inputs.guesses[-1].startswith("tried: x float32[1,3,224,224] did not run, nor did other usual")


@pytest.mark.real
def test_a_guess_is_tried_before_it_is_offered(tmp_path: Path) -> None:
    model = wb.load(tiny.save(text_line("offered"), tmp_path))
    inputs = model.inputs()
    assert inputs.shapes == (("x", "float32[1,3,48,320]"),)
    assert "dim width made 320 (found by trying: x float32[1,3,224,224] did not run)" in inputs.guesses
    assert model.inputs(seed=1).shapes == inputs.shapes
    assert model.inputs(width=144).shapes == (("x", "float32[1,3,48,144]"),)


@pytest.mark.real
@pytest.mark.parametrize(
    ("source", "sizes"),
    [("fixed", {}), ("digits-conv", {}), ("given", {"width": 7, "x.2": 9})],
)
def test_where_nothing_is_guessed_nothing_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, sizes: dict[str, int]
) -> None:
    monkeypatch.setattr("workbench.core.measure.finding_inputs.Worker", None)
    node = helper.make_node("Relu", ["x"], ["y"], "relu")
    fixed = tiny.model([node], [tiny.tensor("x", ["batch", 3, 4])], [tiny.tensor("y", None)], {})
    made = {"fixed": fixed, "given": text_line("named")}
    model = wb.load(tiny.save(made[source], tmp_path) if source in made else source)
    assert model.inputs(dims=sizes).seed == 0


@pytest.mark.real
def test_calibration_of_an_iterator_is_read_again_for_the_inputs_that_run(tmp_path: Path) -> None:
    path, rng = tiny.save(sound(), tmp_path), np.random.default_rng(0)
    examples = (
        {"input": rng.normal(size=(1, 512)).astype(np.float32), "state": np.zeros((2, 1, 16), np.float32)}
        for _ in range(2)
    )
    profile = wb.profile(path, wb.Config(precision=wb.StaticInt8()), calibration=examples, budget_s=0.1)
    assert len(profile.to_frame()) > 0


@pytest.mark.real
def test_own_inputs_are_never_replaced(tmp_path: Path) -> None:
    path = tiny.save(text_line("own"), tmp_path)
    with pytest.raises(wb.RunFailed, match="to lines"):
        wb.measure(path, inputs={"x": np.zeros((1, 3, 20, 20), np.float32)}, **QUICK)
