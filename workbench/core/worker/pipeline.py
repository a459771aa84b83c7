"""A pipeline in the worker: sessions and the user's functions in turn, each stage timed."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnxruntime as ort

from workbench.core.errors import RunFailed
from workbench.core.worker.session import make_session, nodes_on, run_options
from workbench.core.worker.values import Feed
from workbench.core.worker.wiring import places_of

_RETURN = "return a dict of names and values, or one value"
_KEPT_PASSES = 20_000  # of a block: a bundle holds each


class PipelineStage(Protocol):
    """What the pipeline knows of a stage. `needed` are the inputs without a default."""

    name: str
    inputs: list[str]
    needed: list[str]

    def run(self, values: Feed) -> Mapping[str, Any]:
        """Return the outputs by name."""
        ...


class SessionStage:
    """A model as a stage."""

    def __init__(self, name: str, session: ort.InferenceSession, options: ort.RunOptions | None) -> None:
        self.name, self._session, self._options = name, session, options
        self.inputs = self.needed = [value.name for value in session.get_inputs()]
        self._outputs = [value.name for value in session.get_outputs()]

    def run(self, values: Feed) -> Mapping[str, Any]:
        return dict(zip(self._outputs, self._session.run(None, values, self._options), strict=True))


class FunctionStage:
    """A function of the user's as a stage: its parameters are its inputs."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self._function = name, function
        parameters = inspect.signature(function).parameters.values()
        if any(
            item.kind in (item.POSITIONAL_ONLY, item.VAR_POSITIONAL, item.VAR_KEYWORD) for item in parameters
        ):
            raise RunFailed(
                f"stage {name!r} takes a parameter that has no name to be given by",
                "give each input of the function a parameter of its name",
            )
        self.inputs = [item.name for item in parameters]
        self.needed = [item.name for item in parameters if item.default is item.empty]

    def run(self, values: Feed) -> Mapping[str, Any]:
        result = self._function(**values)
        return result if isinstance(result, Mapping) else {self.name: result}


class StageRunner:
    """Stages in their order. Each takes its inputs by name; a single output goes to a single input."""

    def __init__(self, stages: Sequence[PipelineStage], feeds: Sequence[Feed]) -> None:
        self._stages, self._feeds = stages, feeds
        self._places: list[list[tuple[str, str]]] = []  # of each stage: its input, and the value it takes

    def connect(self, arrived: Sequence[list[Feed]] | None = None) -> list[dict[str, Any]]:
        """Run each feed once and decide what goes where; return the outputs of the last stage.

        What each stage takes is added to its list in `arrived`.
        """
        results = []
        for feed in self._feeds:
            values, before, source = dict(feed), list(feed), "the inputs"
            made_by, used = dict[str, str](), set[str]()  # stages by the value they gave; those with a taker
            self._places = []
            for number, stage in enumerate(self._stages):
                self._places.append(_connected(stage, values, before, source))
                given = {name: values[value] for name, value in self._places[-1]}
                if arrived is not None:
                    arrived[number].append(given)
                made = _run_checked(stage, given)
                used |= {made_by.get(value, "") for _, value in self._places[-1]}
                values |= made
                made_by |= dict.fromkeys(made, stage.name)
                before, source = list(made), f"stage {stage.name!r}"
            self._check_used(used)
            results.append({name: _portable(values[name]) for name in before})
        return results

    def _check_used(self, used: set[str]) -> None:
        """Refuse a stage that all others pass by: the next one would take an input of the same name."""
        for stage, after in pairwise(self._stages):
            if stage.name not in used:
                raise RunFailed(
                    f"nothing takes what stage {stage.name!r} gives; "
                    f"the next stage, {after.name!r}, takes {_listed(after.inputs)}",
                    "name the outputs as a later stage names its inputs, or leave that stage out",
                )

    def block(self, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Run passes over all feeds in turns: one with a clock around it, one with a clock at each stage."""
        whole, staged = array("q"), array("q")
        clock, plan = time.perf_counter_ns, list(zip(self._stages, self._places, strict=True))
        self._pass(plan)  # frozen threads wake up outside of the samples
        cpu_before, began = time.process_time_ns(), clock()
        deadline = began + int(seconds * 1e9)
        while len(whole) < 2 or (clock() < deadline and len(whole) < _KEPT_PASSES):
            start = clock()
            self._pass(plan)
            whole.append(clock() - start)
            staged.extend(self._timed_pass(plan))
        body = {
            "wall_ns": clock() - began,
            "cpu_ns": time.process_time_ns() - cpu_before,
            "passes": len(whole),
            "stages": len(plan),
        }
        return body, whole.tobytes() + staged.tobytes()

    def _pass(self, plan: Sequence[tuple[PipelineStage, list[tuple[str, str]]]]) -> None:
        for feed in self._feeds:
            values = dict(feed)
            for stage, places in plan:
                values.update(stage.run({name: values[value] for name, value in places}))

    def _timed_pass(self, plan: Sequence[tuple[PipelineStage, list[tuple[str, str]]]]) -> list[int]:
        """Return the nanoseconds of each stage; one begins where the last one ends."""
        clock, spent = time.perf_counter_ns, [0] * len(plan)
        for feed in self._feeds:
            last, values = clock(), dict(feed)
            for index, (stage, places) in enumerate(plan):
                values.update(stage.run({name: values[value] for name, value in places}))
                now = clock()
                spent[index] += now - last
                last = now
        return spent


def make_stages(
    wanted: Sequence[dict[str, Any]], session: ort.InferenceSession, plan: dict[str, Any]
) -> tuple[list[PipelineStage], list[dict[str, Any]]]:
    """Return the stages, and what is known of each session; the first model has its session already."""
    stages: list[PipelineStage] = []
    known: list[dict[str, Any]] = []
    is_made = False
    for stage in wanted:
        if "function" in stage:
            stages.append(FunctionStage(stage["name"], _function(stage)))
            known.append({})
            continue
        own, its_plan = (
            (make_session(stage["model"], stage["plan"]), stage["plan"]) if is_made else (session, plan)
        )
        own.disable_fallback()
        is_made = True
        stages.append(SessionStage(stage["name"], own, run_options(its_plan)))
        known.append({"providers": own.get_providers(), "nodes_on": nodes_on(own, its_plan)})
    return stages, known


def _function(stage: dict[str, Any]) -> Callable[..., Any]:
    """Import the module of a function, or its file, and return the function."""
    name, place = stage["function"], stage["module"] or stage["file"]
    sys.path.extend(folder for folder in stage["paths"] if folder not in sys.path)
    try:
        module = importlib.import_module(stage["module"]) if stage["module"] else _from_file(stage["file"])
        function: Callable[..., Any] = getattr(module, name)
        inspect.signature(function)
    except Exception as error:
        raise RunFailed(
            f"stage {stage['name']!r}: {name} of {place} cannot be imported: {type(error).__name__}: {error}",
            "import it in a fresh Python first; a worker process imports the module anew",
        ) from error
    return function


def _from_file(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _connected(
    stage: PipelineStage, values: Mapping[str, Any], before: Sequence[str], source: str
) -> list[tuple[str, str]]:
    """Return where each input comes from; raise an error that names both sides where nothing gives one."""
    places, missing = places_of(stage.inputs, stage.needed, values.keys(), before)
    if missing:
        raise RunFailed(
            f"stage {stage.name!r} takes {_listed(stage.inputs)}, and {source} gives {_listed(before)}: "
            f"nothing is called {_listed(missing)}",
            "put a function between them that takes the one and returns a dict with the other",
        )
    return places


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "nothing"


def _run_checked(stage: PipelineStage, values: Feed) -> Mapping[str, Any]:
    try:
        made = stage.run(values)
    except Exception as error:
        taken = ", ".join(f"{name} {_in_words(value)}" for name, value in values.items())
        raise RunFailed(
            f"stage {stage.name!r} failed on {taken or 'nothing'}: {type(error).__name__}: {error}",
            "run that stage alone on these values, or put a function before it that changes them",
        ) from error
    wrong = [name for name, value in made.items() if value is None or isinstance(value, tuple)]
    if wrong or not all(isinstance(name, str) for name in made):
        raise RunFailed(f"stage {stage.name!r} returned None or a tuple", _RETURN)
    return made


def _in_words(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"{value.dtype}{list(shape)}"


def _portable(value: Any) -> Any:
    """Return an output as `values` writes it: numbers and lists of numbers as arrays, where they are some."""
    if isinstance(value, (bool, int, float, np.generic)):
        return np.asarray(value)
    if isinstance(value, list) and value and all(isinstance(item, (bool, int, float)) for item in value):
        return np.asarray(value)
    return value
