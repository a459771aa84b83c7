"""What the findings of a model name takes part in its default space."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from benchmarks.flaws import in_operators
from tests.core.models import tiny
from workbench.features.findings.finding import Forecast, finding
from workbench.features.findings.record import FindingRecord, FindingsRecord, Fix, Gain, Subject
from workbench.features.tune import axes as axes_of

BASE = wb.Config(level="all", rewrites=("batch-norm-folded",))


def found(config: wb.Config, subject: Subject = "time", share: float = 0.2) -> FindingRecord:
    gain = Gain(subject, share, 0.0, share, share)
    fix = Fix("config", "mend it", config=config)
    return replace(finding("slow", forecast=Forecast("sure", gain), fix=fix), id="half-casts")


def axes(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *findings: FindingRecord, **changes: Any
) -> dict[str, tuple[wb.Config, ...]]:
    model = wb.load(tiny.save(tiny.mlp(), folder))
    record = FindingsRecord("tiny", BASE, None, findings, (), ())
    monkeypatch.setattr(axes_of, "gather", lambda *_, **__: None)
    monkeypatch.setattr(axes_of, "look", lambda _: record)
    asked = {"goal": wb.Goal(), "objectives": ("latency",), **changes}
    return axes_of.finding_axes(
        model, model.inputs(), BASE, asked.pop("goal"), asked.pop("objectives"), **asked
    )


def test_each_fix_of_the_config_is_an_axis_that_holds_its_change_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewritten = BASE.replace(rewrites=(*BASE.rewrites, "conv1d-to-2d"))
    several = BASE.replace(fusion=wb.TransformerFusion(), spinning=False)
    findings = (found(rewritten), found(BASE.replace(intra_op_threads=2)), found(several))
    assert axes(monkeypatch, tmp_path, *findings) == {
        "rewrites.conv1d-to-2d": (wb.Config(rewrites=("conv1d-to-2d",)),),
        "intra_op_threads": (wb.Config(intra_op_threads=2),),
        "findings.half-casts": (wb.Config(fusion=wb.TransformerFusion(), spinning=False),),
    }


def test_what_takes_a_setting_of_the_base_away_or_is_small_is_no_axis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = (found(BASE.replace(level=None)), found(BASE.replace(spinning=False), share=0.001))
    assert axes(monkeypatch, tmp_path, *findings) == {}


def test_other_arithmetic_needs_a_limit_and_memory_its_objective(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = (
        found(BASE.replace(precision=wb.DynamicInt8())),
        found(BASE.replace(cpu_arena=False), "memory"),
    )
    assert axes(monkeypatch, tmp_path, *findings) == {}
    assert [*axes(monkeypatch, tmp_path, *findings, goal=wb.Goal(max_error=0.1))] == ["precision"]
    assert [*axes(monkeypatch, tmp_path, *findings, objectives=("latency", "memory"))] == ["cpu_arena"]


def test_a_large_file_is_not_looked_at_and_the_step_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(axes_of, "MOST_BYTES", 10)
    assert axes(monkeypatch, tmp_path, found(BASE.replace(spinning=False)), on_step=steps.append) == {}
    assert steps[0].startswith("findings are not looked for in a file of more than")


@pytest.mark.slow
@pytest.mark.real
def test_the_rewrite_of_a_finding_is_in_the_default_space(tmp_path: Path) -> None:
    path, steps = tiny.save(in_operators.half_first_gelu(0).model, tmp_path), list[str]()
    space = wb.default_space(path, on_step=steps.append)
    assert "rewrites.gelu-to-one-node" in [axis.name for axis in space.axes]
    assert "looking for findings" in steps
    assert "gelu-to-one-node" not in str(space.without("rewrites"))
