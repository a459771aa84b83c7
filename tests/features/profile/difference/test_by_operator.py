"""Whose time makes the difference of two profiles: the operators that changed most, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.features.profile.traces import event, node, write
from workbench.features.profile.difference.by_operator import operators_in_words
from workbench.features.profile.reader import read_trace
from workbench.features.profile.session_profile import SessionProfile

BEFORE = {"MatMul": 60.0, "Add": 40.0}  # µs of a run


def profiled(folder: Path, times_us: Mapping[str, float], latency_s: float | None) -> SessionProfile:
    """Return four equal runs of these operators, as shares of a latency."""
    events, at = [], 0.0
    for _ in range(4):
        start = at
        for op, time_us in times_us.items():
            events.append(node(f"/{op}", at, time_us, op))
            at += time_us
        events.append(event("model_run", start, at - start, "Session"))
    return SessionProfile(read_trace(write(folder, events)), latency_s=latency_s)


@pytest.mark.parametrize(
    ("after", "after_s", "words"),
    [
        ({"MatMulInteger": 20.0, "Add": 40.0}, 0.006,
         "MatMul -6 ms, MatMulInteger +2 ms: -4 ms of the -4 ms"),
        ({"MatMul": 30.0, "Cast": 15.0, "Add": 35.0}, 0.008,
         "MatMul -3 ms, Cast +1.5 ms: -1.5 ms of the -2 ms"),
        ({"MatMul": 30.0, "Cast": 10.0, "Add": 40.0, "Mul": 9.0}, 0.0089,
         "MatMul -3 ms, Cast +1 ms, all others +900 µs: -1.1 ms"),
        ({"MatMul": 60.0, "Add": 60.0}, 0.012, "Add +2 ms: +2 ms of the +2 ms"),
        (BEFORE, 0.01, ""),
        (BEFORE, None, ""),
        ({}, 0.008, ""),
    ],
)  # fmt: skip
def test_the_operators_that_changed_most_are_named_with_their_part_of_the_difference(
    tmp_path: Path, after: Mapping[str, float], after_s: float | None, words: str
) -> None:
    (tmp_path / "after").mkdir()
    first, second = profiled(tmp_path, BEFORE, 0.01), profiled(tmp_path / "after", after, after_s)
    assert operators_in_words(first, second) == words.replace("-", "\N{MINUS SIGN}")


def test_the_name_of_an_operator_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "after").mkdir()
    after = {"MatMul": 60.0, f"<img>\n{'x' * 200}": 40.0}
    words = operators_in_words(profiled(tmp_path, BEFORE, 0.01), profiled(tmp_path / "after", after, 0.02))
    assert "\n" not in words
    assert len(words) < 150
