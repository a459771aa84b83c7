"""The time that quantizing a layer saves: shares of profiles times measured latencies, or measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.features.profile.traces import event, node, write
from workbench.features.accuracy.layers_call import gains
from workbench.features.accuracy.quantization_step import REST, LayerGroup
from workbench.features.accuracy.sensitivity import measured_gain, with_measured_cost
from workbench.features.accuracy.sensitivity_record import ProposalRecord
from workbench.features.profile.profiled_config import ProfiledConfig, profiled_config
from workbench.features.profile.reader import read_trace
from workbench.features.profile.session_profile import Overhead, SessionProfile

GROUPS = (LayerGroup("conv", ("conv",), ("Conv",)), LayerGroup(REST, ("relu",), ("Relu",)))


def profiled(
    folder: Path, label: str, durations_us: dict[str, float], *, plain_s: tuple[float, ...], runs: int = 12
) -> tuple[ProfiledConfig, SimpleNamespace]:
    """Every node in each run for its time under the profiler; `plain_s` are runs without it."""

    events, start = [], 0.0
    for _ in range(runs):
        at = start
        for name, duration in durations_us.items():
            events.append(node(name, at, duration, name.capitalize()))
            at += duration
        events.append(event("model_run", start, at - start, "Session"))
        start = at + 1
    trace = read_trace(write(folder, events, name=f"{label}.json"))
    profile = SessionProfile(trace, warmup_runs=0, overhead=Overhead(plain_s, (1.0,)))
    account = SimpleNamespace(
        optimized=[SimpleNamespace(node=name, sources=(name,)) for name in durations_us]
    )
    return profiled_config(profile), account


def test_no_layer_saves_more_than_the_model_takes(tmp_path: Path) -> None:
    """Under the profiler the float model takes 2 ms, without it 0.46 ms."""
    plain = profiled(tmp_path, "float", {"conv": 1500.0, "relu": 500.0}, plain_s=(0.46e-3,) * 12)
    quantized = profiled(tmp_path, "int8", {"conv": 127.0, "relu": 500.0}, plain_s=(0.2e-3,) * 12)
    saved = gains(GROUPS, plain, quantized)
    assert sum(gain.value for gain in saved.values()) == pytest.approx(0.26e-3)
    assert saved["conv"].value == pytest.approx(0.46e-3 * 0.75 - 0.2e-3 * 127 / 627)


def test_an_estimate_carries_the_interval_of_its_runs(tmp_path: Path) -> None:
    noisy = tuple(0.46e-3 * (1 + 0.1 * (at % 3)) for at in range(12))
    plain = profiled(tmp_path, "float", {"conv": 1500.0, "relu": 500.0}, plain_s=noisy)
    quantized = profiled(tmp_path, "int8", {"conv": 127.0, "relu": 500.0}, plain_s=(0.2e-3,) * 12)
    gain = gains(GROUPS, plain, quantized)["conv"]
    assert gain.low is not None
    assert gain.high is not None
    assert gain.low < gain.value < gain.high
    few = profiled(tmp_path, "few", {"conv": 1500.0, "relu": 500.0}, plain_s=noisy, runs=3)
    assert gains(GROUPS, few, quantized)["conv"].low is None


PROPOSAL = ProposalRecord(
    model_name="m",
    max_error=0.01,
    met=True,
    reason="leave out conv",
    excluded=("conv",),
    nodes=("conv",),
    whole_error=0.1,
    error=0.005,
    cost_s=-1.373e-3,
    cost_low_s=None,
    cost_high_s=None,
    cost_how="estimated from profiles",
    attempts=(),
)


def comparison(ratio: float | None, low: float | None, high: float | None) -> SimpleNamespace:
    """A: all quantized, 0.4 ms."""
    verdict = SimpleNamespace(ratio=ratio, low=low, high=high, confidence=0.99)
    run = SimpleNamespace(latency=SimpleNamespace(median_s=0.4e-3))
    return SimpleNamespace(runs=(run,), verdicts=(verdict,), verdict=verdict)


def test_the_measurement_overrules_the_estimate() -> None:
    record = with_measured_cost(PROPOSAL, comparison(0.8, 0.75, 0.9))  # type: ignore[arg-type]
    assert record.cost_s == pytest.approx(0.1e-3)
    assert record.cost_low_s == pytest.approx(0.4e-3 / 0.9 - 0.4e-3)
    assert record.cost_high_s == pytest.approx(0.4e-3 / 0.75 - 0.4e-3)
    assert str(record).endswith(
        "it costs 0.1 ms a run, 99 % interval 0.0444 ms to 0.133 ms (measured, interleaved)"
    )


def test_a_cost_that_may_be_none_is_not_called_a_cost_or_a_saving() -> None:
    record = with_measured_cost(PROPOSAL, comparison(0.99, 0.9, 1.1))  # type: ignore[arg-type]
    assert "it changes a run by +0.00404 ms, 99 % interval -0.0364 ms to +0.0444 ms" in str(record)


def test_without_a_measured_ratio_the_estimate_stays() -> None:
    assert with_measured_cost(PROPOSAL, comparison(None, None, None)) == PROPOSAL  # type: ignore[arg-type]
    assert measured_gain(comparison(None, None, None).verdicts[0], 0.4e-3).value is None
    assert "saves 1.37 ms a run (estimated" in str(replace(PROPOSAL, cost_low_s=None))
