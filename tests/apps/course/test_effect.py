"""The effect of each lesson: read from a result of this machine, beside a recorded run that has it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.factories import comparisons, results
from workbench.apps import course
from workbench.apps.course.effect import EFFECTS, RECORDED, SeenEffect
from workbench.apps.course.equal_configs import EqualConfigs
from workbench.core.bundle.estimate import Estimate
from workbench.core.errors import ConfigError
from workbench.features.cold_start import ColdStarts
from workbench.features.compare.result import Comparison
from workbench.features.tune.result import Study
from workbench.features.variants.levels import LevelsRecord
from workbench.features.variants.threads import Threads

MOST_BYTES = 500_000  # of all together: they are in the wheel


def present(name: str, result: Any) -> bool | None:
    return EFFECTS[name].read(result).present


@pytest.mark.parametrize("name", EFFECTS)
def test_the_recorded_run_of_each_effect_has_it(name: str) -> None:
    recorded = wb.open(RECORDED / f"{name}.ortbench")
    seen = course.effect(name, recorded)
    assert seen.present is True
    assert str(seen).startswith(f"Seen here: {EFFECTS[name].sentence}; ")
    assert f"on {recorded.about.machine.cpu} with " in str(seen)
    assert seen.run.still() is not None


def test_no_recorded_run_is_without_an_effect_and_all_are_small() -> None:
    assert {path.stem for path in RECORDED.glob("*")} == set(EFFECTS)
    assert sum(path.stat().st_size for path in RECORDED.glob("*")) < MOST_BYTES


def test_two_single_runs_may_be_equal_here() -> None:
    equal = EqualConfigs((1.001, 0.99), ())
    assert present("noise", equal) is False
    assert present("noise", EqualConfigs((1.001, 0.9), ())) is True
    assert present("noise", EqualConfigs((), ())) is None
    text = str(course.effect("noise", equal))
    assert text.startswith("Not seen here: two runs of the same config differ by more than 2 %; 1.0 %.")
    assert "The recorded run has it; " in text


def layout(speedup: float | None, low: float | None, high: float | None) -> wb.Levels:
    row = replace(results.levels().rows[0], verdict="faster")
    before = replace(row, name="extended", ratio=Estimate(1.0, 0.95, 1.05))
    after = replace(row, name="layout", ratio=Estimate(speedup, low, high))
    return wb.Levels(LevelsRecord("net", (before, after), results.levels().comparison))


@pytest.mark.parametrize(
    ("speedup", "low", "high", "expected"),
    [
        (2.0, 1.9, 2.1, True),
        (0.5, 0.4, 0.6, False),
        (1.0, 0.9, 1.1, None),
        (2.0, None, None, None),
        (None, None, None, None),
    ],
)
def test_the_step_to_layout_is_judged_by_both_intervals(
    speedup: float | None, low: float | None, high: float | None, expected: bool | None
) -> None:
    assert present("blocked-layout", layout(speedup, low, high)) is expected


def test_the_size_of_the_step_lies_in_its_interval_whatever_the_medians_say() -> None:
    levels = layout(2.0, 1.9, 2.1)
    assert len({row.latency_s for row in levels.record.rows}) == 1
    size = EFFECTS["blocked-layout"].read(levels)
    assert size.value == 2.0
    assert size.low is not None
    assert size.low < 2.0


def ablation(*effects: tuple[str, float]) -> wb.Ablation:
    record = results.ablation()
    rows = tuple(
        replace(record.rows[0], effect=effect, ratio=Estimate(1 / (1 + worth)))  # type: ignore[arg-type]
        for effect, worth in effects
    )
    return wb.Ablation(replace(record, rows=rows))


def test_a_fusion_costs_time_where_one_is_settled_to_hurt() -> None:
    assert present("costly-fusion", ablation(("helps", 0.1), ("hurts", -0.2))) is True
    assert present("costly-fusion", ablation(("helps", 0.1), ("no effect", 0.0))) is False
    assert present("costly-fusion", ablation(("helps", 0.1), ("unknown", -0.2))) is None
    assert present("costly-fusion", ablation()) is None
    size = EFFECTS["costly-fusion"].read(ablation(("helps", 0.1), ("hurts", -0.2)))
    assert size.value == pytest.approx(-20)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("wider-is-faster", {"faster"}),
        ("fewer-nodes", {"tie", "slower"}),
        ("dynamic-int8", {"slower"}),
    ],
)
def test_an_effect_on_speed_follows_the_verdict(name: str, kinds: set[str]) -> None:
    runs = comparisons.drawn_run("A", 0.002), comparisons.drawn_run("B", 0.002)
    for kind in ("faster", "slower", "tie", "unknown", "outputs differ"):
        comparison = Comparison(comparisons.comparison(*runs, kind=kind))
        expected = kind in kinds if kind in ("faster", "slower", "tie") else None
        assert present(name, comparison) is expected


def threads(*latencies_s: float | None) -> Threads:
    pairs = zip((1, 2, 4), latencies_s, strict=True)
    points = [results.thread_point(count, True, time_s) for count, time_s in pairs]
    return Threads(results.scaling(*points, results.thread_point(64, False, 9.0)))


def test_many_threads_are_slower_by_a_fifth_or_not_at_all() -> None:
    assert present("too-many-threads", threads(0.01, 0.005, 0.007)) is True
    assert present("too-many-threads", threads(0.01, 0.005, 0.005)) is False
    assert present("too-many-threads", threads(0.01, 0.005, 0.0055)) is None
    assert present("too-many-threads", threads(0.01, None, None)) is None


def test_a_saved_graph_is_judged_by_all_starts() -> None:
    start = results.start("A")
    (saved,) = start.saved_ahead
    for load_s, expected in ((0.1, True), (0.9, False), (0.3, None)):
        starts = replace(start, saved_ahead=(replace(saved, load_s=load_s),))
        slower = replace(starts.as_asked[0], load_s=0.31)
        cold = ColdStarts(replace(starts, as_asked=(*starts.as_asked, slower)))
        assert present("saved-graph", cold) is expected
    assert present("saved-graph", ColdStarts(replace(start, saved_ahead=()))) is None


def test_a_winner_is_proven_on_fresh_rounds_alone() -> None:
    record = results.study()
    assert present("proven-config", Study(record)) is True
    assert present("proven-config", Study(replace(record, confirmations=()))) is None
    assert present("proven-config", Study(replace(record, winner="A", best="A"))) is False


def test_both_sizes_are_drawn_with_their_intervals() -> None:
    runs = comparisons.drawn_run("A", 0.002), comparisons.drawn_run("B", 0.002)
    seen = course.effect("wider-is-faster", Comparison(comparisons.comparison(*runs, kind="unknown")))
    assert isinstance(seen, SeenEffect)
    assert str(seen).startswith(
        "Not settled here: the wider net is faster; 1.83 times as fast (1.79 to 1.88).\n"
    )
    here, recorded = (row.values[0][0] for row in seen.chart().rows)
    assert here.interval == (1.79, 1.88)
    assert recorded.value == EFFECTS["wider-is-faster"].read(seen.run).value
    assert list(seen.to_frame()["where"]) == ["here", "recorded"]
    data, _ = seen._repr_mimebundle_()
    assert data["text/plain"] == str(seen)
    assert "image/png" in data
    assert seen.figure() is not None


def test_an_effect_that_no_lesson_has_is_refused() -> None:
    with pytest.raises(ConfigError, match="no effect 'luck'"):
        course.effect("luck", None)
