"""Forms: what a person types becomes the arguments of a public function, and the code that calls it."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.core.form import (
    Field,
    Source,
    axes,
    call_source,
    source_of,
    values_of,
    whole_numbers,
)
from workbench.features.base.registry import KINDS

TYPED: dict[str, tuple[dict[str, str], dict[str, Any], str]] = {
    "sweep": (
        {"sizes": "batch=1, 8; threads=1, 2"},
        {"sizes": {"batch": [1, 8], "threads": [1, 2]}},
        'wb.sweep(model, a, b, sizes={"batch": [1, 8], "threads": [1, 2]})',
    ),
    "load test": (
        {"callers": "1, 4", "sessions": "1, 4+threads", "rate_hz": "50, 99.5", "duration_s": "0.5"},
        {"callers": [1, 4], "sessions": [1, "4+threads"], "rate_hz": [50.0, 99.5], "duration_s": 0.5},
        'wb.load_test(model, a, b, callers=[1, 4], sessions=[1, "4+threads"], rate_hz=[50.0, 99.5], '
        "duration_s=0.5)",
    ),
    "decoding": (
        {"prompt": "5, 6", "tokens": ""},
        {"prompt": [5, 6]},
        "wb.decode(model, a, b, prompt=[5, 6])",
    ),
    "matrix": (
        {"models": "bert-base,\n/x/other.onnx"},
        {"models": ["bert-base", "/x/other.onnx"]},
        'wb.matrix([model, "bert-base", "/x/other.onnx"], [a, b])',
    ),
}


@pytest.mark.parametrize("kind", TYPED)
def test_texts_become_arguments_and_code(kind: str) -> None:
    texts, values, code = TYPED[kind]
    made = KINDS.named(kind)
    assert values_of(made.form, texts) == values
    assert made.call_code(["a", "b"], values) == code


def test_versions_begin_with_this_environment() -> None:
    kind = KINDS.named("versions")
    values = values_of(kind.form, {"environments": "/x/ort117"})
    assert kind.call_code(["b"], values) == 'wb.compare_versions(model, [None, "/x/ort117"], b)'
    with pytest.raises(wb.ConfigError, match="the field versions is empty"):
        values_of(kind.form, {})


@pytest.mark.parametrize(
    ("kind", "argument", "text", "problem"),
    [
        ("load test", "callers", "many", "callers: 'many' cannot be read"),
        ("load test", "duration_s", "2 s", "seconds: '2 s' cannot be read"),
        ("decoding", "tokens", "1.5", "tokens: '1.5' cannot be read"),
        ("sweep", "sizes", "batch=", "is no axis"),
        ("sweep", "sizes", "=1, 2", "is no axis"),
        ("sweep", "sizes", "batch=1; batch=2", "is there twice"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_name_of_its_field(
    kind: str, argument: str, text: str, problem: str
) -> None:
    with pytest.raises(wb.ConfigError, match=problem):
        values_of(KINDS.named(kind).form, {argument: text})


def test_values_of_knobs_are_pythons() -> None:
    assert axes("spinning=true, none; level=basic, all") == {
        "spinning": [True, None],
        "level": ["basic", "all"],
    }


@pytest.mark.parametrize("name", ["a;b", "a; b", "a;"])
def test_a_dimension_may_have_a_semicolon_in_its_name(name: str) -> None:
    assert axes(f"{name}=1, 8") == {name: [1, 8]}
    assert axes(f"batch=2;{name}=1, 8; level=all;") == {"batch": [2], name: [1, 8], "level": ["all"]}


def test_an_empty_field_leaves_its_argument_out() -> None:
    field = Field("counts", "counts", "", whole_numbers, text="1, 2")
    assert values_of((field,), {}) == {"counts": [1, 2]}
    assert values_of((field,), {"counts": " "}) == {}


def test_a_field_begins_with_a_text_that_fits_the_model_and_its_data() -> None:
    plain = Field("counts", "counts", "", whole_numbers, text="1, 2")
    fitting = Field("batch", "batch", "", int, text=lambda model, data: f"{len(model)}" if data else "")
    form = (plain, fitting)
    assert values_of(form, {}, "three", "x.npz") == {"counts": [1, 2], "batch": 5}
    assert values_of(form, {"batch": ""}, "three", "x.npz") == {"counts": [1, 2]}, "a person said so"
    assert values_of(form, {}, "three") == {"counts": [1, 2]}
    assert values_of(form, {}) == {"counts": [1, 2]}, "no model is open"


def test_no_text_becomes_code() -> None:
    hostile = '"); import os; ("'
    assert eval(source_of([hostile, (hostile,)])) == [hostile, [hostile]]


def test_a_call_leaves_out_what_is_not_given() -> None:
    keywords = {"inputs": Source("inputs"), "data": None, "seed": 0}
    assert call_source("wb.measure", [Source("model"), "a.npz"], keywords) == (
        'wb.measure(model, "a.npz", inputs=inputs, seed=0)'
    )
