"""Kinds of verdict from hand-made pairs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories.runs import pairs
from workbench.core.bundle.comparison import OutputAgreement, Verdict
from workbench.core.measure.pairs import Pair, population_of
from workbench.core.measure.sequential import Interval
from workbench.core.measure.verdict import Criteria, is_enough, judge, kind_of
from workbench.core.measure.wording import headline, speed_in_words


def verdict(
    ratios: list[float | None], *, final: bool = True, agreement: tuple[OutputAgreement, ...] = ()
) -> Verdict:
    return judge("B", pairs(ratios), agreement, Criteria(), final=final)


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


FAR_APART = [2.0, 9.0, 30.0, 4.0, 60.0]


def test_a_large_effect_is_known_before_its_size() -> None:
    concluded = verdict([*FAR_APART])
    assert (concluded.kind, concluded.ratio, concluded.high) == ("faster", None, None)
    assert concluded.low == concluded.bound == pytest.approx(math.sqrt(2.0))
    assert speed_in_words(concluded) == "at least 1.4× faster"
    assert headline(concluded) == (
        "B is at least 1.4× faster: the 5 rounds differ too much to say by how much more"
    )
    slower = verdict([1 / ratio for ratio in FAR_APART])
    assert (slower.kind, slower.ratio, slower.low) == ("slower", None, None)
    assert slower.high == slower.bound == pytest.approx(1 / math.sqrt(2.0))
    assert speed_in_words(slower) == "at least 1.4× slower"


@pytest.mark.parametrize(
    "ratios", [FAR_APART[:3], [*FAR_APART[:4], 0.5], [*FAR_APART[:4], 1.4], [1.6, 1.6, 30.0]]
)
def test_a_large_effect_needs_four_rounds_and_all_of_them_far_on_one_side(ratios: list[float | None]) -> None:
    assert verdict(ratios).kind == "unknown"


def test_a_large_effect_is_enough_only_where_its_size_need_not_be_known() -> None:
    assert not is_enough(pairs([*FAR_APART]), Criteria())
    assert is_enough(pairs([*FAR_APART]), Criteria(), narrow=False)


def test_the_same_is_a_tie() -> None:
    assert verdict([1.001, 0.999, 1.0, 1.002, 0.998]).kind == "tie"


def test_an_unknown_verdict_says_what_it_excludes() -> None:
    concluded = verdict([1.04, 0.98, 1.02, 0.97, 1.01, 0.98, 1.02, 1.0])
    assert concluded.kind == "unknown"
    assert concluded.high is not None
    assert concluded.low is not None
    most = max(concluded.high - 1, 1 / concluded.low - 1)
    assert concluded.reason == (
        f"no difference of {most * 100:.1f} % or more ({concluded.low:.3f} to {concluded.high:.3f})"
    )


def test_an_interval_on_one_side_of_none_says_so() -> None:
    concluded = verdict([1.018, 1.012, 1.016, 1.02, 1.01])
    assert concluded.kind == "unknown"
    assert concluded.reason.startswith("faster by at most ")
    assert "maybe by less than 1.0 %" in concluded.reason


def test_an_undecided_slower_candidate_has_the_factors_of_the_faster_one() -> None:
    ratios = [1.018, 1.012, 1.016, 1.02, 1.01]
    slower = verdict([1 / ratio for ratio in ratios]).reason
    assert slower == verdict(ratios).reason.replace("faster", "slower")


@pytest.mark.parametrize(
    ("scatter", "words"),
    [(0.02, "; about 40 s more would settle 1.0 %"), (0.3, "; more than 10 minutes would be needed")],
)
def test_how_much_longer_follows_from_the_scatter(scatter: float, words: str) -> None:
    ratios = [math.exp(scatter * step) for step in (-1, 1, -1, 1, -1, 1, -1, 1)]
    concluded = judge("B", pairs(ratios), (), Criteria(round_s=2.0), final=True)
    assert words in concluded.reason


def test_where_rounds_scatter_a_tie_needs_less_certainty_than_a_difference() -> None:
    noisy = [1.005, 0.995, 1.1, 1.005, 0.995, 0.9] * 4
    tie, slower = verdict([*noisy]), verdict([ratio * 0.9 for ratio in noisy])
    assert (tie.kind, tie.confidence) == ("tie", 0.95)
    assert (slower.kind, slower.confidence) == ("slower", 0.99)
    assert tie.rounds == slower.rounds
    assert math.log((tie.high or 0) / (tie.low or 1)) < math.log((slower.high or 0) / (slower.low or 1))


def test_rounds_that_scatter_and_show_no_tie_are_judged_as_a_difference_is() -> None:
    """How much longer it takes is the time to a tie, since neither direction is excluded."""
    noisy = pairs([1.008, 0.992, 1.1, 1.008, 0.992, 0.9] * 2)
    concluded = judge("B", noisy, (), Criteria(round_s=1.0), final=True)
    assert (concluded.kind, concluded.confidence) == ("unknown", 0.99)
    assert "; about 6 s more would settle 1.0 %" in concluded.reason


def test_beyond_a_hundredfold_there_is_no_interval_and_a_reason() -> None:
    concluded = verdict([1e-6, 1.0, 1e6])
    assert (concluded.kind, concluded.low, concluded.high) == ("unknown", None, None)
    assert "more than a hundredfold" in concluded.reason


def test_disturbed_rounds_count_when_there_are_too_few_others() -> None:
    """Such a comparison used to end as unknown, however large the effect."""
    ratios = [2.1, 1.9, 2.0, 2.05, 1.95]
    busy = [Pair(number, None, math.log(ratio), 3, 0) for number, ratio in enumerate(ratios, 1)]
    assert population_of([busy]) == "all"
    concluded = judge("B", busy, (), Criteria(population="all"), final=True)
    assert (concluded.kind, concluded.rounds) == ("faster", 5)


@pytest.mark.parametrize(
    ("clean", "rounds", "population"),
    [(1, 1, "undisturbed"), (0, 1, "all"), (2, 4, "all"), (3, 12, "undisturbed"), (3, 13, "all")],
)
def test_the_population_follows_from_how_many_rounds_are_clean(
    clean: int, rounds: int, population: str
) -> None:
    some = [Pair(number, 0.0 if number < clean else None, 0.1, 3, 3) for number in range(rounds)]
    assert population_of([some]) == population
    assert population_of([some, [Pair(0, None, 0.1, 3, 0)] * rounds]) == "all"


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
    concluded = judge("B", (), (), Criteria(), final=True, failure="B could not be measured: load: no kernel")
    assert concluded.kind == "unknown"
    assert "no kernel" in concluded.reason


def test_provisional_until_a_planned_look() -> None:
    assert verdict([1.5] * 4, final=False).provisional
    assert not verdict([1.5] * 5, final=False).provisional
    assert not verdict([1.5] * 4, final=True).provisional


def test_stops_only_at_a_planned_look_when_decided_and_narrow() -> None:
    close = [2.0, 2.001, 1.999, 2.0, 2.001]
    assert is_enough(pairs(close), Criteria())
    assert not is_enough(pairs(close[:4]), Criteria())
    wide = [2.0, 1.6, 2.5]
    assert not is_enough(pairs(wide), Criteria())


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
