"""Why one config is faster or slower is a sentence at the verdict, once both are explained."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

import workbench as wb
from tests.core.models import tiny
from tests.factories import results as examples
from tests.factories.comparisons import failed, ordinary
from tests.factories.graphs import fused
from workbench.core.bundle.kinds import Part
from workbench.core.text import in_time
from workbench.drawing.verdict_picture import MINUS
from workbench.features.compare.reason import what_differs
from workbench.features.explain.explanation import why_in_words


@pytest.mark.real
def test_the_difference_stands_where_the_verdict_does(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    configs = wb.Config(level="disabled"), wb.Config()
    result = wb.compare(path, *configs, budget_s=0.2, progress=False, keep=False)
    assert result.why == ""
    for label, config in zip("AB", configs, strict=True):
        result.add(wb.explain(path, config, keep=False), label)
    assert result.why.startswith("B runs 2 nodes where A runs 4; ")
    assert result.why in str(result)
    bench = wb.Workbench()
    bench.show(wb.open(result.save(tmp_path / "explained.ortbench")), wait=True)
    assert result.why in unescape(bench.panels.results.place.why.value)

    same = why_in_words("B", *[result.explanation("A").record] * 2)
    assert same == "ONNX Runtime made the same 4 nodes of both: they differ in how they run"
    other = result.explanation("B").record
    turned = why_in_words("B", other, result.explanation("A").record)
    assert turned.startswith("B runs 4 nodes where A runs 2; ")
    assert turned.endswith("changed that of A alone")
    many = replace(other.passes, followed=False, logged=tuple((f"Pass{at}", 1) for at in range(5)))
    assert "Pass0 and 4 other passes changed the graph of B alone" in why_in_words(
        "B", result.explanation("A").record, replace(other, passes=many)
    )


def of_ordinary(kind: str, *kinds: str) -> wb.Comparison:
    """Return a comparison of 2 with 1.1 ms with this verdict, and parts of these kinds."""
    record = ordinary()
    verdict = replace(record.verdict, kind=kind)  # type: ignore[arg-type]
    parts = tuple(part for part in examples.parts(fused()) if part.kind in kinds)
    return wb.Comparison(replace(record, verdicts=(verdict,)), parts=parts)


def test_where_both_runs_have_a_profile_the_reason_says_whose_time_it_is() -> None:
    result = of_ordinary("faster", "profile")
    before_s, after_s = (run.latency.median_s for run in result.runs)
    assert before_s is not None
    assert after_s is not None
    assert result.reason is not None
    assert result.reason.kind == "profile"
    assert result.why.startswith(f"Gemm {MINUS}")
    assert f", Softmax {MINUS}" in result.why
    assert result.why.endswith(f" of the {in_time(after_s - before_s, signed=True)}")
    assert result.reason is result.reason, "it is found once"
    both = of_ordinary("faster", "profile", "explanation")
    assert both.why.startswith(f"{result.why}; ONNX Runtime made the same")


@pytest.mark.parametrize("kind", ["tie", "unknown", "outputs differ", "slower"])
def test_no_time_is_said_of_a_difference_that_is_not_settled_or_that_medians_contradict(kind: str) -> None:
    result = of_ordinary(kind, "profile", "explanation")
    assert result.reason is not None
    assert result.reason.kind == "explanation"
    assert "of the" not in result.why
    assert of_ordinary(kind, "profile").why == ""


def test_one_profile_alone_says_nothing_about_the_difference() -> None:
    result = of_ordinary("faster", "profile")
    result.parts = tuple(part for part in result.parts if part.label == "A")
    assert result.reason is None


def test_why_b_is_slower_says_how_much_of_a_run_that_is_and_how_much_is_lost() -> None:
    result = of_ordinary("slower", "profile", "explanation")
    result.parts = (*result.parts, Part("why slower", examples.why_slower(), examples.about()))
    assert result.why == "it casts in 1 place; 1 ms (50 %) of a run; static int8 takes 1 ms longer"
    assert result.reason is not None
    assert result.reason.kind == "why slower"


def test_without_a_reason_the_settings_that_differ_are_named() -> None:
    result = wb.Comparison(ordinary())
    assert what_differs(result) == "intra-op threads (1 instead of ORT's choice)"
    lost = replace(result.record, runs=(result.runs[0], failed()))
    assert what_differs(wb.Comparison(lost)) == "", "the failure is the answer"
