"""A winner on the rounds that selected it, beside fresh ones."""

from __future__ import annotations

from dataclasses import replace

from tests.factories import results
from workbench.features.tune.result import Study


def test_the_selection_and_the_fresh_rounds_stand_side_by_side() -> None:
    proof = Study(results.study()).proof()
    assert "1.3× (1.2 to 1.4) as fast on the rounds that selected it" in str(proof)
    assert "1.83× (1.79 to 1.88) on fresh rounds: faster." in str(proof)
    assert len(proof.chart().rows) == len(proof.to_frame()) == 2
    assert "image/png" in proof._repr_mimebundle_()[0]
    assert proof.figure() is not None


def test_a_study_without_fresh_rounds_proves_nothing() -> None:
    record = results.study()
    assert "nothing is proven" in str(Study(replace(record, confirmations=())).proof())
    default = Study(replace(record, winner="A", best="A", confirmations=())).proof()
    assert "nothing to prove" in str(default)
    assert len(default.chart().rows) == 1
