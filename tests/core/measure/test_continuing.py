"""Measuring on: earlier rounds are kept, and their error is spent once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.core.measure.fakes import World
from tests.factories.records import comparison
from tests.factories.runs import machine
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.errors import ConfigError
from workbench.core.measure.continuing import check_same_machine, check_same_software
from workbench.core.measure.measuring import Measuring


def record_of(measuring: Measuring) -> ComparisonRecord:
    made = comparison()
    return replace(
        made,
        runs=measuring.evidence.runs(),
        verdicts=measuring.verdicts,
        agreement=measuring.evidence.agreement,
        versions=measuring.evidence.versions(),
        protocol=replace(made.protocol, elapsed_s=measuring.elapsed_s),
    )


@pytest.fixture
def earlier(tmp_path: Path) -> ComparisonRecord:
    """A comparison that ended undecided between two planned looks."""
    record = record_of(World({"A": 0.001, "B": 0.001}, scatter=0.03).compare(tmp_path, budget_s=8.5))
    assert record.verdict.kind == "unknown"
    assert 5 < record.verdict.rounds < 8
    return record


def test_the_earlier_rounds_are_kept_and_more_come(tmp_path: Path, earlier: ComparisonRecord) -> None:
    world = World({"A": 0.001, "B": 0.001}, scatter=0.03, seed=1)
    measuring = world.compare(tmp_path, budget_s=20.0, earlier=earlier)
    record = record_of(measuring)
    count = earlier.verdict.rounds
    assert record.runs[0].processes[:count] == earlier.runs[0].processes
    rounds = [process.round for process in record.runs[1].processes]
    assert rounds == list(range(1, len(rounds) + 1))
    assert record.verdict.rounds > count
    assert record.verdict.looks == (count,)
    assert world.clock.now_s <= 20.0
    assert record.protocol.elapsed_s == pytest.approx(earlier.protocol.elapsed_s + world.clock.now_s)


def test_outputs_are_not_compared_again(tmp_path: Path, earlier: ComparisonRecord) -> None:
    world = World({"A": 0.001, "B": 0.001}, outputs=lambda label, _: float(ord(label)))
    assert world.compare(tmp_path, budget_s=3.0, earlier=earlier).evidence.agreement == earlier.agreement


def test_other_software_is_refused(tmp_path: Path, earlier: ComparisonRecord) -> None:
    newer = replace(earlier, versions=replace(earlier.versions, onnxruntime="1.40.0"))
    with pytest.raises(ConfigError, match=r"onnxruntime 1\.40\.0"):
        World({"A": 0.001, "B": 0.001}).compare(tmp_path, budget_s=3.0, earlier=newer)
    check_same_software(earlier.versions, replace(earlier.versions, workbench="9.9"))


def test_another_machine_is_refused() -> None:
    with pytest.raises(ConfigError, match="another machine"):
        check_same_machine(machine(), machine(cpu="another processor"))
    check_same_machine(machine(), machine(memory_bytes=1, platform="Linux-6.2-x86_64"))
