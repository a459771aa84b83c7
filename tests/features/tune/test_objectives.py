"""Several objectives: who stays in the race, what spans the front, and what the sampler is asked."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.factories.comparisons import run
from tests.factories.results import load_test, study
from tests.features.tune.test_study import PlanWorld, asked, studied
from tests.features.tune.worlds import SPACE, World
from workbench.core.config import Config, DynamicInt8
from workbench.features.load.record import LoadVerdict
from workbench.features.tune import objectives as objectives_module
from workbench.features.tune import study as studying
from workbench.features.tune.entries import Gains
from workbench.features.tune.objectives import objective_pairs
from workbench.features.tune.optuna_trials import Sampler
from workbench.features.tune.pareto import points_of
from workbench.features.tune.record import ObjectiveRatio, RoundRate, StudyRecord, check_study
from workbench.features.tune.selection import Selection


class TwoWorld(World):
    """A world with a second objective, which another config is best in."""

    objectives = 2

    def gains(self, at: int = 0) -> Gains:
        if at == 0:
            return self.drawn
        return {
            label: dict.fromkeys(rounds, 0.7 if self.configs[label].level == "disabled" else 0.0)
            for label, rounds in self.drawn.items()
        }


def test_a_config_that_leads_in_any_objective_stays_in_the_race() -> None:
    space = wb.Space.of(level=("basic", "disabled"), intra_op_threads=(1, 2))
    world = TwoWorld(
        lambda config: {"disabled": 1.5, "basic": 0.6}.get(config.level or "", 1.0), 0.005, 200.0
    )
    winner = Selection(space, Config(), world).run()
    assert world.configs[winner].level == "basic"
    rounds = {world.configs[label]: len(gains) for label, gains in world.drawn.items()}
    assert rounds[Config(level="disabled")] >= 3
    assert (
        max(rounds[c] for c in rounds if c.level is None and c != Config()) < rounds[Config(level="disabled")]
    )


def test_nsga_2_suggests_new_configs_from_several_objectives() -> None:
    every = [config for config in SPACE.configs() if config != Config()]
    measured = random.Random(1).sample(every, 20)
    configs = {"A": Config(), **{f"L{number}": config for number, config in enumerate(measured)}}
    speed = {label: {1: 0.5 * isinstance(config.precision, DynamicInt8)} for label, config in configs.items()}
    error = {label: {1: -0.1 * (config.precision is not None)} for label, config in configs.items()}
    suggested = Sampler(SPACE, Config(), 3, objectives=2)(configs, [speed, error], 6)
    assert len({*suggested}) == 6
    assert not {*suggested} & {*configs.values()}


def study_of(second: ObjectiveRatio, third: ObjectiveRatio) -> StudyRecord:
    """Return a study with the gains of two configs in a further objective; in latency the third one loses."""
    record = study()
    baseline, winner, other = record.candidates
    loser = replace(other, state="measured", reason="", rounds=5, ratio=0.8, low=0.75, high=0.85)
    runs = (*record.selection.runs[:2], replace(record.selection.runs[1], label="C", config=loser.config))
    return replace(
        record,
        further=(second.objective,),
        selection=replace(record.selection, runs=runs),
        candidates=(baseline, replace(winner, further=(second,)), replace(loser, further=(third,))),
    )


def test_the_front_is_that_of_the_objectives() -> None:
    record = study_of(ObjectiveRatio("memory", 0.9, 0.88, 0.92), ObjectiveRatio("memory", 2.0, 1.9, 2.1))
    points = {point.label: point for point in points_of(record)}
    assert [axis.name for axis in points["C"].axes] == ["latency", "memory"]
    assert {label for label, point in points.items() if point.on_front} == {"A", "B", "C"}
    assert sum(point.is_knee for point in points.values()) == 1
    frame = wb.Study(record).pareto()
    assert dict(zip(frame["label"], frame["memory_ratio"], strict=True)) == {"A": 1.0, "B": 0.9, "C": 2.0}
    drawn = wb.Study(record).figure()
    assert {letter[0] for trace in drawn.data if trace.text for letter in trace.text} == {"A", "B", "C"}
    assert wb.Study(record).still() is not None


def test_a_config_that_is_worse_in_everything_is_beaten() -> None:
    record = study_of(ObjectiveRatio("error", 0.98, 0.97, 0.99), ObjectiveRatio("error", 0.9, 0.89, 0.91))
    assert {point.label for point in points_of(record) if point.on_front} == {"A", "B"}


def loads(rate_of: dict[int | None, float]) -> Any:
    """Return a load test in which each config answers at the rate of its threads."""

    def measured(_: Any, configs: Sequence[Config], *, rounds: int, **__: Any) -> Any:
        record = load_test()
        run, part = record.runs[0], record.runs[0].slices[0]
        made = []
        for label, config in zip("ABCDEFGHIJ", configs, strict=False):
            rate = rate_of[config.intra_op_threads]
            slices = tuple(
                replace(part, round=number, caller_counts=(int(rate),), caller_spans_s=(1.0,), disturbed=())
                for number in range(1, rounds + 1)
            )
            made.append(replace(run, label=label, config=config, slices=slices, failure=None))
        points = (part.point,)
        verdict = studied_verdict(math.log(rate_of[configs[-1].intra_op_threads] / rate_of[None]))
        return replace(
            record,
            points=points,
            runs=tuple(made),
            verdicts=(LoadVerdict(part.point, verdict),),
            agreement=(),
        )

    return measured


def studied_verdict(gain: float) -> Any:
    """Return the verdict of a sure gain."""
    verdict = study().selection.verdicts[0]
    ratio = math.exp(gain)
    return replace(
        verdict, label="B", kind="faster" if gain > 0 else "slower", ratio=ratio, low=ratio, high=ratio
    )


def test_throughput_with_callers_is_an_objective(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = loads({None: 100.0, 1: 80.0, 2: 300.0, 3: 100.0})
    monkeypatch.setattr(objectives_module, "load_of", measured)
    monkeypatch.setattr(studying, "load_of", measured)
    record = studied(asked(tmp_path, objective="throughput", further=("latency",), callers=8))
    assert record.best_config == wb.Config(intra_op_threads=2)
    assert record.proof is not None
    assert record.proof.ratio == pytest.approx(3.0)
    assert record.under_load is not None
    assert "3.000× better (" in record.headline
    assert "in throughput with 8 callers" in record.headline
    confirmed = record.confirmations[-1]
    open_ = replace(confirmed.verdict, kind="unknown", ratio=None, low=None, high=None)
    unknown = replace(record, confirmations=(replace(confirmed, verdicts=(open_,)),))
    assert (
        "3.000× better (95 % CI 3.000 to 3.000) in throughput with 8 callers; 7 configs" in unknown.headline
    )
    best = record.candidate(record.best)
    assert best.rate == 300.0
    assert best.further[0].objective == "latency"
    assert best.further[0].ratio < 1.0
    again = studied(asked(tmp_path, objective="throughput", further=("latency",), callers=8, earlier=record))
    assert again.candidate(record.best).rates[: len(best.rates)] == best.rates
    goal = wb.Goal(min_throughput=301.0)
    limited = studied(asked(tmp_path, objective="throughput", callers=8, goal=goal))
    assert limited.best == "A"
    assert "throughput 300 a second" in " ".join(candidate.reason for candidate in limited.candidates)


def test_the_gain_of_another_objective_is_in_the_answer(tmp_path: Path) -> None:
    record = studied(asked(tmp_path, objective="p99"))
    assert record.proof is not None
    assert "× better (" in record.headline
    assert "in 99th percentile of the latency, at 1.6" in record.headline


def test_a_99th_percentile_is_one_of_enough_samples_and_takes_the_rounds_that_it_needs(
    tmp_path: Path,
) -> None:
    record = studied(asked(tmp_path, objective="p99", budget_s=120.0), PlanWorld(times=3.0))
    assert record.best_config == wb.Config(intra_op_threads=1)
    assert record.proof is not None
    assert record.proof.ratio == pytest.approx(1 / 0.6, rel=0.02)
    assert record.confirmation is not None
    processes = record.confirmation.runs[0].processes
    assert record.proof.rounds < len(processes), "one gain takes several rounds"


def test_a_process_without_samples_is_no_part_of_a_99th_percentile() -> None:
    (pair,) = objective_pairs("p99", run("A", [[], [[0.002] * 662]]), run("B", [[], [[0.001] * 662]]), (1, 1))
    assert pair.log_ratio_all == pytest.approx(math.log(2))


def test_too_few_samples_for_a_99th_percentile_are_said(tmp_path: Path) -> None:
    record = studied(asked(tmp_path, objective="p99", budget_s=60.0), PlanWorld(times=60.0))
    assert record.best == "A"
    assert "nothing is known of what was tried" in record.ended
    assert "needs 662 samples of either config: give a longer budget_s" in record.ended


@pytest.mark.parametrize(
    ("objectives", "callers", "message"),
    [
        (("accuracy",), 4, "'accuracy' alone is best without any change"),
        (("latency", "latency"), 4, "names none, or one twice"),
        (("latency", "speed"), 4, "'speed' is nothing that a study improves"),
        (("throughput",), 0, "callers=0 is no usable value"),
    ],
)
def test_objectives_that_no_study_can_improve_are_refused(
    tmp_path: Path, objectives: tuple[Any, ...], callers: int, message: str
) -> None:
    with pytest.raises(wb.ConfigError, match=message):
        studied(asked(tmp_path, objective=objectives[0], further=objectives[1:], callers=callers))


def test_a_rate_that_no_machine_gives_is_refused_in_a_file() -> None:
    record: StudyRecord = study()
    bad = replace(record.candidates[1], rates=(RoundRate(1, -1.0),))
    damaged = replace(record, candidates=(record.candidates[0], bad))
    with pytest.raises(wb.BundleError, match="expected rates above 0"):
        check_study(damaged, "fix")
