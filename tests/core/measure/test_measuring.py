"""The rule that ends a comparison, with a fake clock and fake workers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.core.measure.fakes import World
from workbench.core.errors import Cancelled, RunFailed
from workbench.core.measure.compare_request import longest_s
from workbench.core.measure.continuing import final_looks
from workbench.core.measure.limits import Progress
from workbench.core.measure.regime import LOOKS
from workbench.core.measure.sequential import is_look

BUSY: dict[str, Any] = {"scatter": 0.06, "others_cores": 1.0, "seed": 1}


def test_equal_configs_tie_at_the_first_look(tmp_path: Path) -> None:
    measuring = World({"A": 0.001, "B": 0.001}).compare(tmp_path, budget_s=60.0)
    (verdict,) = measuring.verdicts
    assert verdict.kind == "tie"
    assert verdict.rounds == 3
    assert measuring.elapsed_s < 10


@pytest.mark.parametrize(("run_s", "kind"), [(0.0005, "faster"), (0.002, "slower")])
def test_a_clear_effect_ends_at_the_first_look(tmp_path: Path, run_s: float, kind: str) -> None:
    (verdict,) = World({"A": 0.001, "B": run_s}, scatter=0.001).compare(tmp_path, budget_s=60.0).verdicts
    assert (verdict.kind, verdict.rounds, verdict.provisional) == (kind, 3, False)


def test_five_times_faster_is_known_within_the_default_budget_however_the_rounds_scatter(
    tmp_path: Path,
) -> None:
    world = World({"A": 0.005, "B": 0.001}, scatter=0.4, others_cores=1.0, seed=5)
    measuring = world.compare(tmp_path, until_decided=True)
    (verdict,) = measuring.verdicts
    assert (verdict.kind, verdict.ratio, verdict.high) == ("faster", None, None)
    assert 1.5 < (verdict.low or 0.0) < 5.0
    assert measuring.elapsed_s <= measuring.budget_s


@pytest.mark.parametrize("budget_s", [3.0, 8.0, 20.0])
def test_the_budget_ends_what_is_not_settled(tmp_path: Path, budget_s: float) -> None:
    world = World({"A": 0.001, "B": 0.001}, scatter=0.1)
    measuring = world.compare(tmp_path, budget_s=budget_s)
    assert measuring.elapsed_s <= budget_s
    assert measuring.verdicts[0].kind == "unknown"
    assert not measuring.verdicts[0].provisional


def test_verdicts_between_two_looks_are_provisional(tmp_path: Path) -> None:
    reports = []
    World({"A": 0.001, "B": 0.001}, scatter=0.1).compare(tmp_path, budget_s=20.0, measured=reports.append)
    judged = [report.verdicts[0] for report in reports if report.doing == "judging"][:-1]
    assert {verdict.provisional for verdict in judged} == {True, False}
    assert all(verdict.provisional != is_look(verdict.rounds) for verdict in judged)


def test_every_config_must_be_settled(tmp_path: Path) -> None:
    world = World({"A": 0.001, "B": 0.0005, "C": 0.001}, scatter=0.004)
    measuring = world.compare(tmp_path, budget_s=60.0)
    assert [verdict.kind for verdict in measuring.verdicts] == ["faster", "tie"]
    assert measuring.verdicts[1].rounds > 3


def test_a_budget_for_less_than_three_usual_rounds_holds_three_shorter_ones(tmp_path: Path) -> None:
    world = World({"A": 0.05, "B": 0.03}, start_s=0.5)
    usual = world.compare(tmp_path, budget_s=60.0)
    usual_round_s = usual.elapsed_s / usual.rounds
    short = World({"A": 0.05, "B": 0.03}, start_s=0.5).compare(tmp_path, budget_s=2.7 * usual_round_s)
    (verdict,) = short.verdicts
    assert (short.rounds, verdict.kind) == (3, "faster")
    assert short.elapsed_s <= short.budget_s


def test_a_budget_too_short_for_three_rounds_is_said_at_the_first_with_the_seconds_needed(
    tmp_path: Path,
) -> None:
    reports: list[Progress] = []
    world = World({"A": 0.001, "B": 0.001}, start_s=4.0)
    measuring = world.compare(tmp_path, budget_s=12.0, measured=reports.append)
    first = next(report for report in reports if report.round == 1 and report.fraction is not None)
    assert re.match(r"12 s are too short for 3 rounds, about 2[4-9] s: ", first.doing)
    (verdict,) = measuring.verdicts
    assert re.fullmatch(
        r"1 round is too few for an interval; 3 are needed, about 1[6-9] s more", verdict.reason
    )


def test_outputs_that_differ_are_measured_in_a_second_process_whatever_the_budget(tmp_path: Path) -> None:
    world = World({"A": 0.001, "B": 0.001}, outputs=lambda label, _: 1.0 if label == "A" else 2.0)
    measuring = world.compare(tmp_path, budget_s=0.1)
    assert world.workers.count("B") == 2
    assert measuring.verdicts[0].kind == "outputs differ"


def test_random_outputs_are_no_difference(tmp_path: Path) -> None:
    world = World({"A": 0.001, "B": 0.001}, outputs=lambda label, number: 10 * number + ord(label))
    measuring = world.compare(tmp_path, budget_s=0.1)
    assert measuring.evidence.agreement[0].agrees is None
    assert measuring.verdicts[0].kind != "outputs differ"


def test_a_config_that_fails_is_not_waited_for(tmp_path: Path) -> None:
    world = World({"A": 0.001, "B": 0.001, "C": 0.001}, failing=frozenset("B"))
    failed, tie = world.compare(tmp_path, budget_s=60.0).verdicts
    assert "no kernel" in failed.reason
    assert tie.kind == "tie"
    assert world.workers.count("B") == 1


def test_when_all_fail_the_error_names_the_cause(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="no kernel"):
        World({"A": 0.001, "B": 0.001}, failing=frozenset("AB")).compare(tmp_path, budget_s=60.0)


def test_configs_that_memory_cannot_hold_together_are_measured_in_pairs(tmp_path: Path) -> None:
    world = World({"A": 0.001, "B": 0.001, "C": 0.001})
    world.compare(tmp_path, budget_s=0.1, model_bytes=1 << 30)
    assert world.workers == ["A", "B", "A", "C"]


def test_the_default_call_measures_each_pair_of_them_for_an_interval(tmp_path: Path) -> None:
    world = World({"A": 0.001, "B": 0.001, "C": 0.001}, start_s=8.0)

    def load_comes(report: Progress) -> None:
        if report.round == 3:
            world.start_s = 40.0

    measuring = world.compare(tmp_path, until_decided=True, model_bytes=1 << 30, measured=load_comes)
    assert [verdict.rounds for verdict in measuring.verdicts] == [3, 3]


def test_a_machine_that_is_always_busy_gets_an_answer_from_all_rounds(tmp_path: Path) -> None:
    """It used to end as unknown: all rounds were disturbed and excluded."""
    world = World({"A": 0.001, "B": 0.0005}, scatter=0.05, others_cores=1.0)
    measuring = world.compare(tmp_path, budget_s=40.0)
    assert measuring.verdicts[0].kind == "faster"
    assert {run.population for run in measuring.evidence.runs()} == {"all"}


def test_on_a_busy_machine_only_the_first_round_waits_for_undisturbed_cycles(tmp_path: Path) -> None:
    world = World({"A": 0.001, "B": 0.001}, scatter=0.1, others_cores=1.0)
    processes = world.compare(tmp_path, budget_s=20.0).evidence.run("A").processes
    first_s, *others_s = (sum(block.wall_s for block in process.blocks) for process in processes)
    assert len(others_s) >= 5
    assert first_s > 1.4 * median(others_s)


def test_most_of_the_time_is_sampling_and_an_interval_comes_within_three_seconds(tmp_path: Path) -> None:
    """A fork takes 20 ms, a session 20 ms and its warm-up 60 ms, as with a small model."""
    reports: list[Progress] = []
    world = World({"A": 0.001, "B": 0.00103}, scatter=0.01)
    measuring = world.compare(tmp_path, budget_s=10.0, measured=reports.append)
    blocks = [block for run in measuring.evidence.runs() for block in run.blocks]
    assert sum(block.wall_s for block in blocks) > 0.7 * measuring.elapsed_s
    first = next(report for report in reports if report.verdicts and report.verdicts[0].low is not None)
    assert first.elapsed_s < 3.0
    (verdict,) = first.verdicts
    assert verdict.provisional
    assert verdict.ratio is not None
    assert verdict.low is not None
    assert verdict.high is not None
    assert verdict.low <= verdict.ratio <= verdict.high
    assert verdict.kind == "unknown"


def test_a_comparison_that_ends_before_the_first_look_has_no_interval(tmp_path: Path) -> None:
    """The interval of the cycles in one process says nothing about the next process."""
    (verdict,) = World({"A": 0.001, "B": 0.001}, scatter=0.01).compare(tmp_path, budget_s=0.1).verdicts
    assert (verdict.rounds, verdict.low, verdict.high) == (1, None, None)


def test_an_open_answer_takes_longer_and_ends_when_it_is_decided(tmp_path: Path) -> None:
    """The look at the end of the default budget is spent, as when `measure_more` goes on."""
    reports: list[Progress] = []
    world = World({"A": 0.0005, "B": 0.00045, "C": 0.0001}, **BUSY)
    measuring = world.compare(tmp_path, until_decided=True, measured=reports.append)
    verdict, _ = measuring.verdicts
    (look,) = verdict.looks
    assert verdict.kind == "faster"
    assert verdict.rounds in LOOKS
    assert measuring.budget_s < measuring.elapsed_s < 60.0
    assert reports[0].doing.endswith("(about 12 s, up to a minute more while the answer is open)")
    longer = [
        report for report in reports if report.doing.endswith("(C decided, B open, so it takes longer)")
    ]
    assert {report.round for report in longer} == set(range(look, verdict.rounds + 1))
    assert longer[0].remaining_s == pytest.approx(60.0 - longer[0].elapsed_s)


@pytest.mark.parametrize(("run_s", "others_cores"), [(0.0005, 1.0), (0.0005, 0.0), (0.04, 1.0)])
def test_an_answer_that_stays_open_ends_after_a_minute_or_a_minute_more(
    tmp_path: Path, run_s: float, others_cores: float
) -> None:
    world = World({"A": run_s, "B": run_s}, scatter=0.2, others_cores=others_cores)
    measuring = world.compare(tmp_path, until_decided=True)
    (verdict,) = measuring.verdicts
    longest = longest_s(measuring.budget_s, run_s)
    assert verdict.kind == "unknown"
    assert not verdict.provisional
    assert longest - 4.0 < measuring.elapsed_s <= longest


@pytest.mark.parametrize(
    ("run_s", "changes"),
    [
        ({"A": 0.0005, "B": 0.00045}, {"budget_s": 9.5}),
        ({"A": 0.0005, "B": 0.00045}, {"until_decided": False}),
        ({"A": 0.0005, "B": 0.0001}, {}),
    ],
    ids=["a budget", "a part of many", "decided"],
)
def test_nothing_else_takes_longer_than_the_default_budget(
    tmp_path: Path, run_s: dict[str, float], changes: dict[str, Any]
) -> None:
    measuring = World(run_s, **BUSY).compare(tmp_path, **{"until_decided": True, **changes})
    assert not measuring.took_longer
    assert measuring.elapsed_s <= measuring.budget_s
    assert all(verdict.looks == () for verdict in measuring.verdicts)


def test_a_config_that_failed_or_is_decided_is_not_measured_for_longer(tmp_path: Path) -> None:
    world = World({"A": 0.0005, "B": 0.0005, "C": 0.0001}, failing=frozenset("B"), **BUSY)
    assert not world.compare(tmp_path, until_decided=True).took_longer


def test_the_default_call_never_ends_before_an_interval(tmp_path: Path) -> None:
    """Also where the first round was quick and load then made each take a minute."""
    world = World({"A": 0.0005, "B": 0.0005})

    def load_comes(report: Progress) -> None:
        if report.round == 2 and not world.start_s > 1:
            world.start_s = 40.0

    measuring = world.compare(tmp_path, until_decided=True, measured=load_comes)
    (verdict,) = measuring.verdicts
    assert (verdict.rounds, verdict.kind) == (3, "tie")


@pytest.mark.parametrize(
    ("stopped_in", "step", "kept"), [(4, "sampling", 3), (6, "sampling", 5), (4, "judging", 4)]
)
def test_stopping_keeps_the_rounds_of_an_interval(
    tmp_path: Path, stopped_in: int, step: str, kept: int
) -> None:
    measuring = World({"A": 0.0005, "B": 0.0005}, scatter=0.01).compare(
        tmp_path, until_decided=True, measured=stop_in(stopped_in, step)
    )
    (verdict,) = measuring.verdicts
    assert (verdict.rounds, verdict.provisional) == (kept, False)
    assert verdict.low is not None


def test_what_is_decided_stays_so_while_another_answer_is_open(tmp_path: Path) -> None:
    """A look after the one that decided may be spent, or have the part of a lesser look."""
    reports: list[Progress] = []

    def stop(report: Progress) -> None:
        reports.append(report)
        stop_in(13)(report)

    world = World({"A": 0.0005, "B": 0.0005, "C": 0.0004}, **{**BUSY, "seed": 3})
    stopped = world.compare(tmp_path, until_decided=True, measured=stop)
    told = [report.verdicts[1].kind for report in reports if "(C decided, B open" in report.doing]
    assert len(told) > 4
    assert {*told, stopped.verdicts[1].kind} == {"faster"}
    assert stopped.verdicts[1].rounds <= stopped.verdicts[0].rounds == 12
    assert 12 in final_looks(stopped.verdicts)["C"], "measuring on does not look at these rounds anew"


def test_a_config_that_failed_is_not_called_decided(tmp_path: Path) -> None:
    reports: list[Progress] = []
    world = World({"A": 0.0005, "B": 0.00045, "C": 0.0005}, failing=frozenset("C"), **BUSY)
    world.compare(tmp_path, until_decided=True, measured=reports.append)
    longer = [report.doing for report in reports if "takes longer" in report.doing]
    assert {doing.partition("(")[2] for doing in longer} == {"B open, so it takes longer)"}


def test_stopping_before_an_interval_keeps_nothing(tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        World({"A": 0.0005, "B": 0.0003}).compare(tmp_path, until_decided=True, measured=stop_in(3))


def stop_in(number: int, step: str = "sampling") -> Callable[[Progress], None]:
    """Return what a user does who stops in this step of a round."""

    def watch(report: Progress) -> None:
        if report.round == number and report.doing.startswith(step):
            raise Cancelled("stopped", "run it again")

    return watch


def test_all_others_stand_still_while_a_config_is_sampled(tmp_path: Path) -> None:
    world = World({"A": 0.001, "B": 0.001, "C": 0.002})
    measuring = world.compare(tmp_path, budget_s=20.0)
    assert {label for label, _ in world.blocks} == {"A", "B", "C"}
    assert all(alone for _, alone in world.blocks)
    assert measuring.evidence.partners_were_frozen()


def test_a_partner_that_goes_on_is_in_the_record(tmp_path: Path) -> None:
    measuring = World({"A": 0.001, "B": 0.001}, freezes=False).compare(tmp_path, budget_s=5.0)
    assert not measuring.evidence.partners_were_frozen()


def test_all_configs_are_held_to_one_core_that_each_of_them_can_use(tmp_path: Path) -> None:
    world = World({"A": 1e-3, "B": 1e-3}, cores={"A": [2, 0, 1], "B": [0, 1]})
    world.compare(tmp_path, budget_s=0.2)
    assert {core for _, core in world.held_to} <= {0, 1}
    assert len(world.held_to) == 2 * len({core for _, core in world.held_to}), "the same core for both"


def test_configs_that_share_no_core_run_where_the_system_puts_them(tmp_path: Path) -> None:
    world = World({"A": 1e-3, "B": 1e-3}, cores={"A": [0], "B": [1]})
    world.compare(tmp_path, budget_s=0.2)
    assert world.held_to == {("A", None), ("B", None)}


def test_blocks_of_all_configs_begin_with_a_run_that_does_not_count_or_of_none(
    tmp_path: Path,
) -> None:
    """Runs this soon after thawing are slower: counted for one config alone, they would speak against it."""
    short, one_long = World({"A": 4e-3, "B": 6e-3}), World({"A": 9e-3, "B": 11e-3})
    for world in (short, one_long):
        world.compare(tmp_path, budget_s=3.0)
    assert {label for _, label, runs in short.lead_ins if runs} == {"A", "B"}
    assert not any(runs for _, _, runs in one_long.lead_ins)


def test_on_a_busy_machine_every_run_counts(tmp_path: Path) -> None:
    """The first run after a pause gets its cores at once; the runs behind it wait for them by turns."""
    world = World({"A": 4e-3, "B": 6e-3}, others_cores=1.0)
    world.compare(tmp_path, budget_s=5.0)
    led = {processes for processes, _, runs in world.lead_ins if runs}
    assert led == {2}, "of the first round, which finds that it is busy"
    assert {processes for processes, _, _ in world.lead_ins} > led


def test_orders_vary_from_cycle_to_cycle_and_each_cycle_mirrors_itself(tmp_path: Path) -> None:
    world = World({"A": 0.001, "B": 0.001, "C": 0.001})
    world.compare(tmp_path, budget_s=20.0)
    turns = [label for label, _ in world.blocks]
    cycles = [tuple(turns[start : start + 6]) for start in range(0, len(turns), 6)]
    assert len({cycle[:3] for cycle in cycles}) == 6, "every order of three"
    assert all(cycle[3:] == cycle[2::-1] for cycle in cycles)
    of_round = [cycles[0][:3], *(cycle[:3] for cycle in cycles[1:6])]
    assert len(set(of_round)) > 1, "within one round too"


def test_outputs_are_checked_in_the_first_round_before_anything_is_sampled(tmp_path: Path) -> None:
    reports: list[Progress] = []
    World({"A": 0.001, "B": 0.001}).compare(tmp_path, budget_s=20.0, measured=reports.append)
    steps = [(report.round, report.step) for report in reports]
    assert steps[0] == (1, "step 1 of 2, loading, checking outputs")
    assert [*dict.fromkeys(step for _, step in steps)] == [
        "step 1 of 2, loading, checking outputs",
        "step 2 of 2, measuring",
    ]
    assert {step for number, step in steps if number > 1} == {"step 2 of 2, measuring"}


def test_a_second_group_loads_before_it_is_measured(tmp_path: Path) -> None:
    """Where memory is short, each candidate has a first round of its own beside the baseline."""
    reports: list[Progress] = []
    world = World({"A": 0.001, "B": 0.001, "C": 0.001})
    world.compare(tmp_path, budget_s=20.0, model_bytes=1 << 50, measured=reports.append)
    loading = {report.step for report in reports if report.round == 2 and report.doing.endswith("C: load")}
    assert loading == {"step 1 of 2, loading, checking outputs"}
    later = {report.step for report in reports if report.round > 2}
    assert later == {"step 2 of 2, measuring"}
