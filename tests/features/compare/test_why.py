"""Why one config is faster or slower is a sentence at the verdict, once both are explained."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

import workbench as wb
from tests.core.models import tiny
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
