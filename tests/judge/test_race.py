"""A race: beaten configs leave, the winner is confirmed on fresh rounds only."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest

from tests.amount import amount
from tests.judge.fakes import World
from workbench.judge.measuring import Measuring

RUNS_S = {"A": 0.001, "B": 0.0015, "C": 0.0006, "D": 0.0009, "E": 0.002}


def rounds_of(measuring: Measuring, label: str) -> list[int]:
    return [process.round for process in measuring.evidence.run(label).processes]


def test_beaten_configs_leave_and_the_winner_is_confirmed(tmp_path: Path) -> None:
    world = World(RUNS_S, scatter=0.002)
    measuring = world.compare(tmp_path, budget_s=120.0, race=True)
    verdicts = {verdict.label: verdict for verdict in measuring.verdicts}
    assert rounds_of(measuring, "C") == rounds_of(measuring, "A")
    assert all(rounds_of(measuring, label) == [1, 2, 3] for label in "BDE")
    assert verdicts["C"].kind == "faster"
    assert verdicts["C"].rounds == len(rounds_of(measuring, "C")) - 3
    assert verdicts["C"].reason.endswith(f"confirmed on {verdicts['C'].rounds} fresh rounds")
    assert verdicts["D"].reason.endswith("left the race after 3 rounds")
    assert verdicts["E"].kind == "slower"


def test_the_baseline_may_win(tmp_path: Path) -> None:
    measuring = World({"A": 0.001, "B": 0.002, "C": 0.003}, scatter=0.002).compare(
        tmp_path, budget_s=120.0, race=True
    )
    assert [verdict.kind for verdict in measuring.verdicts] == ["slower", "slower"]
    assert rounds_of(measuring, "A") == [1, 2, 3]


def test_a_config_with_other_outputs_does_not_win(tmp_path: Path) -> None:
    world = World(RUNS_S, scatter=0.002, outputs=lambda label, _: 2.0 if label == "C" else 1.0)
    verdicts = {v.label: v for v in world.compare(tmp_path, budget_s=120.0, race=True).verdicts}
    assert verdicts["C"].kind == "outputs differ"
    assert "fresh rounds" in verdicts["D"].reason


def test_the_selection_leaves_time_to_confirm(tmp_path: Path) -> None:
    world = World(dict.fromkeys("ABCD", 0.001), scatter=0.02)
    measuring = world.compare(tmp_path, budget_s=60.0, race=True)
    confirmed = [verdict for verdict in measuring.verdicts if "fresh rounds" in verdict.reason]
    assert len(confirmed) == 1
    assert confirmed[0].rounds >= 3
    assert measuring.elapsed_s <= 60.0


@pytest.mark.thorough
def test_the_winner_of_equal_configs_gains_nothing(tmp_path: Path) -> None:
    """The best of four equal configs looks faster on the rounds that selected it, not on fresh ones."""
    gains, claims = [], 0
    for seed in range(amount(4, 2)):
        world = World(dict.fromkeys("ABCDE", 0.001), scatter=0.02, seed=seed)
        for verdict in world.compare(tmp_path, budget_s=40.0, race=True).verdicts:
            if "fresh rounds" in verdict.reason:
                gains.append((verdict.ratio or 1.0) - 1.0)
                claims += verdict.kind == "faster"
    assert claims == 0
    assert fmean(gains) == pytest.approx(0.0, abs=0.02)
