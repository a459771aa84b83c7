"""A config whose provider takes no node is a failed run, in every command, unless that is allowed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from tests.core.bundle.golden.make import comparison
from tests.core.measure.fakes import World
from tests.factories.comparisons import ordinary
from workbench.apps.cli import main
from workbench.core.bundle.kinds import Part
from workbench.core.config import Config
from workbench.core.measure.gates import OPEN
from workbench.core.measure.wording import sentence
from workbench.drawing.page.banner import verdict_html
from workbench.drawing.verdict_picture import verdict_picture
from workbench.features.profile.saved import record_of

QNN = Config(providers=["qnn"])  # in no wheel for a desktop
CUDA_LOG = (
    "Failed to load libcublasLt.so.13: libcublasLt.so.13: cannot open shared object file: No such file\n"
    "2026-11-24 08:38:00.56 [W:onnxruntime:Default, a.cc:1 F] Failed to create CUDAExecutionProvider.\n"
)


@pytest.mark.real
def test_a_provider_that_never_ran_gets_no_verdict() -> None:
    result = wb.compare("digits-conv", Config(), QNN, progress=False, keep=False)
    failure = result.runs[1].failure
    assert failure is not None
    assert failure.stage == "provider"
    assert result.verdict.kind == "unknown"
    assert not any(run.processes for run in result.runs), "nothing was measured"
    (count,) = [nodes for provider, nodes in result.runs[1].nodes_on or () if provider.startswith("CPU")]
    assert result.verdict.reason == (
        f"B did not run on QNN: nothing was measured, since all {count} nodes would have run on the CPU; "
        "this ONNX Runtime was built without QNN"
    )
    assert failure.fix.endswith("providers that work here: CPU") or "works here: CPU, " in failure.fix
    assert failure.fix in str(result)
    assert not result.record.doubts or "fallback" not in {doubt.kind for doubt in result.record.doubts}
    picture = verdict_picture(result.record, result.verdict)
    assert (picture.head, picture.effect, picture.axis) == ("B did not run on QNN", "error", None)
    assert picture.lines[0].startswith(f"Nothing was measured, since all {count} nodes")
    assert picture.lines[-1].startswith("Fix: use an environment whose ONNX Runtime has it")
    assert "B did not run on QNN" in verdict_html(result.record)


@pytest.mark.real
def test_a_fallback_that_is_allowed_is_measured_and_said_first() -> None:
    result = wb.compare(
        "digits-conv", Config(), QNN, allow_fallback=True, budget_s=1e-6, progress=False, keep=False
    )
    assert all(run.processes for run in result.runs)
    (count,) = [nodes for _, nodes in result.runs[1].nodes_on or ()]
    words = f"B ran {count} of {count} nodes on CPU, not on QNN"
    assert f"{words} (their share of the time was not measured)" in str(result).splitlines()[0]
    assert verdict_picture(result.record, result.verdict).lines[0].startswith(words)
    result.examine("profile")
    assert f"{words} (100% of the nodes' time)" in str(result).splitlines()[0]
    assert "100% of the nodes" in result.document().html()


@pytest.mark.real
@pytest.mark.parametrize(
    "command",
    [
        ["compare", "digits-conv", "--b", "providers=qnn"],
        ["measure", "digits-conv", "--a", "providers=qnn"],
        ["load-test", "digits-conv", "--a", "providers=qnn"],
    ],
    ids=lambda command: command[0],
)
def test_commands_end_with_exit_code_3(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--no-history", "--quiet"]) == OPEN
    assert "did not run on QNN: nothing was measured" in "".join(capsys.readouterr())


@pytest.mark.real
def test_a_command_may_allow_it(capsys: pytest.CaptureFixture[str]) -> None:
    measure = ["measure", "digits-conv", "--a", "providers=qnn", "--budget", "1", "--no-history", "--quiet"]
    assert main([*measure, "--allow-fallback"]) == 0
    assert "nodes on CPU, not on QNN" in capsys.readouterr().out


@pytest.mark.real
def test_the_missing_library_is_named_with_what_to_do(tmp_path: Path) -> None:
    world = World(
        {"A": 0.001, "B": 0.001},
        configs={"B": Config(providers=["cuda", "cpu"])},
        nodes_on={"CPUExecutionProvider": 946},
        log=CUDA_LOG,
    )
    measuring = world.compare(tmp_path)
    (verdict,) = measuring.verdicts
    assert verdict.reason == (
        "B did not run on CUDA: nothing was measured, since all 946 nodes would have run on the CPU; "
        "libcublasLt.so.13 was not found"
    )
    failure = measuring.evidence.failure("B")
    assert failure is not None
    assert failure.fix.startswith("no NVIDIA GPU or driver is visible here")
    record = replace(ordinary(), verdicts=(replace(verdict, ratio=None, low=None, high=None),))
    assert "libcublasLt.so.13 was not found" in verdict_picture(record, record.verdicts[0]).lines
    assert world.sessions == ["A", "B"] or world.sessions == ["B", "A"], "one round, and no sampling"


@pytest.mark.real
def test_the_others_are_measured_without_it(tmp_path: Path) -> None:
    run_s = {"A": 0.001, "B": 0.001, "C": 0.0005}
    measuring = World(run_s, configs={"B": Config(providers=["cuda"])}).compare(tmp_path)
    assert [verdict.kind for verdict in measuring.verdicts] == ["unknown", "faster"]


@pytest.mark.real
def test_a_provider_that_loads_and_takes_no_node_did_not_run(tmp_path: Path) -> None:
    loaded = World(
        {"A": 0.001, "B": 0.001},
        configs={"B": Config(providers=["openvino"])},
        providers=("OpenVINOExecutionProvider", "CPUExecutionProvider"),
        nodes_on={"CPUExecutionProvider": 7},
    )
    (verdict,) = loaded.compare(tmp_path).verdicts
    assert verdict.reason.startswith("B did not run on OpenVINO")
    assert "OpenVINO took none of them" in verdict.reason


def test_nodes_that_fell_back_are_counted_in_the_first_line() -> None:
    record = comparison()
    nodes_on = (("CPUExecutionProvider", 46), ("CUDAExecutionProvider", 900))
    config = Config(providers=["cuda", "cpu"])
    runs = (record.runs[0], replace(record.runs[1], config=config, nodes_on=nodes_on))
    record = replace(record, runs=runs)
    words = "B ran 46 of 946 nodes on CPU, not on CUDA"
    assert f"{words} (their share of the time was not measured)" in sentence(record, record.verdict)
    assert f"{words} (31% of the nodes' time)" in sentence(record, record.verdict, {"B": 0.31})
    both = replace(runs[1], config=Config(providers=["tensorrt", "cuda", "cpu"]))
    text = sentence(replace(record, runs=(runs[0], both)), record.verdict)
    assert "B ran 46 of 946 nodes on CPU, not on Tensorrt or CUDA" in text
    whole = replace(runs[1], nodes_on=(("CUDAExecutionProvider", 946),))
    record = replace(record, runs=(runs[0], whole))
    assert "nodes" not in sentence(record, record.verdict)


@pytest.mark.real
def test_a_profile_without_times_says_no_share() -> None:
    record = comparison()
    nodes_on = (("CPUExecutionProvider", 46), ("CUDAExecutionProvider", 900))
    run = replace(record.runs[1], config=Config(providers=["cuda"]), nodes_on=nodes_on)
    profile = wb.profile("digits-conv", budget_s=0.1)
    made = record_of(profile)
    made = replace(made, trace=replace(made.trace, duration_us=made.trace.duration_us * 0.0))
    record = replace(record, runs=(record.runs[0], run))
    result = wb.Comparison(record, parts=(Part("profile/B", made, profile.about),))
    assert "(their share of the time was not measured)" in str(result).splitlines()[0]
