"""Steps from one optimization level to the next: their sentences are made from the result."""

from __future__ import annotations

from dataclasses import replace

from tests.factories import results
from workbench.core.bundle.estimate import Estimate
from workbench.features.variants.levels import LevelRow, Levels, LevelsRecord, LevelSteps


def row(
    level: str, nodes: int | None, speedup: float | None, low: float | None, high: float | None
) -> LevelRow:
    verdict = None if level == "disabled" else "faster"
    return replace(
        results.levels().rows[0],
        name=level, nodes=nodes, ratio=Estimate(speedup, low, high), verdict=verdict,
    )  # fmt: skip


def steps(*rows: LevelRow) -> LevelSteps:
    return Levels(LevelsRecord("net", rows, results.levels().comparison)).steps()


def test_nodes_and_time_may_fall_at_different_steps() -> None:
    result = steps(
        row("disabled", 100, None, None, None),
        row("basic", 60, 1.0, 0.95, 1.01),
        row("extended", 55, 0.99, 0.95, 1.0),
        row("layout", 55, 2.0, 1.95, 2.05),
    )
    assert str(result).splitlines()[-1] == "Most nodes go at basic, most time is gained at layout."
    assert result.gains_most_at == "layout"
    assert "not settled" in result.steps[0].sentence()
    equal = steps(row("disabled", 9, None, None, None), row("basic", 8, 1.0, 0.985, 1.015))
    assert str(equal).startswith("disabled to basic: 1 node fewer, as fast, within 2 %")
    assert "2.0× faster" in result.steps[2].sentence()


def test_the_same_step_a_loss_and_no_gain_have_their_words() -> None:
    same = steps(row("disabled", 100, None, None, None), row("basic", 60, 2.0, 1.9, 2.1))
    assert str(same).splitlines()[-1] == "Most nodes go and most time is gained at the same step: basic."
    loss = steps(row("disabled", 60, None, None, None), row("basic", 61, 0.5, 0.4, 0.6))
    assert "1 node more, about 2× slower" in str(loss)
    assert "No single step is a settled gain on this machine." in str(loss)
    assert loss.gains_most_at == "none"


def test_a_step_of_at_least_so_much_gains_most() -> None:
    large = row("basic", 60, None, 2.7, None)
    result = steps(row("disabled", 100, None, None, None), large, row("layout", 55, 2.9, 2.8, 3.0))
    assert "speed at least 2.7×" in result.steps[0].sentence()
    assert result.gains_most_at == "basic"
    assert "speed at most 1.11×" in result.steps[1].sentence()
    (to_layout,) = steps(row("disabled", 60, None, None, None), row("layout", 60, None, 2.7, None)).steps
    assert to_layout.settled is True


def test_what_was_not_measured_is_called_so() -> None:
    result = steps(row("disabled", None, None, None, None), row("basic", 3, None, None, None))
    assert result.steps[0].sentence() == "disabled to basic: not known, speed not known"
    assert result.gains_most_at is None
    gain = steps(row("disabled", 60, None, None, None), row("basic", 60, 2.0, 1.9, 2.1))
    assert "no step removes nodes" in str(gain)
    assert "not known" in result._repr_html_()
