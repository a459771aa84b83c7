"""The default space follows the machine, the model and what was measured before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import workbench as wb
from tests.factories.results import study
from tests.models import tiny
from workbench.records.machine import Gpu
from workbench.records.space import Space
from workbench.search import default_space as spaces

MACHINE = replace(study().selection.machine, usable_cores=8, quota_cores=None, gpus=())
CUDA = "CUDAExecutionProvider"


def branches(count: int) -> onnx.ModelProto:
    """A model of this many nodes, all of which could run at once."""
    nodes = [helper.make_node("Exp", ["x"], [f"y{number}"]) for number in range(count)]
    outputs = [helper.make_tensor_value_info(f"y{number}", TensorProto.FLOAT, [2]) for number in range(count)]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])]
    graph = helper.make_graph(nodes, "branches", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class NothingFires:
    applied: tuple[Any, ...] = ()


def space_of(monkeypatch: pytest.MonkeyPatch, folder: Path, proto: onnx.ModelProto, **changes: Any) -> Space:
    model = wb.load(tiny.save(proto, folder))
    machine = replace(MACHINE, gpus=changes.pop("gpus", ()))
    monkeypatch.setattr(spaces, "read_machine", lambda: machine)
    monkeypatch.setattr(spaces, "observe_prepared", lambda *_, **__: NothingFires())
    monkeypatch.setattr(spaces, "working_providers", lambda _: (CUDA,))
    return spaces.default_space(model, model.inputs(), **changes)


def names(space: Space) -> list[str]:
    return [axis.name for axis in space.axes]


def test_the_parallel_mode_is_tried_where_branches_could_run_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "execution_mode" in names(space_of(monkeypatch, tmp_path, branches(4)))
    assert "execution_mode" not in names(space_of(monkeypatch, tmp_path, tiny.mlp()))


def test_devices_bring_io_binding_and_their_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "io_binding" not in names(space_of(monkeypatch, tmp_path, tiny.mlp()))
    gpus = (Gpu("a GPU", None, None),)
    space = space_of(monkeypatch, tmp_path, tiny.mlp(), gpus=gpus)
    assert {"providers", "io_binding"} <= {*names(space)}
    monkeypatch.setattr(spaces, "_is_convolutional", lambda _: True)
    (axis,) = [
        a for a in space_of(monkeypatch, tmp_path, tiny.mlp(), gpus=gpus).axes if a.name == "providers"
    ]
    assert [dict(option.providers[0].options) for option in axis.options] == [
        {},
        {"cudnn_conv_algo_search": "HEURISTIC"},
        {"prefer_nhwc": "1"},
    ]


def test_passes_that_an_ablation_found_harmful_take_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = space_of(monkeypatch, tmp_path, tiny.mlp(), harmful=("BiasGeluFusion",))
    assert "disabled_passes.BiasGeluFusion" in names(space)


def test_memory_and_load_time_bring_their_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = space_of(monkeypatch, tmp_path, tiny.mlp(), objectives=("latency", "memory"))
    assert {"cpu_arena", "saved_graph", "session_entries.session.disable_prepacking"} <= {*names(space)}
