"""Who wins where: at each point, and between which sizes the winner changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run, failed, ordinary
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.features.grid.record import Winner, kind_between, winner_of


def three(b: str, c: str, ratios: tuple[float, float]) -> ComparisonRecord:
    """A takes 2 ms; B and C as these ratios say."""
    runs = [
        drawn_run("A", 0.002),
        *(drawn_run(label, 0.002 / r) for label, r in zip("BC", ratios, strict=True)),
    ]
    record = comparison(*runs)
    verdicts = [
        replace(verdict, kind=kind, ratio=ratio)
        for verdict, kind, ratio in zip(record.verdicts, (b, c), ratios, strict=True)
    ]
    return replace(record, verdicts=tuple(verdicts))


def test_the_fastest_is_judged_against_every_other_config() -> None:
    assert winner_of(three("faster", "faster", (1.3, 2.0))) == Winner("C", "clear")
    assert winner_of(three("slower", "slower", (0.7, 0.8))) == Winner("A", "clear")
    record = three("faster", "faster", (1.3, 2.0))
    assert kind_between(record, "C", "B") == "slower"
    assert kind_between(record, "B", "C") == "faster"
    assert kind_between(record, "C", "A") == "slower"


def test_ties_and_open_answers_name_the_rivals() -> None:
    assert winner_of(three("tie", "slower", (1.001, 0.5))) == Winner("B", "tie", ("A",))
    assert str(Winner("B", "tie", ("A",))) == "A, B tie"
    assert winner_of(three("unknown", "slower", (1.05, 0.5))) == Winner("B", "not settled", ("A",))


def test_wrong_outputs_and_failures_do_not_win() -> None:
    assert winner_of(three("outputs differ", "faster", (3.0, 1.5))).label == "C"
    broken = comparison(drawn_run("A", 0.002), failed("B"))
    assert winner_of(
        replace(broken, verdicts=(replace(broken.verdicts[0], kind="unknown", ratio=None),))
    ) == Winner("A", "clear")
    assert winner_of(replace(ordinary(), runs=(failed("A"), failed("B")))).standing == "not measured"


def test_rows_have_rates_per_item_and_reasons() -> None:
    frame = examples.sweep().to_frame()
    assert list(frame["batch"]) == [1, 1, 8, 8, 32, 32]
    assert list(frame["label"]) == ["A", "B"] * 3
    at_8 = frame[frame["batch"] == 8].iloc[0]
    assert at_8["items_per_s"] == pytest.approx(8 / 0.004, rel=0.02)
    assert at_8["items_per_s_low"] < at_8["items_per_s"] < at_8["items_per_s_high"]
    assert list(frame["wins"]) == [False, True, True, False, False, False]
    last = frame.iloc[-1]
    assert last["failure"] == examples.sweep().places[-1].problem
    assert frame.iloc[-2:][["median_ms", "items_per_s", "peak_rss_bytes", "ratio"]].isna().all(axis=None)


def test_the_crossing_lies_where_the_ratio_is_one() -> None:
    (crossing,) = examples.sweep().crossings()
    assert (crossing.axis, crossing.before, crossing.after) == ("batch", "B", "A")
    assert (crossing.low, crossing.high) == (1, 8)
    assert crossing.at == pytest.approx(3.43, abs=0.01), "where the log of the ratio is 0"
    text = str(examples.sweep())
    assert "batch 1: B wins: 1.83× as fast as A (1.79 to 1.88)" in text
    assert "B wins at batch 1, A at 8; they cross at about 3" in text


def test_one_config_alone_has_no_winner() -> None:
    record = examples.sweep()
    alone = tuple(
        replace(point, measured=None if point.measured is None else examples.measurement().measured)
        for point in record.places
    )
    lone = replace(record, series=record.series[:1], configs=record.configs[:1], places=alone)
    assert lone.winners() == ()
    assert lone.crossings() == ()
    assert "batch 1: 1.99" in str(lone)
