"""A Config is a value: normal, equal, hashable, frozen, and says only what was set."""

from __future__ import annotations

import copy
import dataclasses
import subprocess
import sys

import pytest
from hypothesis import given

from tests.core.config.strategies import configs
from workbench.core.config import KNOBS, Config, Provider
from workbench.core.errors import ConfigError


def test_told_nothing_plans_nothing_but_the_cpu() -> None:
    assert Config().plan().to_dict() == {
        "attributes": {},
        "entries": {},
        "free_dimensions": {},
        "disabled_optimizers": [],
        "providers": [["CPUExecutionProvider", {}]],
        "run_entries": {},
        "io_binding": False,
        "custom_ops": [],
        "plugins": {},
        "policy": None,
        "preload_libraries": False,
    }


def test_wide_values_become_one_form() -> None:
    wide = Config(
        providers=["cuda", ("tensorrt", {"trt_fp16_enable": True}), "cpu"],
        free_dimensions={"sequence": 128, "batch": 1},
        session_entries={"session.use_env_allocators": True, "session.dynamic_block_base": 4},
        disabled_passes=["GeluFusionL2", "BiasGeluFusion", "GeluFusionL2"],
    )
    assert wide.providers == (Provider("cuda"), Provider("tensorrt", trt_fp16_enable="true"), Provider("cpu"))
    assert wide.free_dimensions == (("batch", 1), ("sequence", 128))
    assert wide.session_entries == (
        ("session.dynamic_block_base", "4"),
        ("session.use_env_allocators", "1"),
    )
    assert wide.disabled_passes == ("BiasGeluFusion", "GeluFusionL2")


def test_two_ways_to_say_the_same_are_equal() -> None:
    first = Config(providers=["CUDA"], session_entries={"session.use_env_allocators": "true"})
    other = Config(
        providers=[Provider("CUDAExecutionProvider")], session_entries={"session.use_env_allocators": 1}
    )
    assert first == other
    assert hash(first) == hash(other)
    assert len({first, other, Config()}) == 2


def test_replace_keeps_the_rest_and_refuses_unknown_fields() -> None:
    first = Config(level="basic", io_binding=True)
    assert first.replace(level="all") == Config(level="all", io_binding=True)
    assert first.level == "basic"
    with pytest.raises(ConfigError, match="no field 'intra_threads'") as caught:
        first.replace(intra_threads=2)
    assert "'intra_op_threads'" in caught.value.fix


def test_every_field_has_its_knob_and_every_knob_its_words() -> None:
    assert len(KNOBS) == len(dataclasses.fields(Config))
    assert {knob.field for knob in KNOBS} == {field.name for field in dataclasses.fields(Config)}
    for knob in KNOBS:
        assert knob.help.endswith(".")
        assert knob.when.endswith(".")
        assert knob.label
        assert knob.unset


@given(configs())
def test_a_drawn_config_is_its_own_repr_and_copy(config: Config) -> None:
    assert eval(repr(config), {"Config": Config, "Provider": Provider}) == config
    assert copy.deepcopy(config) == config
    assert config.replace() == config
    assert hash(config.replace()) == hash(config)
    assert all(note.endswith(".") for note in config.notes())
    assert len(config._repr_html_()) < 10_000


@given(configs())
def test_every_attribute_of_a_plan_is_of_session_options(config: Config) -> None:
    plan = config.plan()
    assert {name for name, _ in plan.attributes} <= {
        "graph_optimization_level",
        "execution_mode",
        "intra_op_num_threads",
        "inter_op_num_threads",
        "enable_mem_pattern",
        "enable_mem_reuse",
        "enable_cpu_mem_arena",
        "use_deterministic_compute",
    }
    assert plan.providers
    assert hash(plan) == hash(config.replace().plan())


def test_the_plan_says_each_field_in_ort_s_words() -> None:
    plan = Config(
        level="layout",
        disabled_passes=("ConstantFolding",),
        providers=[Provider("cuda", device_id=1)],
        intra_op_threads=3,
        inter_op_threads=2,
        execution_mode="parallel",
        spinning=False,
        affinity="1;2-3",
        memory_pattern=False,
        memory_reuse=False,
        cpu_arena=False,
        free_dimensions={"batch": 4},
        io_binding=True,
        deterministic=True,
        session_entries={"session.set_denormal_as_zero": True},
        run_entries={"memory.enable_memory_arena_shrinkage": "cpu:0"},
    ).plan()
    assert plan.to_dict() == {
        "attributes": {
            "graph_optimization_level": "GraphOptimizationLevel.ORT_ENABLE_LAYOUT",
            "execution_mode": "ExecutionMode.ORT_PARALLEL",
            "intra_op_num_threads": 3,
            "inter_op_num_threads": 2,
            "enable_mem_pattern": False,
            "enable_mem_reuse": False,
            "enable_cpu_mem_arena": False,
            "use_deterministic_compute": True,
        },
        "entries": {
            "session.inter_op.allow_spinning": "0",
            "session.intra_op.allow_spinning": "0",
            "session.intra_op_thread_affinities": "1;2-3",
            "session.set_denormal_as_zero": "1",
        },
        "free_dimensions": {"batch": 4},
        "disabled_optimizers": ["ConstantFolding"],
        "providers": [["CUDAExecutionProvider", {"device_id": "1"}]],
        "run_entries": {"memory.enable_memory_arena_shrinkage": "cpu:0"},
        "io_binding": True,
        "custom_ops": [],
        "plugins": {},
        "policy": None,
        "preload_libraries": True,
    }


def test_only_what_was_set_is_shown() -> None:
    assert repr(Config()) == "Config()"
    assert (
        repr(Config(level="all", providers=["cuda"])) == "Config(level='all', providers=(Provider('cuda'),))"
    )


def test_html_of_hostile_names_is_text() -> None:
    config = Config(
        free_dimensions={"<script>alert(1)</script>": 1},
        session_entries={"<img src=x>": "<b>" * 100_000},
        allow_unknown=True,
    )
    html = config._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert len(html) < 2_000


def test_importing_config_imports_nothing_heavy() -> None:
    heavy = ["onnxruntime", "onnx", "numpy", "pandas", "plotly", "ipywidgets", "difflib"]
    code = (
        "import sys, workbench.core.config as c; c.Config(level='all', providers=['cuda']); "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
