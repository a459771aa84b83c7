"""`wb.sweep`: its axes, its points, and its command."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import workbench as wb
from tests.core.models import tiny
from tests.factories import results as examples
from workbench.apps.cli import main
from workbench.core.errors import ConfigError, InputError, RunFailed
from workbench.core.measure.gates import OPEN
from workbench.core.measure.limits import Progress
from workbench.core.models.sizes import free_names
from workbench.features.base.running import Turn, measured_in_turn
from workbench.features.grid import calls
from workbench.features.grid.axes import axes_of


def add_with(free: list[str | int | None], fixed: list[int]) -> onnx.ModelProto:
    """y = x + c, where c fits some sizes of x only."""
    value = helper.make_tensor("c", TensorProto.FLOAT, fixed, [1.0] * max(1, fixed[-1] if fixed else 1))
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "c"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, free)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [value],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> wb.Model:  # type: ignore[name-defined]
    path = tiny.save(add_with(["batch_size", "length", None], [1]), tmp_path_factory.mktemp("models"))
    return wb.load(path)


def test_axes_are_dims_by_name_or_by_their_beginning_and_knobs(model: Any) -> None:
    assert free_names(model.structure) == ("batch_size", "length", "x.2")
    axes = axes_of(
        model, [wb.Config(), wb.Config(level="basic")], {"batch": (1, 8), "x.2": 4, "threads": (1, 2)}
    )
    assert [(axis.name, axis.kind, axis.values) for axis in axes.axes] == [
        ("batch_size", "size", ("1", "8")),
        ("x.2", "size", ("4",)),
        ("threads", "knob", ("1", "2")),
    ]
    assert axes.sizes == ((("batch_size", 1), ("x.2", 4)), (("batch_size", 8), ("x.2", 4)))
    assert [config.intra_op_threads for config in axes.configs] == [1, 2, 1, 2]
    assert axes.series[3].name == "level basic, threads 2"
    assert axes_of(model, [wb.Config()], {}).sizes[-1] == (("batch_size", 16),)


@pytest.mark.parametrize(
    ("asked", "problem", "fix"),
    [
        ({"batch_sise": (1, 2)}, "no free dimension 'batch_sise'", "Did you mean 'batch_size'"),
        ({"width": (1, 2)}, "no free dimension 'width'", "'batch_size', 'length' and 'x.2'"),
        ({"batch": (0, 2)}, "batch=0 is no size", "from 1 up"),
        ({"batch": ("a",)}, "batch='a' is no size", "from 1 up"),
        ({"batch": ()}, "is no axis", "each once"),
        ({"batch": (1, 1)}, "is no axis", "each once"),
        ({"batch": range(1, 66)}, "is no axis", "1 to 64"),
        ({"batch": range(1, 20), "length": range(1, 20)}, "361 points", "at most"),
        (
            {"threads": (1, 2), "intra_op_threads": (4,)},
            "threads and intra_op_threads are the same knob",
            "leave intra_op_threads out",
        ),
        ({"threads": (0,)}, "intra_op_threads cannot be 0", "1 or more"),
    ],
)
def test_what_cannot_be_swept_is_refused(model: Any, asked: dict[str, Any], problem: str, fix: str) -> None:
    with pytest.raises(ConfigError, match=problem) as refused:
        axes_of(model, [wb.Config()], asked)
    assert fix in refused.value.fix


def test_a_size_that_a_config_fixes_is_refused(model: Any) -> None:
    with pytest.raises(ConfigError, match="fixes 'batch_size' at 1"):
        axes_of(model, [wb.Config(free_dimensions={"batch_size": 1})], {"batch": (1, 8)})


def test_inputs_have_sizes_of_their_own(model: Any) -> None:
    with pytest.raises(InputError, match="they have their own sizes"):
        wb.sweep(model, batch=(1, 8), inputs={}, progress=False)


def test_parts_share_the_budget_and_a_failure_is_kept() -> None:
    budgets, told = [], []

    def measure(on_progress: Any, budget_s: float | None) -> Any:
        budgets.append(budget_s)
        on_progress(Progress("sampling", 1, 1.0, 2.0, 0.5, 1.0))
        if len(budgets) == 2:
            raise RunFailed("no kernel", "another provider")
        return len(budgets)

    parts = [Turn(name, measure) for name in ("batch 1", "batch 8")]
    assert list(measured_in_turn(parts, told.append, 10.0)) == [(1, None), (None, "no kernel")]
    assert budgets[0] == pytest.approx(5.0, abs=2.0), "half of what is left"
    assert budgets[1] == pytest.approx(10.0, abs=4.0), "all of what is left"
    assert [report.fraction for report in told] == [0.25, 0.75]
    assert told[1].doing == "batch 8 (2 of 2): sampling"


def test_a_config_whose_outputs_differ_has_not_the_most_throughput() -> None:
    record = examples.sweep()
    place = record.places[0]
    assert place.measured is not None
    verdict = replace(place.measured.verdicts[0], kind="outputs differ")
    wrong = replace(place, measured=replace(place.measured, verdicts=(verdict,)))
    assert " by B " in replace(record, places=(place,)).headline
    assert " by A " in replace(record, places=(wrong,)).headline


@pytest.mark.real
def test_a_sweep_of_sizes_and_threads(model: Any, tmp_path: Path) -> None:
    steps: list[str] = []
    result = wb.sweep(
        model, batch=(1, 64), threads=(1, 2), budget_s=2.0, progress=lambda now: steps.append(now.doing)
    )
    frame = result.to_frame()
    assert list(frame["batch_size"]) == [1, 1, 64, 64]
    assert (frame["median_ms"] > 0).all()
    assert frame["verdict"].notna().sum() == 2
    assert steps[0] == "trying batch_size 1"
    assert any("batch_size 64 (2 of 2)" in step for step in steps)
    assert len(result.at(batch_size=64).runs) == 2
    assert "intra_op_num_threads = 2" in result.to_python("B")
    assert wb.open(result.save(tmp_path / "s.ortbench")).record == result.record
    assert result.about.id in set(wb.history().to_frame(kind="sweep")["id"])


@pytest.mark.real
def test_sizes_that_the_model_refuses_are_an_error_before_measuring(tmp_path: Path) -> None:
    path = tiny.save(add_with(["n", "length"], [4]), tmp_path)
    with pytest.raises(InputError, match=r"cannot run at length 5.*BroadcastIterator|cannot run at length 5"):
        wb.sweep(path, length=(4, 1, 5), progress=lambda now: pytest.fail(now.doing) if now.round else None)


@pytest.mark.real
def test_cancel_ends_a_sweep(model: Any) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(wb.Cancelled):
        wb.sweep(model, batch=(1, 2), cancel=cancel, progress=False)


def test_axes_of_the_command_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    received: dict[str, Any] = {}

    @wraps(calls.sweep)
    def sweep(*_: Any, **options: Any) -> wb.Sweep:
        received.update(options)
        return wb.Sweep(examples.sweep(), examples.about())

    monkeypatch.setattr(calls, "sweep", sweep)
    command = ["sweep", str(tiny.save(tiny.mlp(), tmp_path)), "--quiet"]
    over = ["--over", "batch=1,8", "--over", "level=basic,all", "--over", "spinning=true,none"]
    assert main([*command, *over, "--seed", "3"]) == OPEN  # a point of the example was not measured
    assert received["sizes"] == {"batch": [1, 8], "level": ["basic", "all"], "spinning": [True, None]}
    assert (received["seed"], received.get("inputs")) == (3, None)
    for wrong in (["batch"], ["batch="], ["=1"], ["batch=1", "--over", "batch=2"]):
        capsys.readouterr()
        assert main([*command, "--over", *wrong]) == 2
        assert "Fix: " in capsys.readouterr().err
