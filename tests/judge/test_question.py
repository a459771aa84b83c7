"""How long a comparison may take when the user does not say."""

from __future__ import annotations

import pytest

from workbench.judge.question import default_budget_s


@pytest.mark.parametrize(
    ("run_s", "round_s", "budget_s"),
    [
        (0.0005, 0.9, 9.5),
        (0.001, 3.0, 9.5),
        (0.01, 1.0, 15.0),
        (None, 1.0, 15.0),
        (0.2, 5.0, 30.0),
        (0.5, 25.0, 120.0),
        (2.0, 100.0, 300.0),
    ],
)
def test_small_models_are_quick_and_large_ones_get_rounds(
    run_s: float | None, round_s: float, budget_s: float
) -> None:
    assert default_budget_s(run_s, round_s) == budget_s
