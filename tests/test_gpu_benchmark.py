"""The benchmark of GPUs where there is none: parts end alone and in time, counters and scripts work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pynvml  # type: ignore[import-untyped]
import pytest

import workbench as wb
from benchmarks import calibration_table, gpu
from benchmarks.gpu_bench import Bench
from benchmarks.gpu_counters import Counters, Sampling, nvml_reader
from tests.core.models import tiny


def bench(folder: Path, **changes: Any) -> Bench:
    return Bench(folder, **{"stand_in": True, "samples": ("digits-conv",), "budget_s": 1.0} | changes)


def test_a_part_that_fails_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Bench) -> Iterator[str]:
        """What breaks."""
        yield "first"
        raise RuntimeError("no such card")

    def slow(given: Bench) -> Iterator[str]:
        """What takes long."""
        yield "a beginning"
        assert given.cancel.wait(60)
        raise wb.Cancelled("cancelled", "")

    def fine(_: Bench) -> Iterator[str]:
        """What works."""
        yield "a figure"

    parts = {"broken": gpu.Part(broken, 1), "slow": gpu.Part(slow, 1), "fine": gpu.Part(fine, 99)}
    monkeypatch.setattr(gpu, "PARTS", parts)
    texts: list[str] = []
    outcomes = gpu.run_parts(bench(tmp_path), list(parts), 30.0, texts.append)
    assert [outcome.end.split(":")[0] for outcome in outcomes] == ["failed", "ended", "done"]
    report = "\n".join(texts)
    for text in ("What breaks.", "first", "failed: no such card", "a beginning", "a figure"):
        assert text in report
    table = gpu.summary(outcomes).splitlines()
    assert table[2].startswith("| broken |")
    assert "failed: no such card" in table[2]


def test_time_that_a_part_leaves_goes_to_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []
    monkeypatch.setattr(gpu, "run_part", lambda *given: shares.append(given[2]) or "done")
    monkeypatch.setattr(gpu, "PARTS", {name: gpu.Part(lambda _: iter(()), 1) for name in "abc"})
    gpu.run_parts(bench(tmp_path), ["a", "b", "c"], 30.0, lambda _: None, clock=lambda: 0.0)
    assert shares == [10.0, 15.0, 30.0]


def test_the_report_of_the_stand_in_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "PARTS", {"nothing": gpu.Part(lambda _: iter(["a text"]), 1)})
    assert gpu.main(["--stand-in", "-o", str(tmp_path), "--parts", "nothing"]) == 0
    report = (tmp_path / "report.md").read_text("utf-8")
    assert report.startswith("On the CPU in place of CUDA")
    assert "a text" in report


def test_configs_name_cuda_and_tensorrt_and_the_stand_in_does_not(tmp_path: Path) -> None:
    real, stand_in = bench(tmp_path, stand_in=False), bench(tmp_path)
    assert real.cuda(use_tf32="0").providers[0].option("use_tf32") == "0"
    kept = real.tensorrt("float16", trt_fp16_enable="1").providers[0]
    assert kept.name == "TensorrtExecutionProvider"
    assert Path(kept.option("trt_engine_cache_path") or "").is_dir()
    assert {stand_in.cuda(), stand_in.tensorrt("x")} == {wb.Config(providers=("cpu",))}


def test_the_counters_of_a_card_are_summed_up() -> None:
    readings = iter(
        [Counters(0.0, 1 << 30, 100.0), Counters(0.9, 3 << 30, 300.0), Counters(0.5, 2 << 30, None)]
    )
    with Sampling(lambda: next(readings), every_s=3600) as sampling:
        sampling.readings.append(next(readings))
    assert str(sampling) == (
        "3 readings: use 50% at the median, 90% at most; memory 1,024 MiB before, 3,072 MiB at most; "
        "power 200 W at the median, 300 W at most"
    )


@pytest.mark.parametrize("power_w", [250.0, None])
def test_the_drivers_library_is_read(power_w: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def power(_: Any) -> int:
        if power_w is None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return int(power_w * 1e3)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: f"GPU {index}")
    monkeypatch.setattr(pynvml, "nvmlDeviceGetUtilizationRates", lambda _: SimpleNamespace(gpu=40))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", lambda _: SimpleNamespace(used=5 << 30))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetPowerUsage", power)
    assert nvml_reader(0)() == Counters(0.4, 5 << 30, power_w)


@pytest.mark.real
def test_the_script_runs_on_the_cpu(tmp_path: Path, capsys: Any) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    np.savez(tmp_path / "feeds.npz", **dict(wb.load(path).inputs().feeds[0]))
    assert calibration_table.main([str(path), str(tmp_path / "feeds.npz"), str(tmp_path)]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["tensors"] > 0
    assert (tmp_path / answer["table"]).stat().st_size == answer["bytes"]


@pytest.mark.real
def test_a_part_saves_its_bundle(tmp_path: Path) -> None:
    assert gpu.main(["--stand-in", "-o", str(tmp_path), "--parts", "fallback", "--budget", "1"]) == 0
    result = wb.open(tmp_path / "stand-in-fallback-digits-conv.ortbench")
    assert result.verdict.reason.startswith("B did not run on CUDA: nothing was measured")
    report = (tmp_path / "report.md").read_text("utf-8")
    assert "B did not run on CUDA" in report
    assert "| fallback |" in report
