"""Doubts from hand-made runs."""

from __future__ import annotations

from typing import Any

from tests.factories.runs import block, machine, pairs, process, run
from workbench.config import Config
from workbench.judge.doubts import doubts_of
from workbench.measure.counters import Counters
from workbench.records.comparison import Doubt
from workbench.records.run import LogLine, Run

NOTHING = Counters(None, None, None)


def doubts(
    first: Run | None = None, second: Run | None = None, *, ratios: Any = (1.0,) * 5, **more: Any
) -> dict[str, Doubt]:
    runs = [first or quiet("A"), second or quiet("B")]
    options = {"counters": NOTHING, "elapsed_s": 10.0, "machine": machine(), **more}
    listed = doubts_of(runs, [pairs(list(ratios))], **options)
    return {doubt.kind: doubt for doubt in listed}


def quiet(label: str, **changes: Any) -> Run:
    return run(label, [process(1, [block(0.002, start_s=n) for n in range(12)])], **changes)


def test_a_quiet_comparison_has_none() -> None:
    assert doubts() == {}


def test_other_load_says_how_much() -> None:
    noisy = run("A", [process(1, [block(0.002, disturbed=("others used the machine",))] * 6)])
    doubt = doubts(noisy)["other load"]
    assert "6 of 18 blocks" in doubt.evidence
    assert "0.5 cores" in doubt.evidence


def test_a_system_that_reports_nothing_is_a_doubt() -> None:
    import dataclasses

    blind = [dataclasses.replace(block(0.002), run_delay_s=None, others_cpu_s=None)] * 6
    doubt = doubts(run("A", [process(1, blind)]), run("B", [process(1, blind)]))
    assert "does not report" in doubt["other load"].evidence


def test_a_container_that_hides_others_is_a_doubt() -> None:
    import dataclasses

    hidden = [dataclasses.replace(block(0.002), others_cpu_s=None)] * 6
    doubt = doubts(run("A", [process(1, hidden)]), run("B", [process(1, hidden)]))
    assert "hides" in doubt["other load"].evidence


def test_noise_between_pairs() -> None:
    assert "noise" in doubts(ratios=(1.0, 1.1, 0.9, 1.05, 0.95))
    assert "noise" not in doubts(ratios=(1.0, 1.001, 0.999))


def test_drift_of_the_baseline() -> None:
    drifting = run("A", [process(1, [block(0.001 * (1 + n / 20), start_s=n) for n in range(12)])])
    assert "drift" in doubts(drifting)


def test_a_silent_fallback_is_a_doubt() -> None:
    fallen = quiet(
        "B",
        config=Config(providers=("cuda", "cpu")),
        log=(LogLine("W", "Failed to create CUDAExecutionProvider. Require cuDNN 9"),),
    )
    doubt = doubts(None, fallen)["fallback"]
    assert "CUDAExecutionProvider was asked for but did not load" in doubt.evidence
    assert "cuDNN 9" in doubt.evidence


def test_an_unsteady_warm_up() -> None:
    unsteady = run("A", [process(1, [block(0.002)] * 6, steady=False)])
    assert "warm-up" in doubts(unsteady)


def test_threads_above_the_quota_or_the_cores() -> None:
    assert doubts(machine=machine(quota_cores=1.0))["quota"].fix == "set intra_op_threads=1"
    assert "threads" in doubts(quiet("A", threads=8))


def test_what_the_system_counters() -> None:
    doubt = doubts(counters=Counters(steal_s=1.0, thermal_throttles=3, quota_throttles=0))
    assert "10 %" in doubt["steal"].evidence
    assert "3 times" in doubt["throttling"].evidence
    assert "quota" not in doubt


def test_a_config_that_is_probably_not_meant() -> None:
    assert "config" in doubts(None, quiet("B", config=Config(inter_op_threads=4)))


def test_every_doubt_has_a_fix() -> None:
    noisy = run(
        "A", [process(1, [block(0.002, disturbed=("waited for a core",))] * 6, steady=False)], threads=9
    )
    for doubt in doubts(noisy, ratios=(1.0, 1.2, 0.8)).values():
        assert doubt.evidence
        assert doubt.fix
