"""Running the code gives the same configs and the same comparison."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import given

import workbench as wb
from tests.core.config.strategies import configs
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from workbench.apps.panels.actions import show_comparison, show_parts
from workbench.apps.panels.code import compare_code, config_code, kind_code, notebook_cells
from workbench.apps.panels.request import Request, Subject
from workbench.features.base.registry import KINDS
from workbench.features.doctor.presets import PRESETS


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
    assert last == "wb.compare(model, a, b, inputs=inputs, budget_s=0.2)\nresult"


def test_the_code_compares_by_the_clock_that_is_chosen(bench: wb.Workbench) -> None:
    bench.state.clock = "cpu"
    assert bench.code("panels").endswith('wb.compare(model, a, b, budget_s=0.2, clock="cpu")\nresult')
    assert bench.request().compare_options() == {"budget_s": 0.2, "clock": "cpu"}


def test_no_text_becomes_code() -> None:
    hostile = '"); import os; ("\n\\'
    b = wb.Config(session_entries={"x": "y"}, allow_unknown=True)
    text = compare_code(Request(Subject(None, {"A": wb.Config(), "B": b}, data=hostile, source=hostile)))
    scope = {"wb": type("Fake", (), {"load": staticmethod(lambda path: path), "Config": wb.Config,
                                     "compare": staticmethod(lambda *_, inputs: inputs)})}  # fmt: skip
    exec(text.replace("import workbench as wb", ""), scope)
    assert scope["model"] == scope["result"] == hostile


def test_plain_code_is_there_for_both(bench: wb.Workbench) -> None:
    bench.set("intra_op_threads", 1)
    assert "intra_op_num_threads = 1" in bench.code("B")
    assert "intra_op_num_threads" not in bench.code("A")


def test_every_config_has_a_plain_script(bench: wb.Workbench) -> None:
    share = bench.panels.results.sharing
    share.choose("code")
    kind = share.code.kind
    assert [value for _, value in kind.options] == ["result", "panels", "A", "B"]
    bench.state.duplicate("B")
    bench.state.set_config("C", wb.Config(intra_op_threads=3))
    kind.value = "C"
    assert "intra_op_num_threads = 3" in share.code.shown.value
    bench.state.drop("C")
    assert (kind.value, [value for _, value in kind.options]) == ("panels", ["result", "panels", "A", "B"])


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS if kind.button])
def test_the_code_of_a_kind_is_a_call_that_its_function_takes(bench: wb.Workbench, kind: str) -> None:
    """`wb` records each call in place of making it."""
    bench.b = wb.Config(level="basic", precision=wb.DynamicInt8())
    for field in KINDS.named(kind).form:
        if field.required:
            bench.state.set_form(kind, field.argument, field.example_for())
    fake = MagicMock(Config=wb.Config, DynamicInt8=wb.DynamicInt8, Goal=wb.Goal)
    fake.load.side_effect = wb.load
    exec(kind_code(KINDS.named(kind), bench.request()).replace("import workbench as wb", ""), {"wb": fake})
    name = KINDS.named(kind).public_name
    calls = getattr(fake, name).call_args_list
    of_both = KINDS.named(kind).per == "run" and "precision" not in KINDS.named(kind).needs
    assert len(calls) == (2 if of_both else 1)
    for call in calls:
        signature(getattr(wb, name)).bind(*call.args, **call.kwargs)


def test_the_notebook_has_everything_that_was_made_here(bench: wb.Workbench) -> None:
    state, share = bench.state, bench.panels.results.sharing
    bench.b = wb.Config(level="basic")
    alone = bench.request()
    show_parts(KINDS.named("levels"), state, alone, {"levels/B": wb.Levels(examples.levels())})
    record = replace(ordinary(), model=state.model.record())
    show_comparison(state, alone, wb.Comparison(record))
    beside = bench.request()
    for name in ("profile", "levels", "accuracy", "improvement", "profile"):
        show_parts(KINDS.named(name), state, beside, {})
    show_comparison(state, alone, wb.Comparison(record))
    bench.b = wb.Config(level="disabled")
    show_parts(KINDS.named("improvement"), state, bench.request(), {})
    levels, compared, *further, improved = notebook_cells(share.codes)
    assert levels.endswith("result = wb.levels(model, b, budget_s=0.2)\nresult")
    assert compared == compare_code(alone)
    assert further == [
        'result.examine("profile")\nresult.made("profile", "B")',
        'result.add(wb.levels(model, b, budget_s=0.2), "B")\nresult.made("levels", "B")',
        'result.accuracy()\nresult.made("accuracy")',
        'result.add(wb.improve(model, a), "A")\nresult.made("improvement", "A")',
    ]
    assert improved.endswith("result = wb.improve(model, a)\nresult")
    assert all(cell.startswith("import workbench as wb") for cell in (levels, compared, improved))


@pytest.mark.real
def test_the_notebook_runs_again(bench: wb.Workbench) -> None:
    bench.b = wb.Config(level="disabled")
    bench.run("explanation", wait=True)
    bench.compare(wait=True)
    bench.run("profile", wait=True)
    bench.measure_more(wait=True)
    bench.run("levels", wait=True)
    state, scope, made = bench.state, dict[str, Any](), []
    state.set_form("improvement", "budget_s", "3")
    bench.run("improvement", wait=True)
    for cell in notebook_cells(bench.panels.results.sharing.codes):
        *before, last = cell.splitlines()
        exec("\n".join(before), scope)
        made.append(type(eval(last, scope)))
    assert made == [wb.Explanation, wb.Comparison, wb.Profile, wb.Comparison, wb.Levels, wb.Improvement]
