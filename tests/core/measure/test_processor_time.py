"""The second clock: processor time at one thread."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from tests.core.measure.fakes import World
from tests.core.models import tiny
from tests.factories.runs import block, process, run
from workbench.core.bundle.run import Block, Run
from workbench.core.measure.pairs import pair_of, pairs_of
from workbench.core.measure.processor_time import at_one_thread, provisional_answers
from workbench.core.measure.verdict import Criteria, judge


def spending(cpu_s: float, wall_s: float) -> Block:
    """A block of five runs whose wall time says nothing."""
    return replace(block(wall_s), own_cpu_s=5 * cpu_s, disturbed=("others used the machine",))


def noisy(label: str, cpu_s: float, *walls_s: float) -> Run:
    processes = [
        process(number, [spending(cpu_s * (1 + number / 1e4), wall_s)] * 6)
        for number, wall_s in enumerate(walls_s, 1)
    ]
    return run(label, processes, threads=1)


def test_the_ratio_is_of_processor_time_and_all_cycles_count() -> None:
    first, second = process(1, [spending(0.002, 0.1)] * 6), process(1, [spending(0.001, 0.7)] * 6)
    pair = pair_of(first, second, "cpu")
    assert pair.log_ratio == pair.log_ratio_all == pytest.approx(0.6931, abs=1e-3)


def test_it_answers_where_the_latency_leaves_it_open() -> None:
    runs = [noisy("A", 0.002, 0.01, 0.09, 0.02, 0.07, 0.01), noisy("B", 0.001, 0.05, 0.01, 0.08, 0.02, 0.03)]
    verdict = judge("B", pairs_of(*runs), (), Criteria(population="all"), final=True)
    assert verdict.kind == "unknown"
    (answer,) = provisional_answers(runs, [verdict], Criteria())
    assert "by processor time at one thread, B is 2.000× faster" in answer.evidence
    several = [runs[0], replace(runs[1], threads=2)]
    assert not list(provisional_answers(several, [verdict], Criteria()))


def test_a_config_is_measured_at_one_thread() -> None:
    assert at_one_thread(wb.Config(level="all")) == wb.Config(level="all", intra_op_threads=1)
    with pytest.raises(wb.ConfigError, match="another provider"):
        at_one_thread(wb.Config(providers=("cuda", "cpu")))
    with pytest.raises(wb.ConfigError, match="in parallel"):
        at_one_thread(wb.Config(execution_mode="parallel"))


def test_it_does_not_wait_for_a_quiet_machine(tmp_path: Path) -> None:
    world = World({"A": 0.001, "B": 0.0005}, others_cores=1.9)
    measuring = world.compare(tmp_path, budget_s=60.0, clock="cpu")
    assert (measuring.verdicts[0].kind, measuring.verdicts[0].clock) == ("faster", "cpu")
    assert measuring.elapsed_s < 6


@pytest.mark.real
def test_the_verdict_names_its_clock(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    result = wb.compare(
        path, wb.Config(), wb.Config(level="all"), clock="cpu", budget_s=4.0, progress=False, keep=False
    )
    assert "by processor time at one thread" in str(result)
    assert {run.threads for run in result.runs} == {1}


def test_another_clock_is_refused(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    with pytest.raises(wb.ConfigError, match="no clock"):
        wb.compare(path, wb.Config(), wb.Config(), clock="sun", progress=False)  # type: ignore[arg-type]
