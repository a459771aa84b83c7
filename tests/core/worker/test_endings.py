"""What is said of a worker that did not answer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.core.worker.harness import interpreter
from workbench.core.errors import WorkerError
from workbench.core.worker import endings
from workbench.core.worker.launch import Worker


@pytest.mark.parametrize(
    ("stage", "limit"), [("start", "start_s"), ("load", "load_s"), ("first run", "run_s"), ("run", "run_s")]
)
def test_a_silence_names_the_limit_of_its_stage(stage: str, limit: str) -> None:
    error = endings.timed_out(stage, 7)
    assert f"no answer within 7 s during {stage}" in error.problem
    assert f"wb.Limits({limit}=" in error.fix


@pytest.mark.parametrize(
    ("job", "has_limit"), [("preparing.calibrate", False), ("probe", False), ("profiling", True)]
)
def test_a_silent_job_names_a_limit_only_if_it_has_one(job: str, has_limit: bool) -> None:
    assert ("wb.Limits(run_s=" in endings.timed_out(job, 3600).fix) is has_limit


@pytest.mark.real
@pytest.mark.skipif(os.name != "posix", reason="a shell")
def test_an_interpreter_without_onnxruntime_is_told_how_to_get_it(tmp_path: Path) -> None:
    bare = interpreter(tmp_path, 'exec "$PYTHON" -S "$@"')
    with Worker(tmp_path, name="W", python=bare) as worker, pytest.raises(WorkerError) as caught:
        worker.hello(timeout_s=60)
    assert f"{bare} -m pip install onnxruntime" in caught.value.fix


def test_any_other_death_at_the_start_blames_no_option() -> None:
    assert "option" not in endings.crashed("start", 1, "unknown option -P", "/usr/bin/python3").fix
    assert "option that B adds" in endings.crashed("run", -11, "", "/usr/bin/python3").fix
