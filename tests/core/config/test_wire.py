"""A config survives JSON, and a stranger's JSON is either a legal config or refused in words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.config.strategies import configs, refused, wrong
from workbench.core.config import KNOBS, Config
from workbench.core.errors import ConfigError


@given(configs())
def test_round_trip(config: Config) -> None:
    text = json.dumps(config.to_dict())
    again = Config.from_dict(json.loads(text))
    assert again == config
    assert again.plan() == config.plan()
    assert json.dumps(again.plan().to_dict()) == json.dumps(config.plan().to_dict())


def test_only_what_was_set_is_written() -> None:
    assert Config().to_dict() == {}
    assert Config(level="all", providers=[("cuda", {"device_id": 1})]).to_dict() == {
        "level": "all",
        "providers": [{"name": "CUDAExecutionProvider", "options": {"device_id": "1"}}],
    }


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "[]"),
        (None, "None"),
        ({"levels": "all"}, "'levels'"),
        ({"__class__": "x"}, "'__class__'"),
        ({3: "all"}, "3"),
        ({"level": ["all"]}, "['all']"),
        ({"intra_op_threads": "2"}, "'2'"),
        ({"intra_op_threads": 1.0}, "1.0"),
        ({"io_binding": 1}, "1"),
        ({"disabled_passes": "ConvBNFusion"}, "'ConvBNFusion'"),
        ({"disabled_passes": [["ConvBNFusion"]]}, "['ConvBNFusion']"),
        ({"precision": {"kind": []}}, "[]"),
        ({"providers": "cuda"}, "'cuda'"),
        ({"providers": ["cuda"]}, "'cuda'"),
        ({"providers": [{"name": "cuda"}]}, "['name']"),
        ({"providers": [{"name": "cuda", "options": {}, "code": ""}]}, "'code'"),
        ({"providers": [{"name": "cuda", "options": []}]}, "[]"),
        ({"providers": [{"name": "cuda", "options": {"device_id": 1}}]}, "'device_id'"),
        ({"providers": [{"name": 1, "options": {}}]}, "1"),
        ({"session_entries": [["session.use_env_allocators", "1"]]}, "session_entries"),
        ({"session_entries": {"session.use_env_allocators": 1}}, "session.use_env_allocators"),
        ({"free_dimensions": {"batch": "1"}}, "batch='1'"),
        ({"session_entries": {"mlas.kleidiai.conv_igemm_max_work": "x"}}, "'x'"),
    ],
)
def test_anything_else_is_refused(data: Any, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_dict(data)
    assert problem in caught.value.problem


json_values = st.recursive(
    wrong, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
)


def test_a_deep_value_is_refused_in_words() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    for data in ({"level": deep}, {"disabled_passes": deep}, {"free_dimensions": {"batch": deep}}):
        with pytest.raises(ConfigError):
            Config.from_dict(data)


@given(st.dictionaries(st.sampled_from([knob.field for knob in KNOBS]) | st.text(max_size=5), json_values))
def test_a_stranger_s_json_never_crashes(data: dict[str, Any]) -> None:
    error = refused(lambda: Config.from_dict(data))
    if error is None:
        assert Config.from_dict(Config.from_dict(data).to_dict()) == Config.from_dict(data)
