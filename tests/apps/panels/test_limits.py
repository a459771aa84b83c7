"""The line of limits below a comparison and a sweep: the answer, its reasons, its code."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.factories import results as examples
from tests.factories.comparisons import HOSTILE, ordinary
from workbench.apps.panels.tabs.limits import LimitsLine
from workbench.apps.panels.tabs.tab import TabPage
from workbench.features.compare.best import Best, Contender


@pytest.fixture
def shown() -> wb.Workbench:
    """Panels with a comparison: A of 2 ms, B of about 1 ms."""
    bench = wb.Workbench()
    assert bench.panels
    bench.show(wb.Comparison(ordinary()))
    settle(bench)
    return bench


def page_of(bench: wb.Workbench, title: str = "Timing") -> TabPage:
    results = bench.panels.results
    results.turn(title)
    settle(bench)
    page: Any = results.pages[results.shown]
    assert isinstance(page, TabPage)
    return page


def line_of(bench: wb.Workbench, title: str = "Timing") -> LimitsLine:
    page = page_of(bench, title)
    assert page.below.children == (page.limits.widget,)
    return page.limits


def ask(bench: wb.Workbench, field: Any, value: str) -> None:
    field.value = value
    settle(bench)


def test_there_is_no_line_without_a_result() -> None:
    bench = wb.Workbench()
    for title in ("Timing", "Explore"):
        assert page_of(bench, title).below.children == ()


def test_without_a_limit_nothing_is_answered(shown: wb.Workbench) -> None:
    line = line_of(shown)
    assert line.answer.value == ""
    assert line.copy.layout.display == "none"
    assert line.limits == {}


def test_the_answer_is_that_of_the_call_with_its_line(shown: wb.Workbench) -> None:
    line = line_of(shown)
    ask(shown, line.fields["max_memory_bytes"], "1000000")
    best = shown.result.best(max_memory_bytes=1_000_000 * 2**20)
    assert best.answer in line.answer.value
    assert best.headline(best.groups[0]) in line.answer.value
    assert line.answer.value.count("<li>") == len(shown.result.runs)
    assert "result.best(max_memory_bytes=1048576000000)" in line.answer.value
    assert line.copy.layout.display is None
    ask(shown, line.fields["max_memory_bytes"], "")
    assert line.answer.value == ""


@pytest.mark.parametrize(
    ("milliseconds", "seconds"), [("1.1", 0.0011), ("3", 0.003), ("0.0001", 1e-07), (" 10 ", 0.01)]
)
def test_limits_are_typed_in_the_units_of_the_tables(
    shown: wb.Workbench, milliseconds: str, seconds: float
) -> None:
    line = line_of(shown)
    ask(shown, line.fields["max_p99_s"], milliseconds)
    ask(shown, line.fields["max_accuracy_drop"], "1")
    assert line.limits == pytest.approx({"max_p99_s": seconds, "max_accuracy_drop": 0.01})
    assert "the accuracy was not measured" in line.answer.value
    assert f"{shown.result.best(**line.limits).answer}" in line.answer.value


def test_no_config_keeps_a_limit_below_all(shown: wb.Workbench) -> None:
    line = line_of(shown)
    ask(shown, line.fields["max_memory_bytes"], "0.001")
    assert ": no</b>" in line.answer.value


@pytest.mark.parametrize("value", ["fast", "-1", "nan"])
def test_what_is_no_limit_is_said_below_the_line(shown: wb.Workbench, value: str) -> None:
    said = "cannot be read"
    line = line_of(shown)
    ask(shown, line.fields["max_p99_s"], "5")
    ask(shown, line.fields["max_p99_s"], value)
    assert said in line.status.value + line.answer.value
    assert "result.best" not in line.answer.value
    ask(shown, line.fields["max_p99_s"], "5")
    assert said not in line.status.value + line.answer.value


def test_a_new_comparison_is_asked_again(shown: wb.Workbench) -> None:
    line = line_of(shown)
    ask(shown, line.fields["max_memory_bytes"], "1000000")
    before = line.answer.value
    line.answer.value = ""
    shown.show(wb.Comparison(ordinary()))
    settle(shown)
    assert line.answer.value == before
    assert line.fields["max_memory_bytes"].value == "1000000"


def test_the_code_is_copied_whole(shown: wb.Workbench) -> None:
    asked: list[dict[str, Any]] = []
    shown.page.bridge.send = lambda content, _=None: asked.append(content)
    line = line_of(shown)
    ask(shown, line.fields["max_p99_s"], "5")
    line.copy.click()
    assert asked[0]["kind"] == "copy"
    assert asked[0]["text"].startswith("import workbench as wb")
    assert asked[0]["text"].endswith("result.best(max_p99_s=0.005)")


@pytest.mark.parametrize("kind", ["sweep", "matrix"])
def test_a_sweep_and_a_matrix_are_asked_without_accuracy(shown: wb.Workbench, kind: str) -> None:
    made = examples.further()[kind]
    shown.result.add(made, "B")
    line = line_of(shown, "Explore")
    assert line.fields["max_accuracy_drop"].layout.display == "none"
    ask(shown, line.fields["max_accuracy_drop"], "1")
    assert line.answer.value == ""
    ask(shown, line.fields["max_memory_bytes"], "1000000")
    best = made.best(max_memory_bytes=1_000_000 * 2**20)
    assert all(best.headline(group) in line.answer.value for group in best.groups)
    assert f"result.made(&quot;{kind}&quot;).best(max_memory_bytes=" in line.answer.value


def test_other_scenarios_have_no_line(shown: wb.Workbench) -> None:
    shown.result.add(examples.further()["decoding"], "B")
    assert page_of(shown, "Explore").below.children == ()


def test_names_are_text_and_many_reasons_are_folded() -> None:
    contenders = [Contender(HOSTILE, f"at {n}", HOSTILE, HOSTILE, None, None, ()) for n in range(7)]
    html = Best(tuple(contenders)).html
    assert "<img" not in html
    assert "<summary>each of 7</summary>" in html
    assert "<details>" not in Best(tuple(contenders[:6])).html
