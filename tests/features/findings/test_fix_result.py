"""The answer of a fix that was tried: verdict, agreement of the outputs, config and model file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
import pytest

import workbench as wb
from benchmarks.flaws import in_operators
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from tests.precision_models import denormal_in_float16
from workbench.core.config import Config
from workbench.core.text import printable
from workbench.features.findings import result as results

FINDING = examples.findings().large[0]


def test_a_result_answers_with_what_its_comparison_measured() -> None:
    comparison = wb.Comparison(ordinary())
    result = wb.FixResult(FINDING, True, "faster", Config(), comparison)
    assert result.verdict == comparison.verdict
    assert result.agreement == comparison.agreement != ()
    assert result.model_file is None
    alone = wb.Comparison(replace(ordinary(), agreement=()))
    assert replace(result, comparison=alone).agreement is None


def test_a_result_without_a_measurement_has_none() -> None:
    result = wb.FixResult(FINDING, False, "it was not measured", Config(), None)
    assert (result.verdict, result.agreement, result.prediction) == (None, None, "")
    assert str(result) == f"Not kept: {printable(FINDING.title)}. it was not measured"


def test_what_a_terminal_obeys_is_visible() -> None:
    result = wb.FixResult(replace(FINDING, title="\x1b[31mred"), False, "\x1b]0;mine\x07", Config(), None)
    assert "\x1b" not in str(result) + repr(result)
    assert "\\x1b[31mred" in str(result)


@pytest.mark.real
@pytest.mark.parametrize("kept", [True, False])
def test_a_kept_rewrite_has_its_model_file(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "decide", lambda *_: (kept, "as the test decides"))
    path = tmp_path / "model.onnx"
    onnx.save(in_operators.half_first_gelu(0).model, path)
    finding = wb.findings(path, Config(disabled_passes=("SkipLayerNormFusion",)))["gelu-not-fused"]
    result = finding.try_fix(1, progress=False, keep=False)
    assert result.kept == kept
    assert result.verdict == result.comparison.verdict
    assert all(row.agrees for row in result.agreement)
    if kept:
        assert "Gelu" in {node.op_type for node in onnx.load(result.model_file).graph.node}
    else:
        assert (result.model_file, result.config) == (None, finding.config)


@pytest.mark.slow
@pytest.mark.real
def test_a_default_that_ruins_the_outputs_has_a_fix_that_is_searched_and_measured(tmp_path: Path) -> None:
    half = Config(precision=wb.Float16())
    path = denormal_in_float16(tmp_path / "small.onnx")
    compared = wb.compare(path, Config(), half, budget_s=0.5, progress=False, keep=False)
    assert compared.verdict.kind == "outputs differ"
    finding = next(
        other for other in compared.findings(on_step=lambda _: None) if other.id == "outputs-far-from-float"
    )
    assert (finding.fix.config, finding.fix.can_try) == (None, True)
    result = finding.try_fix(0.5, progress=False, keep=False)
    assert result.kept, result
    assert result.config.precision == wb.Float16(blocked_ops=("MatMul",))
    assert result.comparison.runs[0].config.precision is None
    assert all(row.agrees for row in result.agreement)
