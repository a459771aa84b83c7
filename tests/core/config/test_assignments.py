"""Configs from a command line's texts."""

from __future__ import annotations

import pytest

from workbench.core.config import Config, Provider
from workbench.core.errors import ConfigError


def test_every_kind_of_field() -> None:
    config = Config.from_assignments(
        [
            "level=all",
            "intra_op_threads=2",
            "disabled_passes=GeluFusionL2, BiasGeluFusion",
            "session_entries.session.use_env_allocators=1",
            "run_entries.memory.enable_memory_arena_shrinkage=cpu:0;gpu:0",
            "providers.cuda.device_id=1",
            "providers=cuda,cpu",
            "free_dimensions.batch=4",
            "spinning=off",
            "io_binding=true",
            "affinity=1-2",
            "execution_mode=sequential",
        ]
    )
    assert config == Config(
        level="all",
        intra_op_threads=2,
        disabled_passes=("GeluFusionL2", "BiasGeluFusion"),
        session_entries={"session.use_env_allocators": True},
        run_entries={"memory.enable_memory_arena_shrinkage": "cpu:0;gpu:0"},
        providers=[Provider("cuda", device_id=1), "cpu"],
        free_dimensions={"batch": 4},
        spinning=False,
        io_binding=True,
        affinity="1-2",
        execution_mode="sequential",
    )


def test_a_base_is_changed_and_words_unset() -> None:
    base = Config(
        level="basic",
        intra_op_threads=2,
        spinning=True,
        disabled_passes=("ConvBNFusion",),
        providers=["cuda"],
        free_dimensions={"batch": 1},
    )
    texts = [
        "level=default",
        "intra_op_threads=auto",
        "spinning=none",
        "disabled_passes=none",
        "free_dimensions=none",
    ]
    assert Config.from_assignments([*texts, "providers.cuda.use_tf32=off"], base) == Config(
        providers=[("cuda", {"use_tf32": False})]
    )
    assert Config.from_assignments(["free_dimensions.sequence=8"], base).free_dimensions == (
        ("batch", 1),
        ("sequence", 8),
    )
    assert Config.from_assignments([], base) == base


def test_several_names_are_listed_with_commas() -> None:
    config = Config.from_assignments(["free_dimensions=batch=1, sequence=8"])
    assert config.free_dimensions == (("batch", 1), ("sequence", 8))


def test_values_may_hold_equals_signs_and_names_dots() -> None:
    config = Config.from_assignments(["session_entries.my.own.key=a=b", "allow_unknown=yes"])
    assert config.session_entries == (("my.own.key", "a=b"),)


@pytest.mark.parametrize(
    ("texts", "problem", "fix"),
    [
        (["level"], "'level'", "level=all"),
        (["levl=all"], "'levl'", "'level'"),
        (["level=al"], "'al'", "'all'"),
        (["level=all", "level=basic"], "twice", "once"),
        (["intra_op_threads=two"], "'two'", "whole number"),
        (["intra_op_threads=0"], "0", "None"),
        (["intra_op_threads=--2"], "--2", "whole number"),
        (["io_binding=maybe"], "'maybe'", "on or off"),
        (["level.x=1"], "'x'", "level=VALUE"),
        (["free_dimensions=4"], "'4'", "free_dimensions.NAME=VALUE"),
        (["free_dimensions=batch=1, 4"], "'batch=1, 4'", "NAME=VALUE"),
        (["free_dimensions=batch=x"], "'x'", "whole number"),
        (["free_dimensions.batch=x"], "'x'", "whole number"),
        (["providers.cuda=1"], "providers.cuda", "device_id=0"),
        (["providers=cpu", "providers.cuda.device_id=0"], "'cuda'", "providers=cuda"),
        (["providers.cuda.device_id=-1", "providers=cuda"], "'-1'", "from 0"),
    ],
)
def test_refused(texts: list[str], problem: str, fix: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_assignments(texts)
    assert problem in caught.value.problem
    assert fix in caught.value.fix
