"""Every kind of knob reads back what it wrote, in every form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import workbench as wb
from tests.core.config.strategies import configs
from workbench.core.config import KNOBS, Config, Knob, name_kinds
from workbench.core.config.fields import BY_FIELD


@given(configs())
def test_what_it_writes_is_the_value_again(config: Config) -> None:
    for field, value in config.changed().items():
        knob = BY_FIELD[field]
        assert knob.canonical(knob.from_json(json.loads(json.dumps(knob.to_json(value))))) == value
        assert knob.canonical(eval(knob.code(value), {"wb": wb})) == value
        assert knob.words(value)
        assert knob.cell(value)


@pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.field)
def test_the_default_is_a_value_in_words(knob: Knob) -> None:
    default = getattr(Config(), knob.field)
    assert knob.canonical(default) == default
    assert knob.words(default) in (knob.unset, "off")


def test_a_text_unsets_what_can_be_left_to_ort() -> None:
    for knob in KNOBS:
        if knob.field not in ("io_binding", "allow_unknown"):
            assert knob.parse("default") == getattr(Config(), knob.field)


def test_switches_are_changed_one_at_a_time() -> None:
    knob = name_kinds.Switches("none", "Help.", "When.", ("a", "b"), field="options")
    value = knob.canonical(knob.parse_inside((("a", True),), {"b": "off"}))
    assert value == (("a", True), ("b", False))
    assert knob.words(value) == "a=on, b=off"
