"""The catalogue is complete, consistent with itself, and found by name, by search and as a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.config import Config, Provider, catalogue, shipped_passes
from workbench.core.config.catalogue import ORT_VERSION
from workbench.core.config.option import is_secret
from workbench.core.config.provider import UNTRIED
from workbench.core.errors import ConfigError
from workbench.core.text import nearest

ALL = catalogue().all_options
ARTICLE = {  # every option and attribute that the article's readers meet
    "cuda": (
        "device_id arena_extend_strategy cudnn_conv_algo_search do_copy_in_default_stream "
        "cudnn_conv_use_max_workspace gpu_mem_limit enable_cuda_graph"
    ),
    "tensorrt": (
        "device_id trt_max_workspace_size trt_fp16_enable trt_int8_enable trt_engine_cache_enable "
        "trt_engine_cache_path trt_max_partition_iterations trt_min_subgraph_size "
        "trt_builder_optimization_level"
    ),
}
PROVIDERS = "cpu cuda tensorrt tensorrt-rtx openvino dml coreml nnapi qnn migraphx xnnpack webgpu"


def test_every_provider_of_the_article_has_its_card() -> None:
    assert [card.alias for card in catalogue().providers] == PROVIDERS.split()
    for card in catalogue().providers:
        for text in (card.hardware, card.platforms, card.wheel, card.strengths, card.limits):
            assert text.endswith(".")
            assert len(text) < 130


@pytest.mark.parametrize("alias", ARTICLE)
def test_every_option_of_the_article_is_there(alias: str) -> None:
    assert set(ARTICLE[alias].split()) <= {option.name for option in catalogue().options(alias)}


def test_every_option_says_what_it_is() -> None:
    owners = {card.name for card in catalogue().providers} | {"session", "run"}
    assert len({(option.owner, option.name) for option in ALL}) == len(ALL)
    for option in ALL:
        assert option.owner in owners
        assert option.help.endswith(".")
        assert len(option.help) < 160
        assert option.source
        assert option.minimum is None or option.maximum is None or option.minimum <= option.maximum
        assert (len(option.choices) == 2) if option.type == "bool" else True
        assert option.choices if option.type == "enum" else True


def test_a_default_is_a_value_that_the_option_takes() -> None:
    with_default = [o for o in ALL if o.default and o.type != "address" and o.instead is None]
    assert len(with_default) > 100
    assert [o.label for o in with_default if o.render(o.default) != o.default] == []


def test_needs_name_options_of_the_same_owner() -> None:
    for option in ALL:
        for key, value in option.needs:
            assert catalogue().option(option.owner, key).render(value) == value


def test_lookup_by_alias_and_by_name() -> None:
    option = catalogue().option("cuda", "gpu_mem_limit")
    assert option is catalogue().find("CUDAExecutionProvider", "gpu_mem_limit")
    assert (option.type, option.minimum, option.in_this_ort) == ("int", 1, True)
    assert catalogue().provider("TENSORRT").name == "TensorrtExecutionProvider"
    assert catalogue().options("cpu") == ()
    assert catalogue().find("cuda", "nothing") is None


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="'device_idd'") as caught:
        catalogue().option("cuda", "device_idd")
    assert "'device_id'" in caught.value.fix
    with pytest.raises(ConfigError, match="'vulkan'") as caught:
        catalogue().provider("vulkan")
    assert "webgpu" in caught.value.fix


def test_search_wants_every_word() -> None:
    options = catalogue().search("arena doubling")
    assert {(option.owner, option.name) for option in options} == {
        ("CUDAExecutionProvider", "arena_extend_strategy"),
        ("MIGraphXExecutionProvider", "migraphx_arena_extend_strategy"),
    }
    assert catalogue().search("") == ALL
    assert catalogue().search("no such thing at all") == ()


def test_as_a_table() -> None:
    frame = catalogue().to_frame()
    assert len(frame) == len(ALL)
    row = frame[(frame.owner == "session") & (frame.name == "session.disable_prepacking")].iloc[0]
    assert row.type == "bool"
    assert row.default == "0"


def test_allowed_values_in_words() -> None:
    assert catalogue().option("cuda", "use_tf32").allowed == "True or False"
    assert catalogue().option("tensorrt", "trt_builder_optimization_level").allowed.endswith("from 0 up to 5")
    assert "'HEURISTIC'" in catalogue().option("cuda", "cudnn_conv_algo_search").allowed
    assert catalogue().option("openvino", "load_config").allowed == "the text of a JSON object"
    assert catalogue().option("session", "session.max_shape_override").allowed == "a text"


def test_passes_are_listed_by_level() -> None:
    passes = shipped_passes()
    assert passes.ort_version == ORT_VERSION
    assert {graph_pass.level for graph_pass in passes.passes} == {1, 2, 3, 4}
    levels = {(graph_pass.name, graph_pass.level) for graph_pass in passes.passes}
    assert ("NchwcTransformer", 3) in levels
    assert {("MatMulAddFusion", 1), ("MatMulAddFusion", 2)} <= levels
    for graph_pass in passes.passes:
        assert graph_pass.part_of is None or graph_pass.part_of in passes.names
        assert graph_pass.asked_for_by is None or graph_pass.asked_for_by.removesuffix("=1") in {
            option.name for option in catalogue().options("session")
        }


def test_unknown_passes_and_what_was_meant() -> None:
    assert shipped_passes().unknown(("GeluFusionL2", "GeluFusion")) == ("GeluFusion",)
    names = shipped_passes().names
    assert nearest("GeluFusion", names, 1)[0] in ("GeluFusionL1", "GeluFusionL2")
    assert nearest("nchwctransformer", names, 1) == ["NchwcTransformer"]
    assert nearest("zzz", names) == []
    assert nearest("MyFusio", ["MyFusion", "YourFusion"], 1) == ["MyFusion"]


def test_the_page_on_providers_lists_every_name() -> None:
    page = (Path(__file__).parents[3] / "docs" / "providers.md").read_text("utf-8")
    names = [*(card.alias for card in catalogue().providers), *UNTRIED]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_a_provider_that_ort_has_and_the_catalogue_has_not_is_taken_by_name() -> None:
    config = Config(providers=[Provider("vitisai", config_file="vaip.json"), "cpu"])
    assert config.providers[0].name == "VitisAIExecutionProvider"
    assert any("knows none of its options" in note for note in config.notes())


def test_no_known_option_is_taken_for_a_secret() -> None:
    assert [option.name for option in ALL if is_secret(option.name)] == []
    named = "api_key azure.auth_key accessKey access-token auth_token PASSWORD aws_secret_access_key sas"
    assert [name for name in named.split() if not is_secret(name)] == []
    plain = "max_tokens token_type_ids keys session.key_value device_id tokenizer basic author_keyboard"
    assert [name for name in plain.split() if is_secret(name)] == []
