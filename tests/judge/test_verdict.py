"""Kinds of verdict from hand-made pairs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories.runs import pairs
from workbench.judge.sequential import Interval
from workbench.judge.verdict import is_enough, judge, kind_of
from workbench.records.comparison import OutputAgreement, Verdict


def verdict(
    ratios: list[float | None], *, final: bool = True, agreement: tuple[OutputAgreement, ...] = ()
) -> Verdict:
    return judge("B", pairs(ratios), agreement, smallest_effect=0.01, final=final)


def agreement(agrees: bool | None) -> OutputAgreement:
    return OutputAgreement("B", "logits", agrees, "because", None, None, None, None, None)


def test_faster() -> None:
    concluded = verdict([1.50, 1.51, 1.49, 1.50, 1.50])
    assert concluded.kind == "faster"
    assert concluded.low is not None
    assert concluded.high is not None
    assert concluded.low < 1.50 < concluded.high
    assert concluded.ratio == pytest.approx(1.5, rel=1e-3)


def test_slower_is_the_mirror_of_faster() -> None:
    faster, slower = verdict([1.50, 1.51, 1.49]), verdict([1 / 1.50, 1 / 1.51, 1 / 1.49])
    assert (faster.kind, slower.kind) == ("faster", "slower")
    assert faster.ratio == pytest.approx(1 / (slower.ratio or 0))
    assert faster.low == pytest.approx(1 / (slower.high or 0))


def test_the_same_is_a_tie() -> None:
    assert verdict([1.001, 0.999, 1.0, 1.002, 0.998]).kind == "tie"


def test_wide_is_unknown_with_the_interval_in_the_reason() -> None:
    concluded = verdict([1.2, 0.9, 1.1])
    assert concluded.kind == "unknown"
    assert concluded.low is not None
    assert f"{concluded.low:.3f}" in concluded.reason


def test_disturbed_rounds_do_not_count() -> None:
    concluded = verdict([1.5, 1.5, None, None, None])
    assert concluded.kind == "unknown"
    assert concluded.rounds == 2
    assert "3 of 5 rounds were disturbed" in concluded.reason
    assert concluded.ratio == pytest.approx(1.5)


def test_no_pairs_have_no_ratio() -> None:
    concluded = verdict([])
    assert (concluded.kind, concluded.ratio, concluded.low, concluded.high) == ("unknown", None, None, None)


def test_one_pair_has_a_ratio_and_no_interval() -> None:
    concluded = verdict([2.0])
    assert concluded.ratio == pytest.approx(2.0)
    assert concluded.low is None


def test_differing_outputs_come_before_speed() -> None:
    concluded = verdict([1.5, 1.51, 1.49], agreement=(agreement(False),))
    assert concluded.kind == "outputs differ"
    assert "logits" in concluded.reason
    assert concluded.ratio == pytest.approx(1.5, rel=1e-2)


def test_the_name_of_an_output_is_short_and_harmless() -> None:
    hostile = OutputAgreement("B", "\x1b[2J" + "n" * 100_000, False, "because", None, None, None, None, None)
    reason = verdict([1.5, 1.51, 1.49], agreement=(hostile,)).reason
    assert reason.isprintable()
    assert len(reason) < 200


def test_unknown_agreement_is_no_difference() -> None:
    assert verdict([1.5, 1.51, 1.49], agreement=(agreement(None),)).kind == "faster"


def test_a_failure_is_unknown_with_its_reason() -> None:
    concluded = judge("B", (), (), smallest_effect=0.01, final=True, failure="load: no kernel")
    assert concluded.kind == "unknown"
    assert "no kernel" in concluded.reason


def test_provisional_until_a_planned_look() -> None:
    assert verdict([1.5] * 4, final=False).provisional
    assert not verdict([1.5] * 5, final=False).provisional
    assert not verdict([1.5] * 4, final=True).provisional


def test_stops_only_at_a_planned_look_when_decided_and_narrow() -> None:
    close = [2.0, 2.001, 1.999, 2.0, 2.001]
    assert is_enough(verdict(close, final=False), pairs(close))
    assert not is_enough(verdict(close[:4], final=False), pairs(close[:4]))
    wide = [2.0, 1.6, 2.5]
    assert not is_enough(verdict(wide, final=False), pairs(wide))


@given(st.floats(-1, 1), st.floats(0, 0.5), st.floats(0.001, 0.1))
def test_kind_follows_from_where_the_interval_lies(middle: float, half: float, effect: float) -> None:
    kind = kind_of(Interval(middle, middle - half, middle + half), effect)
    edge = math.log1p(effect)
    assert (kind == "faster") == (middle - half > edge)
    assert (kind == "slower") == (middle + half < -edge)
    if kind == "tie":
        assert abs(middle) + half < 2 * edge
    mirrored = kind_of(Interval(-middle, -middle - half, -middle + half), effect)
    assert mirrored == {"faster": "slower", "slower": "faster"}.get(kind, kind)
