"""A pipeline deployed as a folder with a script, and the check that the script does what was measured."""

from __future__ import annotations

import ast
import json
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.config.config import Config
from workbench.core.config.plan import session_plan
from workbench.core.errors import DeployError
from workbench.core.measure.agreement import compare_outputs
from workbench.core.measure.limits import Limits, OnProgress
from workbench.core.models.inputs import write_npz
from workbench.core.models.model import copy_model
from workbench.core.prepare.preparing import prepare
from workbench.core.program import run_program
from workbench.core.text import file_name, quoted
from workbench.core.worker import wiring
from workbench.core.worker.launch import WorkerFolder
from workbench.core.worker.values import Feed
from workbench.features.deploy import texts
from workbench.features.deploy.folder import (
    SERVING,
    as_texts,
    deployed_files,
    whole_folder,
    with_libraries,
    write_texts,
)
from workbench.features.deploy.record import DeploymentCheck, DeploymentRecord
from workbench.features.deploy.session_file import session_file
from workbench.features.pipelines.call import one_pass
from workbench.features.pipelines.pipeline import Pipeline, Stage, UserFunction
from workbench.features.pipelines.sessions import StageExamples

_NEEDED = ("numpy", "onnxruntime")
_README = """# {name}

A pipeline with the session options that were measured. It needs nothing of the tool that wrote it.

    python -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python pipeline.py inputs.npz outputs.npz

From Python: `from pipeline import run`, then `run({{"name": array}})` with what the first stage takes.
{notes}"""


def write_pipeline(
    pipeline: Pipeline,
    calibration: StageExamples,
    folder: Path,
    name: str | None,
    cancel: threading.Event | None,
) -> DeploymentRecord:
    """Write the folder of a pipeline; return what was written."""
    title = file_name(name or "-".join(stage.name for stage in pipeline.stages))
    stages, notes, providers = list[dict[str, Any]](), list[str](), list[str]()
    with whole_folder(folder) as target:
        for number, stage in enumerate(pipeline.stages):
            body: dict[str, Any] = {"name": stage.name, "module": f"stage_{number}"}
            if stage.function is not None:
                notes += _write_function(stage.function, target / f"stage_{number}.py")
                stages.append(body | {"function": stage.function.name})
            else:
                model, own, own_notes = _write_model(stage, calibration, target, number, cancel)
                stages.append(body | {"model": model})
                providers += [provider for provider in own if provider not in providers]
                notes += own_notes
        packages = texts.environment(pipeline.models[0].config.interpreter)
        lines = [line for line in texts.requirements(providers, packages) if line.startswith(_NEEDED)]
        written = {
            "requirements.txt": "\n".join(lines) + "\n",
            "stages.json": json.dumps(stages, indent=2) + "\n",
            "README.md": _README.format(name=title, notes="".join(f"\n- {note}" for note in notes)),
        }
        write_texts(target, written)
        shutil.copyfile(SERVING / "pipeline.py", target / "pipeline.py")
        shutil.copyfile(wiring.__file__, target / "wiring.py")
        files = deployed_files(target, cancel)
    first: Config = pipeline.models[0].config
    return DeploymentRecord(title, "pipeline", first, tuple(providers), False, 1, files, tuple(notes), None)


def _write_model(
    stage: Stage, calibration: StageExamples, target: Path, number: int, cancel: threading.Event | None
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Write the prepared model and its session; return the file, the providers, and the notes."""
    assert stage.model is not None
    prepared = prepare(stage.model, stage.config, calibration=calibration.get(number), cancel=cancel)
    folder = target / f"model_{number}"
    model = copy_model(prepared.model, folder, cancel)
    plan = with_libraries(session_plan(prepared.config), target)
    (target / f"stage_{number}.py").write_text(session_file(plan), "utf-8")
    providers = tuple(provider for provider, _ in plan.providers)
    return f"{folder.name}/{model.name}", providers, tuple(prepared.notes)


def _write_function(function: UserFunction, path: Path) -> list[str]:
    """Write the source that a function stands in; refuse one that imports what is not copied."""
    packages: set[str] = set()
    for node in ast.walk(ast.parse(function.source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "its own package"]
            if node.level:
                raise _not_written(function, f"a module of its own package, {quoted(names[0])}")
        packages |= {name.partition(".")[0] for name in names}
    beside = [] if function.file is None else [name for name in packages if _is_beside(function.file, name)]
    if beside:
        raise _not_written(function, f"{quoted(min(beside))}, which lies beside its file")
    path.write_text(function.source, "utf-8")
    others = sorted(packages - sys.stdlib_module_names - {*_NEEDED})
    return [f"{path.name} imports {', '.join(others)}: add what has it to requirements.txt"] if others else []


def _is_beside(file: Path, name: str) -> bool:
    return file.with_name(f"{name}.py").exists() or (file.parent / name / "__init__.py").exists()


def _not_written(function: UserFunction, what: str) -> DeployError:
    return DeployError(
        f"the function {quoted(function.qualified_name)} cannot be written: its module imports {what}",
        "put the function into a module file that imports installed packages alone",
    )


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
    measured = one_pass(
        written.pipeline, feeds, written.calibration, limits=limits, on_progress=on_progress, cancel=cancel
    )
    python = written.pipeline.models[0].config.interpreter
    began = time.perf_counter()
    most_s = limits.start_s + limits.load_s + limits.run_s * (len(feeds) - 1)
    given = _script_outputs(folder, python, feeds, most_s, cancel)
    took_s = time.perf_counter() - began
    wanted = [{name: np.asarray(value) for name, value in outputs.items()} for outputs in measured.outputs]
    return DeploymentCheck(took_s, (), compare_outputs("script", wanted, given), ())


def _script_outputs(
    folder: Path, python: str, feeds: Sequence[Feed], most_s: float, cancel: threading.Event | None
) -> list[dict[str, Any]]:
    with WorkerFolder() as scratch:
        pairs = [(scratch / f"in{at}.npz", scratch / f"out{at}.npz") for at in range(len(feeds))]
        for (taken, _), feed in zip(pairs, feeds, strict=True):
            write_npz(taken, {name: as_texts(value) for name, value in feed.items()})
        files = [str(path) for pair in pairs for path in pair]
        _run([python, "-B", "pipeline.py", *files], folder, most_s, cancel)
        return [_read_outputs(given) for _, given in pairs]


def _read_outputs(file: Path) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as outputs:
        return {name: _read_output(outputs, name) for name in outputs.files}


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
            "if it is only slow, allow more time with worker_limits=wb.Limits(load_s=…)",
        )
    if code:
        lines = printed.strip().splitlines()
        raise DeployError(
            f"the script ended with code {code}: {lines[-1] if lines else 'it printed nothing'}",
            "install what its requirements.txt names, or mend the function that it names",
        )
