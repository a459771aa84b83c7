"""Pipelines: shares that add up, a planted slow stage, verdicts, and errors that name both sides."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from tests.features.pipelines import steps
from workbench.apps.cli import main
from workbench.core.form import values_of
from workbench.features.base.registry import KINDS
from workbench.features.pipelines.call import examples_for
from workbench.features.pipelines.record import PipelineRun, PipelineSlice, StageRecord

PIXELS = {"pixels": np.random.default_rng(0).random((1, 1, 64, 64)).astype(np.float32)}
QUICK: dict[str, Any] = {"budget_s": 1.0, "progress": False, "keep": False}
STEPS = Path(steps.__file__)

SECONDS = st.floats(1e-6, 1.0)


def run_of_times(rounds: list[list[list[float]]]) -> PipelineRun:
    """Make a run of rounds, each with the times of its stages in each pass."""
    count = len(rounds[0][0])
    stages = tuple(StageRecord(f"stage {n}", "steps:f", "0" * 64, None, None) for n in range(count))
    slices = tuple(
        PipelineSlice(number, 0, tuple(map(sum, rows)), tuple(zip(*rows, strict=True)), 0.1, None, ())
        for number, rows in enumerate(rounds, 1)
    )
    return PipelineRun("A", stages, slices, (), None)


def rounds_of(stages: int) -> st.SearchStrategy[list[list[list[float]]]]:
    one_pass = st.lists(SECONDS, min_size=stages, max_size=stages)
    return st.lists(st.lists(one_pass, min_size=1, max_size=8), min_size=1, max_size=5)


@given(st.integers(1, 5).flatmap(rounds_of))
def test_the_shares_are_parts_of_the_whole(rounds: list[list[list[float]]]) -> None:
    run = run_of_times(rounds)
    assert sum(row.share.value or 0.0 for row in run.figures) == pytest.approx(1)
    assert sum(row.time.value or 0.0 for row in run.figures) == pytest.approx(run.whole.value)


def test_a_faster_stage_gives_what_amdahl_says() -> None:
    run = run_of_times([[[0.001, 0.003]]] * 3)
    second = run.figures[1]
    assert second.share.value == pytest.approx(0.75)
    assert second.gain(2).value == pytest.approx(1 / 0.625)
    assert second.gain(None).value == pytest.approx(4)
    assert (second.gain(2).low or 0) <= (second.gain(2).value or 0) <= (second.gain(2).high or 0)


@pytest.fixture(scope="module")
def slowed() -> wb.Pipelines:
    plain = wb.Pipeline([steps.prepared, "digits-conv", f"{STEPS}:best"])
    slow = wb.Pipeline([steps.prepared, "digits-conv", steps.slow, steps.best])
    return wb.measure_pipelines(plain, slow, inputs=PIXELS, **QUICK)


@pytest.mark.real
def test_a_planted_slow_stage_is_the_largest_and_makes_the_pipeline_slower(slowed: wb.Pipelines) -> None:
    shares = {row.stage.name: row.share.value or 0.0 for row in slowed.stages("B")}
    assert max(shares, key=shares.__getitem__) == "slow"
    (verdict,) = slowed.record.verdicts
    assert verdict.kind in ("slower", "unknown")  # unknown where other programs shake the machine
    assert all(row.agrees for row in slowed.record.agreement)


@pytest.mark.real
def test_the_times_of_the_stages_add_up_to_a_pass_with_one_clock(slowed: wb.Pipelines) -> None:
    for run in slowed.record.runs:
        whole, parts = run.whole, [row.time for row in run.figures]
        assert whole.low is not None
        assert whole.high is not None
        low, high = sum(part.low or 0.0 for part in parts), sum(part.high or 0.0 for part in parts)
        assert low <= whole.high
        assert whole.low <= high


@pytest.mark.real
def test_a_bundle_shows_the_stages_without_the_functions(slowed: wb.Pipelines, tmp_path: Path) -> None:
    bundle = slowed.save(tmp_path / "pipeline.ortbench")
    again = wb.open(bundle)
    assert str(again) == str(slowed)
    stage = again.stages("B")[2].stage
    assert stage.function == "tests.features.pipelines.steps:slow"
    assert len(stage.source_sha256 or "") == 64
    assert b"perf_counter" not in bundle.read_bytes()


def step(name: str) -> tuple[str, str]:
    return name, f"{STEPS}:{name}"


MISMATCHES: dict[str, tuple[list[Any], tuple[str, ...]]] = {
    "wrong names": ([step("two"), step("best")], ("'best' takes 'slow'", "'two' gives 'left', 'right'")),
    "passed by": ([step("two"), "digits-conv"], ("nothing takes what stage 'two' gives", "'digits-conv'")),
    "wrong shape": ([step("flat"), "digits-conv"], ("'digits-conv' failed", "float32[4096]")),
    "failing": ([step("broken"), "digits-conv"], ("'broken' failed", "a planted failure")),
    "nothing": (["digits-conv", step("nothing")], ("'nothing' returned None",)),
}


@pytest.mark.real
@pytest.mark.parametrize("name", MISMATCHES)
def test_stages_that_do_not_fit_are_an_error_before_measuring(name: str) -> None:
    stages, words = MISMATCHES[name]
    with pytest.raises(wb.RunFailed) as caught:
        wb.measure_pipelines(
            wb.Pipeline([*stages, *([] if "digits-conv" in stages else ["digits-conv"])]),
            inputs=PIXELS,
            **QUICK,
        )
    assert all(word in str(caught.value) for word in words)


@pytest.mark.real
def test_a_deployed_pipeline_gives_the_same_without_the_workbench(tmp_path: Path) -> None:
    pipeline = wb.Pipeline([steps.prepared, ("digits-conv", wb.Config(intra_op_threads=1)), f"{STEPS}:slow"])
    result = wb.deploy(pipeline, folder=tmp_path / "served")
    assert {"pipeline.py", "wiring.py", "stages.json", "stage_0.py", "requirements.txt"} <= {
        file.path for file in result.record.files
    }
    np.savez(tmp_path / "in.npz", **PIXELS)
    command = [sys.executable, "-P", "pipeline.py", str(tmp_path / "in.npz"), str(tmp_path / "out.npz")]
    bare = {**os.environ, "PYTHONPATH": str(tmp_path / "served")}
    subprocess.run(command, cwd=tmp_path / "served", env=bare, check=True)
    with np.load(tmp_path / "out.npz") as given:
        logits = given["slow"]
    assert logits.shape == (1, 10)
    assert "workbench" not in "".join(path.read_text() for path in (tmp_path / "served").glob("*.py"))
    assert "pipeline" in str(wb.open(result.save(tmp_path / "written.ortbench")))


@pytest.mark.real
def test_a_deployed_pipeline_is_checked_by_its_script(tmp_path: Path) -> None:
    pipeline = wb.Pipeline([steps.prepared, ("digits-conv", wb.Config(intra_op_threads=1)), f"{STEPS}:best"])
    result = wb.deploy(pipeline, folder=tmp_path / "served", inputs=PIXELS)
    checked = result.check(progress=False, keep=False)
    (row,) = checked.record.check.agreement
    assert (row.output, row.agrees) == ("best", True)
    assert checked.record.check.agrees
    assert "outputs equal those measured; script took" in str(checked)
    assert "outputs equal those measured" in checked.still().to_svg()
    assert str(wb.open(checked.save(tmp_path / "checked.ortbench"))) == str(checked)
    assert not (tmp_path / "served" / "__pycache__").exists()


@pytest.mark.real
def test_the_check_of_a_pipeline_compares_all_inputs(tmp_path: Path) -> None:
    inputs = [PIXELS, {"pixels": PIXELS["pixels"] * 0.5}]
    pipeline = wb.Pipeline(["digits-conv", f"{STEPS}:slow"])
    result = wb.deploy(pipeline, folder=tmp_path / "served", inputs=inputs)
    assert result.check(progress=False, keep=False).record.check.agrees
    step = tmp_path / "served" / "stage_1.py"
    later = "import itertools\nCALLS = itertools.count()\n"
    source = step.read_text().replace("return logits\n", "return logits + min(next(CALLS), 1)\n")
    step.write_text(source.replace("import time\n", f"import time\n{later}"))
    assert result.check(progress=False, keep=False).record.check.agrees is False


@pytest.mark.real
def test_an_input_and_an_output_may_have_the_name_file(tmp_path: Path) -> None:
    pipeline = wb.Pipeline([f"{STEPS}:read", "digits-conv", f"{STEPS}:filed"])
    result = wb.deploy(pipeline, folder=tmp_path / "served", inputs={"file": PIXELS["pixels"]})
    (row,) = result.check(progress=False, keep=False).record.check.agreement
    assert (row.output, row.agrees) == ("file", True)


@pytest.mark.slow
@pytest.mark.real
def test_the_check_of_a_pipeline_finds_other_outputs_and_a_broken_script(tmp_path: Path) -> None:
    pipeline = wb.Pipeline(["digits-conv", f"{STEPS}:slow"])
    result = wb.deploy(pipeline, folder=tmp_path / "served")
    step = tmp_path / "served" / "stage_1.py"
    source = step.read_text()
    step.write_text(source.replace("return logits\n", "return logits + 1\n"))
    checked = result.check(progress=False, keep=False)
    assert not checked.record.check.agrees
    assert "OUTPUTS DIFFER" in str(checked)
    step.write_text("import no_such_package\n")
    with pytest.raises(wb.DeployError, match="No module named 'no_such_package'"):
        result.check(progress=False, keep=False)
    step.write_text("import time\ntime.sleep(600)\n")
    with pytest.raises(wb.DeployError, match="gave no outputs within 12 s"):
        result.check(worker_limits=wb.Limits(start_s=10, load_s=2), progress=False, keep=False)


@pytest.mark.slow
@pytest.mark.real
def test_a_later_stage_is_calibrated_on_what_the_stages_before_it_make() -> None:
    """Ranges of [0, 1] cut half of what `centred` makes off, and those of random noise do more."""
    examples = [
        {"pixels": np.random.default_rng(n).random((1, 1, 64, 64)).astype(np.float32)} for n in range(8)
    ]
    int8 = wb.Config(precision=wb.StaticInt8(samples=8))
    pipeline = wb.Pipeline([steps.centred, ("digits-conv", int8)])
    arrived = examples_for(pipeline, examples[:1], examples)
    assert [*arrived] == [1]
    taken = [feed["pixels"] for feed in arrived[1]]
    assert len(taken) == 8
    np.testing.assert_array_equal(taken[3], examples[3]["pixels"] - np.float32(0.5))
    assert examples_for(wb.Pipeline(["digits-conv"]), examples, None) == {}
    plain = wb.Pipeline([steps.centred, "digits-conv"])
    result = wb.measure_pipelines(plain, pipeline, inputs=examples[0], calibration=examples, **QUICK)
    assert all(row.agrees for row in result.record.agreement)


def test_the_form_puts_the_open_model_among_the_typed_stages() -> None:
    declared = KINDS.named("pipelines")
    texts = {"stages": f"{STEPS}:prepared, model, {STEPS}:best", "npz": "in.npz"}
    options = values_of(declared.form, texts)
    a, b = wb.Config(), wb.Config(level="basic")
    pipelines, keywords = declared.arguments("digits-conv", (a, b), options | {"inputs": "of the model"})
    assert [str(pipeline) for pipeline in pipelines] == ["Pipeline(prepared → digits-conv → best)"] * 2
    assert [pipeline.models[0].config for pipeline in pipelines] == [a, b]
    assert keywords == {"inputs": "in.npz"}
    code = declared.call_code(["a", "b"], options)
    assert code.startswith(
        f"wb.measure_pipelines(wb.Pipeline(['{STEPS}:prepared', (model, a), ".replace("'", '"')
    )
    ast.parse(code)
    with pytest.raises(wb.ConfigError, match="leave out the open model"):
        declared.arguments("digits-conv", (a,), {"stages": ["steps.py:best"]})


def test_a_function_whose_module_imports_its_neighbour_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text("SCALE = 2.0\n")
    (tmp_path / "own.py").write_text("import near\n\ndef twice(pixels):\n    return pixels * near.SCALE\n")
    pipeline = wb.Pipeline([f"{tmp_path}/own.py:twice", "digits-conv"])
    with pytest.raises(wb.DeployError, match="'near', which lies beside its file"):
        wb.deploy(pipeline, folder=tmp_path / "served")
    assert not (tmp_path / "served").exists()
    with pytest.raises(wb.ConfigError, match="have their configs"):
        wb.deploy(pipeline, wb.Config(), tmp_path / "served")


@pytest.mark.real
def test_it_can_be_cancelled() -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(wb.Cancelled):
        wb.measure_pipelines(wb.Pipeline(["digits-conv"]), cancel=cancel, **QUICK)


@pytest.mark.real
def test_the_command_measures_two_pipelines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(STEPS.parent)
    np.savez(tmp_path / "in.npz", **PIXELS)
    stages = ["steps.py:prepared", "digits-conv", "steps.py:best"]
    options = ["--b", "level=disabled", "--npz", str(tmp_path / "in.npz"), "--budget", "1"]
    assert main(["measure-pipelines", *stages, *options, "--no-history", "--quiet", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["kind"] == "pipelines"
    assert "A: digits-conv takes" in printed["text"]
    assert "B: digits-conv takes" in printed["text"]


@pytest.mark.real
def test_a_function_of_a_notebook_travels_with_what_it_uses(tmp_path: Path) -> None:
    cell = """
import numpy as np
LEVELS = (0.1, 0.9)
def clipped(values):
    return np.clip(values, *LEVELS)
def prepared(pixels: np.ndarray) -> dict:
    return {"pixels": clipped(pixels)}
"""
    program = tmp_path / "cell.py"
    program.write_text(
        cell
        + """
import workbench as wb
if __name__ == "__main__":
    pixels = wb.load("digits-conv").inputs().feeds[0]["pixels"]
    pipeline = wb.Pipeline([prepared, "digits-conv"])
    print(wb.measure_pipelines(pipeline, inputs={"pixels": pixels}, budget_s=0.5, progress=False, keep=False))
"""
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert "prepared takes" in done.stdout, done.stderr


def test_what_no_other_process_can_import_is_refused() -> None:
    def inner(logits: np.ndarray) -> np.ndarray:
        return logits

    for function, kind in (
        (lambda logits: logits, "a lambda"),
        (inner, "a closure"),
        (np.argmax, "no plain"),
    ):
        with pytest.raises(wb.ConfigError, match=kind):
            wb.Pipeline(["digits-conv", function])


@pytest.mark.parametrize(
    "stages",
    [
        [],
        [steps.best],
        ["digits-conv", "digits-conv"],
        [("a", 3)],
        ["digits-conv", f"{STEPS}:absent"],
        [("digits-conv", wb.Config(io_binding=True))],
    ],
)
def test_what_is_no_pipeline_is_refused(stages: list[Any]) -> None:
    with pytest.raises(wb.ConfigError):
        wb.Pipeline(stages)
