"""Doubts from hand-made runs."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from tests.factories.runs import block, machine, pairs, process, run
from workbench.core.bundle.comparison import Doubt, OutputAgreement
from workbench.core.bundle.run import Block, LogLine, Run
from workbench.core.config import Config
from workbench.core.measure.agreement import NO_VALUES
from workbench.core.measure.counters import Counters, on_battery
from workbench.core.measure.doubts import doubts_of
from workbench.core.measure.load_doubts import Circumstances
from workbench.core.measure.pairs import Clock
from workbench.core.measure.verdict import Criteria, judge

NOTHING = Counters(None, None, None)


def doubts(
    first: Run | None = None,
    second: Run | None = None,
    *,
    ratios: Any = (1.0,) * 5,
    clock: Clock = "wall",
    agreement: tuple[OutputAgreement, ...] = (),
    **circumstances: Any,
) -> dict[str, Doubt]:
    runs = [first or quiet("A"), second or quiet("B")]
    options = {"counters": NOTHING, "elapsed_s": 10.0, "machine": machine(), **circumstances}
    rounds = pairs(list(ratios))
    verdict = judge("B", rounds, (), Criteria(clock=clock), final=True)
    listed = doubts_of(runs, [verdict], [rounds], agreement, Circumstances(**options))
    return {doubt.kind: doubt for doubt in listed}


def quiet(label: str, **changes: Any) -> Run:
    return run(label, [process(1, [block(0.002, start_s=n) for n in range(12)])], **changes)


def test_a_quiet_comparison_has_none() -> None:
    assert doubts() == {}


def test_a_comparison_that_was_stopped_says_so() -> None:
    assert doubts(stopped=True)["stopped"].evidence == "stopped on request, 5 rounds kept"


def disturbed(others_s: float, wall_s: float) -> Block:
    others = block(0.002, disturbed=("others used the machine",))
    return dataclasses.replace(others, others_cpu_s=others_s, wall_s=wall_s)


def test_other_load_says_how_much() -> None:
    noisy = run("A", [process(1, [disturbed(0.01, 0.02)] * 6)])
    doubt = doubts(noisy)["other load"]
    assert "6 of 18 blocks" in doubt.evidence
    assert "0.5 cores" in doubt.evidence
    assert doubt.fix.startswith("close other programs")


def test_the_load_is_a_sum_over_a_sum_and_at_most_all_cores() -> None:
    """The mean of quotients used to report 5.4 cores of a machine with 2."""
    uneven = run("A", [process(1, [disturbed(0.02, 0.002), *[disturbed(0.0, 0.02)] * 9])])
    assert "others used 0.1 cores" in doubts(uneven)["other load"].evidence
    impossible = run("A", [process(1, [disturbed(0.2, 0.02)] * 6)])
    assert "others used 2.0 cores" in doubts(impossible)["other load"].evidence


def test_a_busy_machine_is_said_with_what_the_verdict_stands_on() -> None:
    busy = [run(label, [process(1, [disturbed(0.038, 0.02)] * 6)], population="all") for label in "AB"]
    evidence = doubts(*busy)["other load"].evidence
    assert evidence.startswith("measured on a busy machine: 1.9 other cores; 12 of 12 blocks")
    assert evidence.endswith("and they count too")
    longer = doubts(*busy, elapsed_s=37.6, default_s=9.5)["other load"].evidence
    assert "1.9 other cores, for 38 s because the answer was open after 10 s; 12 of" in longer


@pytest.mark.parametrize(
    "circumstances", [{"shared": True}, {"counters": Counters(1.0, None, None)}], ids=["hub", "hypervisor"]
)
def test_load_that_is_not_the_user_s_has_a_fix_that_helps(circumstances: dict[str, Any]) -> None:
    fix = doubts(run("A", [process(1, [disturbed(0.01, 0.02)] * 6)]), **circumstances)["other load"].fix
    assert "close" not in fix
    assert "measure_more" in fix


def test_equal_outputs_without_values_are_a_doubt() -> None:
    row = OutputAgreement("B", "y", None, NO_VALUES, None, None, None, 3, 0)
    assert "NaN, infinite or empty" in doubts(agreement=(row,))["outputs"].evidence


def test_a_system_that_reports_nothing_is_a_doubt() -> None:
    blind = [dataclasses.replace(block(0.002), run_delay_s=None, others_cpu_s=None)] * 6
    doubt = doubts(run("A", [process(1, blind)]), run("B", [process(1, blind)]))
    assert "does not report" in doubt["other load"].evidence


def test_a_container_that_hides_others_is_a_doubt() -> None:
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


def test_the_reason_of_a_fallback_is_no_list_of_providers() -> None:
    """ORT prints one sentence over three lines; two of them only list providers."""
    sentence = (
        "EP Error void RegisterTensorRTPluginsAsCustomOps() Please install TensorRT libraries as mentioned "
        "in the GPU requirements page"
    )
    log = (
        LogLine("", "*************** EP Error ***************"),
        LogLine("", sentence),
        LogLine("", " when using ['TensorrtExecutionProvider', 'CUDAExecutionProvider']"),
        LogLine("", "Falling back to ['CUDAExecutionProvider', 'CPUExecutionProvider'] and retrying."),
    )
    fallen = quiet("B", config=Config(providers=("tensorrt", "cuda", "cpu")), log=log)
    evidence = doubts(None, fallen)["fallback"].evidence
    assert "Please install TensorRT libraries" in evidence
    assert "when using" not in evidence
    more = (*log, LogLine("W", "Failed to create CUDAExecutionProvider. Require cuDNN 9"))
    fallen = quiet("B", config=Config(providers=("tensorrt", "cuda", "cpu")), log=more)
    assert "Require cuDNN 9" in doubts(None, fallen)["fallback"].evidence


def test_an_unsteady_warm_up() -> None:
    unsteady = run("A", [process(1, [block(0.002)] * 6, steady=False)])
    assert "warm-up" in doubts(unsteady)


def test_threads_that_the_worker_took_from_the_environment_are_a_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ORT_INTRA_OP_NUM_THREADS", "3")  # of this process: no worker reports it
    for origin in ("config", "ORT's default"):
        assert "threads from the environment" not in doubts(None, quiet("B", threads_from=(origin,)))
    taken = quiet("B", threads_from=("ORT's default", "ORT_INTER_OP_NUM_THREADS=4"))
    doubt = doubts(None, taken)["threads from the environment"]
    assert doubt.label == "B"
    assert doubt.evidence.endswith("of B from the environment: ORT_INTER_OP_NUM_THREADS=4")


def test_threads_above_the_quota_or_the_cores() -> None:
    assert doubts(machine=machine(quota_cores=1.0))["quota"].fix == "set intra_op_threads=1"
    assert "threads" in doubts(quiet("A", threads=8))


def test_what_the_system_counters() -> None:
    doubt = doubts(counters=Counters(steal_s=1.0, thermal_throttles=3, quota_throttles=0))
    assert "10 %" in doubt["steal"].evidence
    assert "3 times" in doubt["throttling"].evidence
    assert "quota" not in doubt


@pytest.mark.parametrize(
    ("plugged", "doubted"), [(False, True), (True, False), (None, False), ("no battery", False)]
)
def test_a_laptop_on_its_battery_is_a_doubt(
    monkeypatch: pytest.MonkeyPatch, plugged: bool | str | None, doubted: bool
) -> None:
    battery = None if plugged == "no battery" else SimpleNamespace(power_plugged=plugged)
    monkeypatch.setattr("psutil.sensors_battery", lambda: battery, raising=False)
    assert ("battery" in doubts(on_battery=on_battery())) == doubted


def test_a_system_without_a_reading_of_its_battery_is_no_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("psutil.sensors_battery", raising=False)
    assert not on_battery()


def test_a_container_without_a_folder_of_power_supplies_is_no_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    """`psutil` lists /sys/class/power_supply, which not every container has."""

    def read() -> None:
        raise FileNotFoundError("/sys/class/power_supply")

    monkeypatch.setattr("psutil.sensors_battery", read, raising=False)
    assert not on_battery()


def test_a_config_that_is_probably_not_meant() -> None:
    assert "config" in doubts(None, quiet("B", config=Config(inter_op_threads=4)))


def test_every_doubt_has_a_fix() -> None:
    noisy = run(
        "A", [process(1, [block(0.002, disturbed=("waited for a core",))] * 6, steady=False)], threads=9
    )
    for doubt in doubts(noisy, ratios=(1.0, 1.2, 0.8)).values():
        assert doubt.evidence
        assert doubt.fix
