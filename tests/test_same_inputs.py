"""One set of inputs for one question: what calibrates and evaluates has the sizes of what was compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import workbench as wb
from tests.core.models import tiny
from tests.factories.comparisons import ordinary
from workbench.core.prepare.examples import examples

INT8 = wb.Config(precision=wb.StaticInt8(samples=2))
SIZED = "sized as what is run: x float32[1,3,20,12]"
QUICK: dict[str, Any] = {"budget_s": 0.2, "progress": False, "keep": False}


@pytest.fixture
def model(tmp_path: Path) -> wb.Model:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["y"], "relu"),
    ]
    ends = [tiny.tensor("x", [1, 3, "high", "wide"])], [tiny.tensor("y", [1, 4, "high", "wide"])]
    return wb.load(tiny.save(tiny.model(nodes, *ends, {"w": tiny.weights(4, 3, 3, 3)}), tmp_path))


@pytest.fixture
def inputs(model: wb.Model) -> wb.Inputs:
    return model.inputs(high=20, wide=12)


@pytest.mark.slow
@pytest.mark.real
def test_calibration_accuracy_and_findings_are_of_the_sizes_compared(
    model: wb.Model, inputs: wb.Inputs, tmp_path: Path
) -> None:
    result = wb.compare(model, wb.Config(), INT8, inputs=inputs, **QUICK)
    calibration = result.runs[1].preparation.calibration
    assert calibration.made_by == f"random, seeds 0 to 1, {SIZED}"
    assert SIZED in result.accuracy().record.data.made_by
    result.examine("findings")
    reopened = wb.open(result.save(tmp_path / "r.ortbench")).attach(model)
    assert SIZED in reopened.accuracy(items=2).record.data.made_by


@pytest.mark.real
def test_own_inputs_calibrate_and_are_evaluated_where_nothing_else_is_given(model: wb.Model) -> None:
    own = [{"x": np.full((1, 3, 8, 8), number, np.float32)} for number in (1, 2)]
    result = wb.compare(model, wb.Config(), INT8, inputs=own, **QUICK)
    calibration = result.runs[1].preparation.calibration
    assert (calibration.made_by, calibration.count) == ("iterable of 2 (given)", 2)
    assert calibration.representative
    assert result.accuracy().record.data.made_by == "iterable of 2 (given)"


@pytest.mark.real
def test_a_deployment_and_its_script_have_them(model: wb.Model, inputs: wb.Inputs, tmp_path: Path) -> None:
    deployed = wb.deploy(model, INT8, tmp_path / "served", inputs=inputs)
    assert deployed.record is not None
    prepared = wb.prepare(model.with_inputs(inputs), INT8)
    assert SIZED in prepared.calibration.made_by
    assert "(1, 3, 20, 12)" in prepared.to_python()


@pytest.mark.parametrize(
    "altered", [{"seed": -1}, {"shapes": (("x", f"float32[1,3,{'9' * 18},8]"),)}], ids=["seed", "size"]
)
def test_altered_inputs_of_a_bundle_are_refused_where_they_are_made_again(
    model: wb.Model, tmp_path: Path, altered: dict[str, Any]
) -> None:
    inputs = replace(model.inputs().record(), **altered)
    saved = wb.Comparison(replace(ordinary(), model=model.record(), inputs=inputs)).save(
        tmp_path / "r.ortbench"
    )
    with pytest.raises(wb.WorkbenchError, match=r"The seed is -1|above the bound"):
        wb.open(saved).attach(model)


def test_a_size_of_thousands_of_digits_is_no_size(model: wb.Model) -> None:
    inputs = replace(model.inputs().record(), shapes=(("x", f"float32[1,3,{'9' * 5000},8]"),))
    result = wb.Comparison(replace(ordinary(), model=model.record(), inputs=inputs))
    assert result.attach(model).has_model


def test_a_script_has_the_fixed_sizes_beside_one_that_no_input_has(model: wb.Model) -> None:
    config = wb.Config(free_dimensions={"high": 20, "depth": 7, "wide": 12})
    assert "random.uniform(0, 1, (1, 3, 20, 12))" in config.to_python(model)


class Reader:
    """Hand out examples as the readers of ORT's own tools do."""

    def __init__(self) -> None:
        self.left = [{"x": np.zeros((1, 3, 8, 8), np.float32)} for _ in range(3)]

    def get_next(self) -> dict[str, Any] | None:
        return self.left.pop() if self.left else None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "real"
    made.mkdir()
    for number in range(3):
        np.save(made / f"{number}.npy", np.full((1, 3, 8, 8), number, np.float32))
    return made


@pytest.mark.real
def test_real_data_come_from_a_folder_a_reader_or_a_generator(model: wb.Model, folder: Path) -> None:
    for source, words in (
        (folder, "3 examples of"),
        (Reader(), "3 examples of reader"),
        (({"x": np.zeros((1, 3, 8, 8), np.float32)} for _ in range(3)), "iterable of 3"),
    ):
        inputs = wb.measure(model, inputs=source, **QUICK).record.measured.inputs
        assert inputs.made_by.startswith(words)
        assert (inputs.shapes, inputs.seed) == ((("x", "float32[1,3,8,8]"),), None)
    table = wb.accuracy(model, wb.Config(), INT8, data=folder, progress=False, keep=False)
    assert table.record.data.made_by.startswith("3 examples of")
    assert table.record.data.real


@pytest.mark.real
@pytest.mark.parametrize("source", ["folder", "file", "reader", "generator"])
def test_findings_and_tune_take_the_data_that_compare_takes(
    model: wb.Model, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    np.savez(tmp_path / "real.npz", x=np.zeros((1, 3, 8, 8), np.float32))
    made: dict[str, Callable[[], Any]] = {
        "folder": lambda: str(folder),
        "file": lambda: tmp_path / "real.npz",
        "reader": Reader,
        "generator": lambda: ({"x": np.zeros((1, 3, 8, 8), np.float32)} for _ in range(3)),
    }
    give = made[source]
    assert wb.findings(model, INT8, data=give(), inputs=give(), calibration=give()).record.findings
    monkeypatch.setattr(wb.Study, "searched", lambda request, **_: request)
    request: Any = wb.tune(
        model, wb.Space.of(precision=[wb.StaticInt8()]), data=give(), inputs=give(), calibration=give()
    )
    count = 1 if source == "file" else 3
    assert (len(request.inputs.feeds), request.inputs.seed) == (count, None)
    assert [len(examples(model, request.data).feeds) for _ in range(2)] == [count, count]


def test_the_panels_take_a_folder_and_hand_their_sizes_to_what_takes_data(
    model: wb.Model, folder: Path
) -> None:
    bench = wb.Workbench()
    bench.load(str(model.path), wait=True)
    bench.state.dims = (("high", 20), ("wide", 12))
    assert "data=inputs" in bench.card_code("result", "layer errors/B")
    bench.state.data = str(folder)
    assert bench.request().subject.inputs().made_by.startswith("3 examples of")
    bench.load("digits-conv", wait=True)
    bench.state.data, bench.state.dims = "", (("batch", 4),)
    assert "data=inputs" not in bench.card_code("result", "layer errors/B")  # it has a set of its own


@pytest.mark.real
def test_random_inputs_as_data_stand_for_their_sizes(model: wb.Model, inputs: wb.Inputs) -> None:
    table = wb.accuracy(model, wb.Config(), INT8, data=inputs, calibration=inputs, progress=False, keep=False)
    assert SIZED in table.record.data.made_by
    assert table.record.data.item_count == 8
    errors = wb.layer_errors(model, INT8, data=inputs, progress=False)
    assert SIZED in errors.record.made_by
