"""The default space follows the machine, the model and what was measured before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import workbench as wb
from tests.core.models import tiny
from tests.factories.results import study
from tests.test_doctor import CPU_ONLY
from workbench.features.doctor import advise
from workbench.features.tune import default_space as spaces
from workbench.features.tune.space import Space

MACHINE = replace(study().selection.machine, usable_cores=8, quota_cores=None, gpus=())


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
    machine = changes.pop("machine", replace(MACHINE, usable_cores=changes.pop("cores", 8)))
    monkeypatch.setattr(spaces, "read_machine", lambda: machine)
    monkeypatch.setattr(spaces, "observe", lambda *_, **__: NothingFires())
    monkeypatch.setattr(spaces, "finding_axes", lambda *_, **__: {})
    working = changes.pop("working", ())
    monkeypatch.setattr(spaces, "working_providers", lambda *_, **__: working)
    monkeypatch.setattr(spaces, "working_plugins", lambda *_: ())
    return spaces.default_space(model, model.inputs(**changes.pop("sizes", {})), **changes)


def names(space: Space) -> list[str]:
    return [axis.name for axis in space.axes]


@pytest.mark.parametrize(
    ("system", "flags", "takes_part"),
    [
        ("Linux-6.1-x86_64", ("avx2", "avx512_vnni"), True),
        ("Linux-6.1-x86_64", ("avx2", "amx_int8"), True),
        ("Linux-6.1-aarch64", ("asimd", "asimddp"), True),
        ("Linux-6.1-x86_64", ("avx2", "fma"), False),
        ("Linux-6.1-aarch64", ("neon", "asimd"), False),
        ("Windows-11-AMD64", ("avx2",), True),  # which does not report VNNI
        ("Windows-11-ARM64", ("asimd",), False),
        ("Linux-6.1-x86_64", (), True),  # not known
    ],
)
def test_int8_takes_part_unless_the_processor_is_known_to_have_no_instructions_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, flags: tuple[str, ...], takes_part: bool
) -> None:
    machine = replace(MACHINE, platform=system, isa_flags=flags)
    goal = wb.Goal(max_error=0.05)
    space = space_of(monkeypatch, tmp_path, tiny.mlp(), machine=machine, goal=goal)
    assert ("precision" in names(space)) == takes_part
    doubted = [advice for advice in advise(machine, CPU_ONLY, None) if "rarely be faster" in advice.text]
    assert bool(doubted) != takes_part, "the doctor says the same"


def test_the_parallel_mode_is_tried_where_branches_could_run_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "execution_mode" in names(space_of(monkeypatch, tmp_path, branches(4)))
    assert "execution_mode" not in names(space_of(monkeypatch, tmp_path, tiny.mlp()))


def test_passes_that_an_ablation_found_harmful_take_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = space_of(monkeypatch, tmp_path, tiny.mlp(), harmful=("BiasGeluFusion",))
    assert "disabled_passes.BiasGeluFusion" in names(space)


def test_memory_and_load_time_bring_their_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"cpu_arena", "saved_graph", "session_entries.session.disable_prepacking"}

    def of(objective: str) -> set[str]:
        space = space_of(monkeypatch, tmp_path, tiny.mlp(), objectives=("latency", objective))
        return {*names(space)} & {*settings, "memory_pattern"}

    assert of("memory") == {*settings, "memory_pattern"}
    assert of("load") == settings
    assert of("p99") == set()


def test_two_cores_vary_threads_and_levels_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert names(space_of(monkeypatch, tmp_path, tiny.mlp(), cores=2)) == ["intra_op_threads", "level"]


def test_smaller_blocks_of_loops_are_tried_on_more_than_four_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axis = "session_entries.session.dynamic_block_base"
    assert axis in names(space_of(monkeypatch, tmp_path, tiny.mlp(), cores=5))
    assert axis not in names(space_of(monkeypatch, tmp_path, tiny.mlp(), cores=4))


def test_sizes_that_were_given_may_be_fixed_and_guessed_ones_stay_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "free_dimensions" not in names(space_of(monkeypatch, tmp_path, tiny.bert_like()))
    space = space_of(monkeypatch, tmp_path, tiny.bert_like(), sizes={"sequence_length": 8})
    fixed = wb.Config(free_dimensions={"sequence_length": 8})
    assert [axis.options for axis in space.axes if axis.name == "free_dimensions"] == [(fixed,)]
    assert space.starts == (fixed.replace(disabled_passes=("SkipLayerNormFusion",)),)


def test_a_provider_takes_part_without_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    working = ("OpenVINOExecutionProvider", "XnnpackExecutionProvider", "DnnlExecutionProvider")
    space = space_of(monkeypatch, tmp_path, tiny.mlp(), working=working)
    (axis,) = [axis for axis in space.axes if axis.name == "providers"]
    assert tuple(option.providers[0].name for option in axis.options) == working
    assert all(option.providers[-1].name == "CPUExecutionProvider" for option in axis.options)
    assert "io_binding" not in names(space)


@pytest.mark.real
def test_openvino_takes_part_where_it_is_installed(tmp_path: Path, openvino: str) -> None:
    model = wb.load(tiny.save(tiny.mlp(), tmp_path))
    space = wb.default_space(model, base=wb.Config(runtime=openvino))
    (axis,) = [axis for axis in space.axes if axis.name == "providers"]
    assert "OpenVINOExecutionProvider" in [option.providers[0].name for option in axis.options]
    assert "providers.OpenVINOExecutionProvider.num_of_threads" in names(space)
    assert "io_binding" not in names(space)
