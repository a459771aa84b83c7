"""From a precision in a config to a verdict, with real ORT."""

from __future__ import annotations

import pytest

import workbench as wb


@pytest.mark.real
def test_dynamic_int8_is_prepared_once_and_compared() -> None:
    config = wb.Config(precision=wb.DynamicInt8())
    first = wb.prepare("digits-vit", config)
    assert [step.name for step in first.steps] == ["pre-processing", "dynamic int8"]
    assert dict(first.steps[1].statistics)["MatMulInteger"] == 17
    again = wb.prepare("digits-vit", config)
    assert all(step.cached for step in again.steps)
    assert again.model.path == first.model.path
    result = wb.compare("digits-vit", wb.Config(), config, progress=False, budget_s=0.2, keep=False)
    assert result.verdict.kind != "outputs differ"
    assert result.runs[1].preparation == again.record or result.runs[1].preparation is not None
    assert "asked for" in str(result)
