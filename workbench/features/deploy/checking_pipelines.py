"""The proof of a deployed pipeline: its script is run alone, and its outputs are held against the stages."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.errors import DeployError
from workbench.core.measure.agreement import compare_outputs
from workbench.core.measure.limits import Limits, OnProgress
from workbench.core.models.inputs import write_npz
from workbench.core.program import run_program
from workbench.core.text import quoted
from workbench.core.worker.launch import WorkerFolder
from workbench.core.worker.values import Feed
from workbench.features.deploy.record import DeploymentCheck
from workbench.features.pipelines.one_pass import one_pass
from workbench.features.pipelines.pipeline import Pipeline
from workbench.features.pipelines.sessions import StageExamples


@dataclass(frozen=True, slots=True)
class WrittenPipeline:
    """A pipeline that was written, and what it is checked with."""

    pipeline: Pipeline
    feeds: Sequence[Feed]
    calibration: StageExamples


def check_pipeline(
    folder: Path,
    written: WrittenPipeline,
    *,
    limits: Limits | None,
    on_progress: OnProgress,
    cancel: threading.Event | None,
) -> DeploymentCheck:
    """Run the script of a deployed pipeline on its inputs and compare it with the measured stages."""
    limits, feeds = limits or Limits(), written.feeds
    expected = one_pass(
        written.pipeline,
        feeds,
        written.calibration,
        limits=limits,
        on_progress=on_progress,
        cancel=cancel,
    ).outputs
    python = written.pipeline.models[0].config.interpreter
    began = time.perf_counter()
    most_s = limits.start_s + limits.load_s + limits.run_s * (len(feeds) - 1)
    given = _script_outputs(folder, python, feeds, most_s, cancel)
    took_s = time.perf_counter() - began
    wanted = [{name: np.asarray(value) for name, value in outputs.items()} for outputs in expected]
    return DeploymentCheck(took_s, (), compare_outputs("script", wanted, given), ())


def _script_outputs(
    folder: Path, python: str, feeds: Sequence[Feed], most_s: float, cancel: threading.Event | None
) -> list[dict[str, Any]]:
    with WorkerFolder() as scratch:
        pairs = [(scratch / f"in{at}.npz", scratch / f"out{at}.npz") for at in range(len(feeds))]
        for (taken, _), feed in zip(pairs, feeds, strict=True):
            write_npz(taken, {name: _portable_array(value) for name, value in feed.items()})
        files = [str(path) for pair in pairs for path in pair]
        _run([python, "-B", "pipeline.py", *files], folder, most_s, cancel)
        return [_read_outputs(given) for _, given in pairs]


def _read_outputs(file: Path) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as outputs:
        return {name: _read_output(outputs, name) for name in outputs.files}


def _portable_array(value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    return array.astype(str) if array.dtype.kind == "O" else array  # no pickle


def _read_output(outputs: Any, name: str) -> Any:
    try:
        return outputs[name]
    except ValueError as error:
        raise DeployError(
            f"the output {quoted(name)} of the script is no array, so it cannot be compared",
            "end the pipeline with a function that returns arrays, numbers or texts",
        ) from error


def _run(command: Sequence[str], folder: Path, most_s: float, cancel: threading.Event | None) -> None:
    """Run the script with what its own folder and its environment have."""
    code, printed = run_program(command, most_s=most_s, cancel=cancel, folder=folder)
    if code is None:
        raise DeployError(
            f"the script gave no outputs within {most_s:g} s and was stopped",
            "if it is only slow, allow more time with limits=wb.Limits(load_s=…)",
        )
    if code:
        lines = printed.strip().splitlines()
        raise DeployError(
            f"the script ended with code {code}: {lines[-1] if lines else 'it printed nothing'}",
            "install what its requirements.txt names, or mend the function that it names",
        )
