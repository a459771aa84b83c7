"""Whole comparisons of models with every trait: sequences, maps, strings, control flow, odd element types."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from tests.core.models import tiny

pytestmark = pytest.mark.real

BINDS = {"bfloat16"}  # element types that only OrtValues carry
NO_MEAN = {"strings", "optional"}  # outputs that are no numbers


def compared(name: str, *, budget_s: float, keep: bool = False) -> wb.Comparison:
    proto = tiny.ALL[name]()
    proto.graph.name = name
    return wb.compare(
        proto, wb.Config(), wb.Config(intra_op_threads=1), budget_s=budget_s, progress=False, keep=keep
    )


@pytest.mark.parametrize("name", tiny.ALL)
def test_a_brief_comparison(name: str, tmp_path: Path) -> None:
    """One round: too little for a verdict, enough for every field of the record."""
    result = compared(name, budget_s=0.1)
    verdict = result.verdict
    assert verdict.kind == "unknown"
    assert verdict.rounds <= 1  # none, when other work disturbed it
    assert verdict.reason

    assert [row.output for row in result.agreement] == [out.name for out in tiny.ALL[name]().graph.output]
    assert all(row.agrees is True for row in result.agreement)
    if name not in NO_MEAN:
        assert all(row.max_abs_error == 0.0 for row in result.agreement if row.max_abs_error is not None)

    record = result.record
    assert record.model.name == name
    assert [shown for shown, _ in record.inputs.shapes] == [
        value.name for value in tiny.ALL[name]().graph.input
    ]
    assert record.inputs.made_by == "random, seed 0"
    for run in result.runs:
        assert run.failure is None
        assert run.providers == ("CPUExecutionProvider",)
        assert run.io == ("binding" if name in BINDS else "run")
        assert run.load_s is not None
        assert run.first_run_s is not None
        assert run.latency.median_s is not None
        assert run.latency.median_s > 0
        assert len(run.processes[0].blocks) >= 6
    assert result.runs[1].threads == 1

    again = wb.open(result.save(tmp_path / "brief.ortbench"))
    assert again.record == record
    assert str(again) == str(result)


@pytest.mark.parametrize("name", ["mlp", "sequence", "bfloat16"])
def test_a_settled_comparison_is_in_the_history(name: str) -> None:
    result = compared(name, budget_s=5.0, keep=True)
    verdict = result.verdict
    assert verdict.kind in ("faster", "slower", "tie", "unknown")
    assert not verdict.provisional
    assert verdict.rounds <= len(result.runs[0].processes)
    if verdict.kind != "unknown":
        assert verdict.low is not None
        assert verdict.high is not None
        assert verdict.ratio is not None
        assert verdict.low <= verdict.ratio <= verdict.high
    kept = wb.history().to_frame(model=name)
    assert list(kept["id"]) == [result.record.id]
    assert wb.history().open(result.record.id).record == result.record
