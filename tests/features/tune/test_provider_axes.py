"""The axes of providers: each option on its own provider, and every config of the space is valid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

import workbench as wb
from tests.amount import sample
from tests.core.models import tiny
from tests.factories.results import study
from workbench.core.bundle.machine import Gpu
from workbench.core.config import Config
from workbench.core.models.fit import check_fit
from workbench.core.models.model import Model
from workbench.features.tune import default_space as spaces
from workbench.features.tune.axes import CUDA, OPENVINO, TENSORRT
from workbench.features.tune.optuna_trials import config_of, params_of
from workbench.features.tune.space import Space, changes_of, combined, merged

GUARDED = wb.Goal(max_accuracy_drop=0.02)
GPUS = (Gpu("NVIDIA H200", None, None), Gpu("Intel GPU 0x56a0", None, None))


class NothingFires:
    applied: tuple[Any, ...] = ()


@pytest.fixture
def gpu_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of two cores with two GPUs, on which three providers work."""
    machine = replace(
        study().selection.machine, usable_cores=2, quota_cores=None, gpus=GPUS, isa_flags=("avx512_vnni",)
    )
    monkeypatch.setattr(spaces, "read_machine", lambda: machine)
    monkeypatch.setattr(spaces, "observe", lambda *_, **__: NothingFires())
    monkeypatch.setattr(spaces, "finding_axes", lambda *_, **__: {})
    monkeypatch.setattr(spaces, "working_providers", lambda *_, **__: (TENSORRT, CUDA, OPENVINO))
    monkeypatch.setattr(spaces, "working_plugins", lambda *_: ())


def space_of(model: Model, goal: wb.Goal = GUARDED, **changes: Any) -> Space:
    return spaces.default_space(model, model.inputs(**changes.pop("sizes", {})), goal=goal, **changes)


def options_of(space: Space, name: str) -> list[Config]:
    return [option for axis in space.axes if axis.name.endswith(name) for option in axis.options]


@pytest.mark.thorough
@pytest.mark.usefixtures("gpu_machine")
@pytest.mark.parametrize(("name", "sizes"), [("digits-vit", {}), ("digits-conv", {"batch": 1})])
def test_every_config_of_the_space_is_valid(name: str, sizes: dict[str, int]) -> None:
    model = wb.load(name)
    space = space_of(model, sizes=sizes)
    configs = list(space.configs())
    assert len(configs) == len({*configs}) == len(space)
    assert len(space.moves) <= 20
    for config in sample(configs, 100, name):
        assert Config.from_dict(config.to_dict()) == config
        check_fit(model, config)
        config.plan()
        assert config_of(space, Config(), params_of(space, config)) == config
        names = [provider.name for provider in config.providers]
        assert not config.io_binding or names[0] in (CUDA, TENSORRT)
        if config.fusion is not None or isinstance(config.precision, wb.Float16):
            assert names[0] == CUDA
        if names and config.providers[0].option("enable_cuda_graph"):
            assert config.io_binding
            assert dict(config.free_dimensions) == sizes


@pytest.mark.usefixtures("gpu_machine")
def test_a_cuda_graph_takes_sizes_that_are_known() -> None:
    model = wb.load("digits-vit")
    assert not options_of(space_of(model), "enable_cuda_graph")
    (option,) = options_of(space_of(model, sizes={"batch": 4}), "enable_cuda_graph")
    assert option.free_dimensions == (("batch", 4),)


@pytest.mark.usefixtures("gpu_machine")
def test_16_bits_take_part_behind_a_limit_alone() -> None:
    model = wb.load("digits-vit")
    guarded, free = space_of(model), space_of(model, wb.Goal())
    half = [
        option
        for _, option in guarded.moves
        if isinstance(option.precision, wb.Float16) or any(part.allows_half for part in option.providers)
    ]
    assert [option.providers[0].name for option in half] == [CUDA, TENSORRT, OPENVINO]
    assert not any(option in half for _, option in free.moves)


@pytest.mark.usefixtures("gpu_machine")
def test_fusion_is_for_transformers_and_layout_for_convolutions() -> None:
    transformer, convolutional = space_of(wb.load("digits-vit")), space_of(wb.load("digits-conv"))
    assert options_of(transformer, "fusion")
    assert not options_of(convolutional, "fusion")
    for name in ("prefer_nhwc", "cudnn_conv_algo_search"):
        assert options_of(convolutional, name)
        assert not options_of(transformer, name)


@pytest.mark.usefixtures("gpu_machine")
def test_tensorrt_keeps_engines_of_each_model_apart_and_leaves_nodes_to_cuda() -> None:
    vit, conv = (
        options_of(space_of(wb.load(name)), "trt_builder_optimization_level")[0].providers
        for name in ("digits-vit", "digits-conv")
    )
    assert [provider.name for provider in vit] == [TENSORRT, CUDA, "CPUExecutionProvider"]
    assert vit[0].option("trt_engine_cache_enable") == "True"
    assert vit[0].option("trt_engine_cache_path") != conv[0].option("trt_engine_cache_path")


@pytest.mark.usefixtures("gpu_machine")
def test_openvino_has_streams_for_throughput_and_a_cache_for_load_time() -> None:
    model = wb.load("digits-conv")
    assert not options_of(space_of(model), "num_streams")
    assert options_of(space_of(model, objectives=("throughput",)), "num_streams")
    assert not options_of(space_of(model), "cache_dir")
    assert options_of(space_of(model, objectives=("load",)), "cache_dir")


@pytest.mark.usefixtures("gpu_machine")
def test_a_space_without_providers_has_none_of_their_options() -> None:
    space = space_of(wb.load("digits-vit")).without("providers")
    assert not any(config.providers for config in space.configs())
    assert [axis.name for axis in space.axes] == ["precision", "intra_op_threads", "level"]


def test_options_of_one_provider_add_up_and_those_of_two_exclude_each_other() -> None:
    nhwc = wb.Config(providers=(wb.Provider("cuda", prefer_nhwc=True), wb.Provider("cpu")))
    search = wb.Config(
        providers=(wb.Provider("cuda", cudnn_conv_algo_search="HEURISTIC"), wb.Provider("cpu"))
    )
    openvino = wb.Config(providers=("openvino", "cpu"))
    both = combined(wb.Config(), (nhwc, search))
    assert both is not None
    assert dict(both.providers[0].options) == {"prefer_nhwc": "1", "cudnn_conv_algo_search": "HEURISTIC"}
    assert changes_of(both, wb.Config()) == 3
    assert merged(nhwc, openvino) == openvino
    assert combined(wb.Config(), (nhwc, openvino)) is None


@pytest.mark.usefixtures("gpu_machine")
def test_a_model_whose_input_is_open_has_no_cuda_graph(tmp_path: Path) -> None:
    proto = tiny.model(
        [helper.make_node("Exp", ["x"], ["y"])], [tiny.tensor("x", [None])], [tiny.tensor("y", [None])]
    )
    model = wb.load(tiny.save(proto, tmp_path))
    assert not options_of(space_of(model), "enable_cuda_graph")
