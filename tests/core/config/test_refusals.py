"""What ORT would refuse, crash on or ignore is refused by us, with the value, the reason and the way out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.config.strategies import refused, wrong
from workbench.core.config import KNOBS, Config, Provider
from workbench.core.errors import ConfigError

REFUSALS: list[tuple[dict[str, Any], str, str]] = [
    ({"level": "al"}, "'al'", "'all'"),
    ({"level": 99}, "99", "'layout'"),
    ({"execution_mode": "paralel"}, "'paralel'", "'parallel'"),
    ({"intra_op_threads": 0}, "0", "None"),
    ({"intra_op_threads": -1}, "-1", "None"),
    ({"intra_op_threads": True}, "True", "whole number"),
    ({"inter_op_threads": 2.0}, "2.0", "whole number"),
    ({"intra_op_threads": 2**31}, "2147483648", "1 or more"),
    ({"spinning": 1}, "1", "True, False"),
    ({"io_binding": None}, "None", "True or False"),
    ({"affinity": 3}, "3", "text"),
    ({"affinity": "1;2"}, "intra_op_threads is left to ORT", "Set intra_op_threads"),
    ({"affinity": "1", "intra_op_threads": 1}, "never pins", "2 intra_op_threads"),
    ({"affinity": "1", "intra_op_threads": 3}, "1 lists", "one list for each thread"),
    ({"affinity": "1;0", "intra_op_threads": 3}, "'0'", "from 1"),
    ({"affinity": "1; 2", "intra_op_threads": 3}, "' 2'", "from 1"),
    ({"affinity": "4-2;1", "intra_op_threads": 3}, "'4-2'", "from 1"),
    ({"affinity": "1-999999999;1", "intra_op_threads": 3}, "'1-999999999'", "from 1"),
    ({"affinity": ",".join(["1-65536"] * 2000), "intra_op_threads": 2}, "'1-65536'", "from 1"),
    ({"affinity": "", "intra_op_threads": 2}, "''", "from 1"),
    ({"free_dimensions": {"batch": 0}}, "batch=0", "1 or more"),
    ({"free_dimensions": {"batch": True}}, "batch=True", "1 or more"),
    ({"free_dimensions": {"": 1}}, "''", "not empty"),
    ({"free_dimensions": {"\ud800": 1}}, "half a character", "without these"),
    ({"free_dimensions": {"a\0b": 1}}, "NUL", "without these"),
    ({"session_entries": {"a\0b": 1}, "allow_unknown": True}, "NUL", "without these"),
    ({"intra_op_threads": 10**5000}, "too large to show", "1 or more"),
    ({"free_dimensions": [("b", 1), ("b", 2)]}, "b", "once"),
    ({"free_dimensions": "batch=1"}, "'batch=1'", "dict"),
    ({"disabled_passes": "GeluFusionL2"}, "'GeluFusionL2'", "tuple"),
    ({"disabled_passes": ["Gelu Fusion;"]}, "'Gelu Fusion;'", "letters"),
    ({"providers": ["cudda"]}, "'cudda'", "'cuda'"),
    ({"providers": ["rocm"]}, "'rocm'", "migraphx"),
    ({"providers": ["ROCMExecutionProvider"]}, "no longer", "migraphx"),
    ({"providers": ["cpu", "CPUExecutionProvider"]}, "listed twice", "once"),
    ({"providers": {"cuda": {}}}, "{'cuda': {}}", "list"),
    ({"providers": [7]}, "7", "list"),
    ({"providers": ["tensorrt", "tensorrt-rtx"]}, "exclude each other", "one of them"),
    (
        {"providers": [("cuda", {"cudnn_conv_algo": "DEFAULT"})]},
        "'cudnn_conv_algo'",
        "cudnn_conv_algo_search",
    ),
    ({"providers": [("cpu", {"use_arena": 1})]}, "'use_arena'", "takes none"),
    ({"providers": [("cuda", {"enable_cuda_graph": 1})]}, "io_binding is off", "io_binding=True"),
    (
        {"providers": [("cuda", {"enable_cuda_graph": 1})], "io_binding": True, "execution_mode": "parallel"},
        "one stream",
        "sequential",
    ),
    ({"providers": ["dml"], "memory_pattern": True}, "memory patterns", "None or False"),
    ({"providers": ["dml"], "execution_mode": "parallel"}, "one operator after another", "sequential"),
    (
        {"providers": [("tensorrt", {"trt_profile_min_shapes": "x:1"})]},
        "trt_profile_min_shapes",
        "trt_profile_max_shapes",
    ),
    ({"providers": [("openvino", {"device_type": "gpu"})]}, "'gpu'", "AUTO:GPU,CPU"),
    ({"providers": [("qnn", {"backend_type": "htp", "backend_path": "x"})]}, "backend_path", "one of them"),
    ({"providers": [("cuda", {"tunable_op_tuning_enable": True})]}, "alone", "tunable_op_enable=1"),
    ({"session_entries": {"session.use_env_alocators": 1}}, "silently", "'session.use_env_allocators'"),
    ({"session_entries": {"session.use_env_allocators": "maybe"}}, "'maybe'", "True or False"),
    ({"session_entries": {"session.load_model_format": "onnx"}}, "'onnx'", "'ONNX'"),
    ({"session_entries": {"session.graph_optimizations_loop_level": 3}}, "'3'", "up to 2"),
    ({"session_entries": {"mlas.kleidiai.conv_igemm_max_work": "+4"}}, "'+4'", "whole number"),
    ({"session_entries": {"mlas.kleidiai.conv_igemm_max_work": -1}}, "'-1'", "from 0"),
    (
        {"session_entries": {"mlas.nchwc_pointwise_conv_max_input_channel_batch": 2**64}},
        "'18446744073709551616'",
        "18446744073709551615",
    ),
    ({"session_entries": {"session.moe_expert_counter_alpha": 0.5}}, "alone", "enable_moe_expert_counting"),
    ({"session_entries": {"session.intra_op_thread_affinities": "1"}}, "cannot be set here", "affinity"),
    ({"session_entries": {"session.intra_op_num_threads": 2}}, "cannot be set here", "intra_op_threads"),
    ({"session_entries": {"session.graph_optimization_level": "all"}}, "cannot be set here", "level"),
    (
        {"session_entries": {"optimization.disable_specified_optimizers": "A;B"}},
        "cannot be set here",
        "disabled_passes",
    ),
    ({"session_entries": {"session.enable_profiling": 1}}, "cannot be set here", "profiling"),
    ({"session_entries": {"session.compile_only": 1}}, "cannot be set here", "cannot run"),
    (
        {"session_entries": {"session.intra_op.allow_spinning": 1}, "spinning": False},
        "both set",
        "one of them",
    ),
    ({"session_entries": {"session.disable_cpu_ep_fallback": 1}}, "no other provider", "accelerator alone"),
    (
        {"session_entries": {"session.disable_cpu_ep_fallback": 1}, "providers": ["cuda", "cpu"]},
        "the CPU is listed",
        "accelerator alone",
    ),
    (
        {
            "session_entries": {
                "session.layer_assignment_settings": "a(b)",
                "session.name_based_layer_assignment": "a(b)",
            }
        },
        "exclude each other",
        "one of them",
    ),
    ({"session_entries": {"session.dynamic_block_base": None}}, "None", "text"),
    ({"session_entries": {"a" * 1025: "1"}, "allow_unknown": True}, "too long", "1024"),
    ({"run_entries": {"memory.enable_arena_shrinkage": "cpu:0"}}, "run entry", "memory.enable_memory_arena"),
    ({"run_entries": {"gpu_graph_id": -2}}, "'-2'", "from -1"),
]


@pytest.mark.parametrize(("given", "problem", "fix"), REFUSALS)
def test_refused(given: dict[str, Any], problem: str, fix: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config(**given)
    assert problem in caught.value.problem
    assert fix in caught.value.fix
    assert caught.value.fix.endswith(".")


def test_legal_neighbours_are_taken() -> None:
    Config(providers=["cuda"], session_entries={"session.disable_cpu_ep_fallback": 1})
    Config(providers=["cuda", "cpu"], session_entries={"session.disable_cpu_ep_fallback": 0})
    Config(providers=[("cuda", {"enable_cuda_graph": True})], io_binding=True)
    Config(providers=["dml"], memory_pattern=False, execution_mode="sequential")
    Config(affinity="2;3-4,7", intra_op_threads=3)
    Config(session_entries={"mlas.kleidiai.conv_igemm_max_work": 2**64 - 1})
    Config(session_entries={"session.intra_op.allow_spinning": 0})


def test_unknown_names_pass_only_on_request() -> None:
    config = Config(
        providers=[("cuda", {"made_tomorrow": True}), "MyPluginProvider"],
        session_entries={"session.made_tomorrow": 1},
        run_entries={"made.tomorrow": "x"},
        allow_unknown=True,
    )
    assert config.plan().to_dict()["providers"] == [
        ["CUDAExecutionProvider", {"made_tomorrow": "1"}],
        ["MyPluginProvider", {}],
    ]
    assert dict(config.plan().entries) == {"session.made_tomorrow": "1"}
    with pytest.raises(ConfigError):
        config.replace(allow_unknown=False)


def test_allow_unknown_does_not_let_a_killing_value_through() -> None:
    with pytest.raises(ConfigError):
        Config(session_entries={"mlas.kleidiai.conv_igemm_max_work": "lots"}, allow_unknown=True)


@given(st.sampled_from([knob.field for knob in KNOBS]), wrong)
def test_any_value_of_any_field_is_taken_or_refused_in_words(field: str, value: object) -> None:
    error = refused(lambda: Config(**{field: value}))
    if error is not None:
        assert field in str(error) or "provider" in str(error) or "entry" in str(error)
        assert len(str(error)) < 2_000


def test_a_megabyte_of_text_is_not_repeated() -> None:
    long = "x" * 1_000_000
    cases: list[dict[str, Any]] = [
        {"level": long},
        {"affinity": long, "intra_op_threads": 2},
        {"disabled_passes": [long + ";"]},
        {"providers": [long]},
        {"providers": [Provider("cuda", {long: 1})]},
        {"session_entries": {long: "1"}},
        {"session_entries": {"session.load_model_format": long}},
        {"free_dimensions": {long: 0}},
    ]
    for case in cases:
        error = refused(lambda case=case: Config(**case))
        assert error is not None
        assert len(str(error)) < 2_000


def test_notes_say_what_is_legal_but_pointless() -> None:
    assert Config().notes(cores=2) == ()
    assert "64 intra-op threads share 2 usable cores" in Config(intra_op_threads=64).notes(cores=2)[0]
    assert Config(intra_op_threads=64).notes(cores=64) == ()
    assert "does nothing in the sequential mode" in Config(inter_op_threads=2).notes(cores=8)[0]
    assert "one inter-op thread" in Config(execution_mode="parallel", inter_op_threads=1).notes(cores=8)[0]
    assert "Spinning does nothing" in Config(spinning=True, intra_op_threads=1).notes(cores=8)[0]
    assert "no pass runs" in Config(level="disabled", disabled_passes=["ConvBNFusion"]).notes(cores=8)[0]
    assert "listed after it" in Config(providers=["cpu", "cuda"]).notes(cores=8)[0]
    assert "go to the CPU" in Config(providers=["tensorrt"]).notes(cores=8)[0]
    assert "spinning=False" in Config(providers=[("xnnpack", {"intra_op_num_threads": 4})]).notes(cores=8)[0]
    untried = Config(providers=[("vitisai", {"intra_op_num_threads": "auto"})])
    assert "was not tried" in untried.notes(cores=8)[0]
    assert "Memory patterns" in Config(memory_pattern=True, execution_mode="parallel").notes(cores=8)[0]
    shrinking = Config(cpu_arena=False, run_entries={"memory.enable_memory_arena_shrinkage": "cpu:0"})
    assert "no CPU arena" in shrinking.notes(cores=8)[0]
    assert "processor 99999" in Config(affinity="99999", intra_op_threads=2).notes(cores=8)[0]


def test_notes_ask_the_machine_when_not_told() -> None:
    assert Config(intra_op_threads=2**31 - 1).notes()


def test_a_misspelt_pass_is_refused_at_once_with_the_nearest_name() -> None:
    error = refused(lambda: Config(disabled_passes=("GeluFusionL2", "BiasGeluFusio")))
    assert error is not None
    assert "'BiasGeluFusio'" in error.problem
    assert "'BiasGeluFusion'" in error.fix
    assert Config(disabled_passes=("MyFusion",), allow_unknown=True).disabled_passes == ("MyFusion",)
    assert Config(disabled_passes=("MyFusion",), runtime="…/env/bin/python").disabled_passes == ("MyFusion",)
