"""What rounds add up to: whether outputs agree, and whether anything was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.factories.runs import block, process
from workbench.core.bundle.comparison import InputsRecord, ModelRecord
from workbench.core.bundle.run import Failure
from workbench.core.config import Config
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.evidence import RoundsEvidence
from workbench.core.measure.outcomes import Outcome
from workbench.core.measure.percentiles import percentiles
from workbench.core.worker.values import write_values


@pytest.fixture
def evidence() -> RoundsEvidence:
    request = CompareRequest(
        model=Path("m.onnx"),
        model_name="m",
        model_bytes=1,
        model_record=lambda: ModelRecord("m", "0" * 64, 1, 0),
        configs=(Config(), Config(level="all")),
        feeds=[{"x": np.zeros(1)}],
        inputs=InputsRecord("by hand", None, (), ()),
    )
    return RoundsEvidence(
        request,
        [
            Candidate(label, config, request.model, {}, Path("feeds"))
            for label, config in zip(request.labels, request.configs, strict=True)
        ],
    )


def a_round(folder: Path, **values: dict[str, float]) -> list[Outcome]:
    """One process a label, with these outputs."""
    folder.mkdir()
    outcomes = []
    for label, outputs in values.items():
        path = folder / label
        write_values(path, [{name: np.array([value]) for name, value in outputs.items()}])
        outcomes.append(Outcome(label, outputs=path))
    return outcomes


def agreement(evidence: RoundsEvidence) -> dict[str, bool | None]:
    return {row.output: row.agrees for row in evidence.agreement}


def test_one_output_that_agrees_does_not_hide_a_random_one(evidence: RoundsEvidence, tmp_path: Path) -> None:
    evidence.add(a_round(tmp_path / "1", A={"y": 1.0, "z": 0.1}, B={"y": 1.0, "z": 0.5}))
    assert agreement(evidence) == {"y": True, "z": False}
    evidence.add(a_round(tmp_path / "2", A={"y": 1.0, "z": 0.9}, B={"y": 1.0, "z": 0.2}))
    assert agreement(evidence) == {"y": True, "z": None}
    assert not evidence.outputs_differ()


def test_wrong_once_stays_wrong(evidence: RoundsEvidence, tmp_path: Path) -> None:
    evidence.add(a_round(tmp_path / "1", A={"y": 1.0}, B={"y": 7.0}))
    evidence.add(a_round(tmp_path / "2", A={"y": 1.0}, B={"y": 1.0}))
    assert agreement(evidence) == {"y": False}
    assert "one of two processes" in evidence.agreement[0].reason


def test_random_that_agrees_by_chance_is_unknown(evidence: RoundsEvidence, tmp_path: Path) -> None:
    evidence.add(a_round(tmp_path / "1", A={"y": 1.0}, B={"y": 7.0}))
    evidence.add(a_round(tmp_path / "2", A={"y": 3.0}, B={"y": 3.0}))
    assert agreement(evidence) == {"y": None}


def test_what_agrees_is_settled(evidence: RoundsEvidence, tmp_path: Path) -> None:
    evidence.add(a_round(tmp_path / "1", A={"y": 1.0}, B={"y": 1.0}))
    evidence.add(a_round(tmp_path / "2", A={"y": 1.0}, B={"y": 9.0}))
    assert agreement(evidence) == {"y": True}


def test_failures_take_a_config_out(evidence: RoundsEvidence) -> None:
    evidence.add([Outcome("A"), Outcome("B", failure=Failure("load", "no", "fix", ""))])
    assert [candidate.label for candidate in evidence.alive()] == ["A"]
    assert not evidence.has_samples()
    assert evidence.run("B").failure is not None


def test_a_round_of_slow_runs_has_a_median_though_a_cycle_was_disturbed(evidence: RoundsEvidence) -> None:
    """Three cycles of a run per block: without the disturbed one four samples are left, one too few."""
    quiet, busy = block(0.2, count=1), block(0.3, count=1, disturbed=("others used the machine",))
    for number, population in ((1, "all"), (2, "undisturbed")):
        record = process(number, [busy, busy, quiet, quiet, quiet, quiet])
        evidence.add([Outcome(label, record=record) for label in "AB"])
        assert evidence.population() == population
        for run in evidence.runs():
            (middle,) = percentiles(run, (50.0,))
            assert middle.value == 0.2


def test_the_quiet_rounds_count_once_a_busy_machine_calms_down(evidence: RoundsEvidence) -> None:
    busy, calm = block(0.001, disturbed=("others used the machine",)), block(0.001)
    for number in range(1, 5):
        evidence.add([Outcome(label, record=process(number, [busy] * 8)) for label in "AB"])
    assert evidence.population() == "all"
    for number in range(5, 8):
        evidence.add([Outcome(label, record=process(number, [calm] * 8)) for label in "AB"])
    assert {run.population for run in evidence.runs()} == {"undisturbed"}
