"""Spaces: what varies, narrowed and widened in one line; goals refuse what is no limit."""

from __future__ import annotations

import sys

import pytest

import workbench as wb
from workbench.core.config.passes import shipped_passes
from workbench.features.tune.space import changes_of, merged


def test_every_combination_is_a_config_and_the_base_comes_first() -> None:
    space = wb.Space.of(level=("basic",), disabled_passes=("BiasGeluFusion", "SkipLayerNormFusion"))
    configs = list(space.configs())
    assert len(configs) == len(space) == 8
    assert configs[0] == wb.Config()
    assert wb.Config(level="basic", disabled_passes=("BiasGeluFusion", "SkipLayerNormFusion")) in configs


def test_combinations_that_a_config_refuses_are_left_out() -> None:
    space = wb.Space.of(execution_mode=("parallel",), inter_op_threads=(2,))
    refused = [config for config in space.configs() if config.inter_op_threads and not config.execution_mode]
    assert merged(wb.Config(), wb.Config(level="basic")) == wb.Config(level="basic")
    assert len(list(space.configs())) + len(refused) <= len(space) + len(refused)


def test_none_is_always_an_option_and_counts_once() -> None:
    space = wb.Space.of(level=(None, "basic", "basic"))
    assert len(space) == 2
    assert space.size_in_words == "1 change, 2 combinations"


def test_more_combinations_than_a_length_can_say() -> None:
    space = wb.Space.of(disabled_passes=shipped_passes().names)
    assert len(space.axes) > 63
    assert len(space) == sys.maxsize
    assert len(space.moves) == len(space.axes)


def test_a_space_is_narrowed_and_widened() -> None:
    space = wb.Space.of(level=("basic",), disabled_passes=("BiasGeluFusion", "SkipLayerNormFusion"))
    assert len(space.without("disabled_passes")) == 2
    assert len(space.without("BiasGeluFusion")) == 4
    assert len(space.including(level=("disabled",))) == 12
    with pytest.raises(wb.ConfigError, match="does not vary 'precision'"):
        space.without("precision")


def test_what_is_no_list_of_values_is_refused() -> None:
    with pytest.raises(wb.ConfigError, match="is no list of values"):
        wb.Space.of(level="basic")
    with pytest.raises(wb.ConfigError, match="level cannot be"):
        wb.Space.of(level=("fast",))


def test_changes_are_counted_setting_by_setting() -> None:
    config = wb.Config(level="basic", disabled_passes=("BiasGeluFusion", "SkipLayerNormFusion"))
    assert changes_of(config, wb.Config()) == 3
    assert changes_of(wb.Config(), wb.Config()) == 0


@pytest.mark.parametrize("limit", [-1, float("nan"), "much", True])
def test_a_limit_is_a_number_from_0_up(limit: object) -> None:
    with pytest.raises(wb.ConfigError, match=r"max_load_s=.* is no limit"):
        wb.Goal(max_load_s=limit).check()  # type: ignore[arg-type]
