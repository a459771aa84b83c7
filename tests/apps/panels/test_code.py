"""Running the code gives the same configs and the same comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import workbench as wb
from tests.core.config.strategies import configs
from workbench.apps.panels.code import compare_code, config_code
from workbench.apps.panels.presets import PRESETS
from workbench.apps.panels.request import Request, Subject


def run(text: str) -> Any:
    return eval(text, {"wb": wb})


@given(configs())
def test_the_code_of_a_config_is_that_config(config: wb.Config) -> None:
    assert run(config_code(config)) == config


@pytest.mark.parametrize(
    "config",
    [
        wb.Config(precision=wb.StaticInt8(calibrator="percentile", percentile=99.9, exclude=("a'b", 'c"d'))),
        wb.Config(fusion=wb.TransformerFusion(options={"enable_gelu": False})),
        wb.Config(providers=[wb.Provider("cuda", device_id=1), "cpu"], free_dimensions={"batch size": 2}),
        *(preset.make(None) for preset in PRESETS),
    ],
)
def test_the_code_of_parts_providers_and_presets_is_that_config(config: wb.Config) -> None:
    assert run(config_code(config)) == config


def test_the_code_of_the_panels_runs_up_to_the_comparison(bench: wb.Workbench, model: Path) -> None:
    bench.set("intra_op_threads", 1)
    bench.state.seed, bench.state.dims = 3, (("batch", 2),)
    text = bench.code("panels")
    before, _, last = text.partition("result = ")
    scope: dict[str, Any] = {}
    exec(before, scope)
    assert (scope["a"], scope["b"]) == (bench.a, bench.b)
    assert scope["model"].path == model
    assert scope["inputs"].seed == 3
    assert last == "wb.compare(model, a, b, inputs=inputs, budget_s=1.0)\nresult"


def test_the_code_compares_by_the_clock_that_is_chosen(bench: wb.Workbench) -> None:
    bench.state.clock = "cpu"
    assert bench.code("panels").endswith('wb.compare(model, a, b, budget_s=1.0, clock="cpu")\nresult')
    assert bench.request().compare_options() == {"budget_s": 1.0, "clock": "cpu"}


def test_no_text_becomes_code() -> None:
    hostile = '"); import os; ("\n\\'
    b = wb.Config(session_entries={"x": "y"}, allow_unknown=True)
    text = compare_code(Request(Subject(None, wb.Config(), b, data=hostile, source=hostile)))
    scope = {"wb": type("Fake", (), {"load": staticmethod(lambda path: path), "Config": wb.Config,
                                     "compare": staticmethod(lambda *_, inputs: inputs)})}  # fmt: skip
    exec(text.replace("import workbench as wb", ""), scope)
    assert scope["model"] == scope["result"] == hostile


def test_plain_code_is_there_for_both(bench: wb.Workbench) -> None:
    bench.set("intra_op_threads", 1)
    assert "intra_op_num_threads = 1" in bench.code("B")
    assert "intra_op_num_threads" not in bench.code("A")
