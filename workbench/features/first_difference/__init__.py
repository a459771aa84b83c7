"""Which tensor differs first between two configs of a model, which node made it, and which pass."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.bundle.display import config_in_words
from workbench.core.config import Config
from workbench.core.config.provider import CPU
from workbench.core.errors import ConfigError
from workbench.core.feature import Feature
from workbench.core.measure.agreement import TOLERANCE
from workbench.core.measure.limits import Limits
from workbench.core.models import Model
from workbench.core.prepare.replayed import replayed
from workbench.core.prepare.runnable import Runnable, make_runnable
from workbench.core.text import counted
from workbench.core.worker.launch import WorkerFolder, call_job
from workbench.core.worker.values import write_values
from workbench.features.base.result import Result, origin_of
from workbench.features.base.running import Feeds, finding_inputs, inputs_of
from workbench.features.base.subjects import subjects_of
from workbench.features.explain.explanation import explain
from workbench.features.first_difference.record import (
    MOST_ERROR,
    FirstDifferenceRecord,
    TensorDifference,
    check_first_difference,
    differs,
    first_difference_chart,
)

MOST_PASSES = 24  # switched off one by one


class FirstDifference(Result):
    """Which tensor differs first between two configs. Made by `wb.first_difference`."""

    record: FirstDifferenceRecord

    def _in_words(self) -> str:
        return "\n".join([str(self.record), *(f"note: {note}" for note in self.record.notes)])


@finding_inputs
def first_difference(
    model: Model | tuple[Model | Any, Config] | Any,
    *configs: Config | tuple[Model | Any, Config] | Any,
    inputs: Feeds = None,
    tolerance: float | None = None,
    seed: int = 0,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
) -> FirstDifference:
    """Find the first tensor, in the order of the source graph, that differs between two configs.

    Each config's graph is saved as ONNX Runtime optimizes it, and both run with all tensors in view; those
    of one name are compared, and nodes that a fusion swallowed are skipped. `tolerance` is the share of a
    tensor's values (root mean square), by default the error that the precision of B may have. Where the
    configs differ in level or passes, passes are switched off one by one until the outputs agree.
    """
    loaded, (first, second, *more) = subjects_of(model, configs, None)
    tolerance = _usual_tolerance(second) if tolerance is None else tolerance
    check_number("tolerance", tolerance, "give a share above 0, such as 0.001")
    calibration = replayed(calibration)
    feeds = inputs_of(loaded, inputs, seed, (first, second), calibration).feeds
    notes = [f"{counted(len(more), 'further config')} left out: A and B are compared"] if more else []
    search = _Search(loaded, first, feeds, calibration, limits or Limits(), cancel)
    tensors: tuple[TensorDifference, ...] = ()
    if passes_of(first) == passes_of(second):  # without them every node is in view
        bare = search.without_passes()
        tensors = bare.tensors(unoptimized(second))
        notes.append("compared without ONNX Runtime's passes, which both configs share")
    if not any(differs(row, tolerance) for row in tensors):
        optimized = search.tensors(second)
        if len(optimized) >= len(tensors) or any(differs(row, tolerance) for row in optimized):
            tensors = optimized
            notes = [note for note in notes if "passes" not in note]
    outputs = [value.name for value in loaded.structure.graph.output]
    record = FirstDifferenceRecord(
        model_name=loaded.name,
        configs=(config_in_words(first), config_in_words(second)),
        tolerance=tolerance,
        tensors=tensors,
        node_count=len(loaded.structure.graph.node),
        culprit=None,
        notes=tuple(notes),
    )
    if any(row.tensor in outputs for row in record.beyond):
        record = replace(record, culprit=search.culprit(second, outputs, tolerance))
    return FirstDifference(record, origin_of(loaded, cancel=cancel))


@dataclass(frozen=True)
class _Search:
    """What stays the same while configs take the place of B."""

    model: Model
    first: Config
    feeds: Sequence[Any]
    calibration: Any
    limits: Limits
    cancel: threading.Event | None

    def without_passes(self) -> _Search:
        """Return the same search in graphs that ONNX Runtime does not optimize."""
        return replace(self, first=unoptimized(self.first))

    def tensors(self, second: Config) -> tuple[TensorDifference, ...]:
        """Return the tensors that both graphs compute, in the order of the source graph."""
        runnables = [
            make_runnable(
                self.model, as_saved(config), self.feeds, calibration=self.calibration, cancel=self.cancel
            )
            for config in (self.first, second)
        ]
        with WorkerFolder() as folder:
            paths = [folder / label for label in "AB"]
            for path, runnable in zip(paths, runnables, strict=True):
                write_values(path, runnable.feeds)
            files, feeds = [str(runnable.model.path) for runnable in runnables], [str(path) for path in paths]
            computed = [*map(self._computed_elsewhere, runnables, paths)]
            pair = dict(zip(("first", "second"), files, strict=True))
            answer = self._answer("tensors", {**pair, "feeds": feeds, "computed": computed})
        rows = {
            row["name"]: (_error(row["signal"], row["noise"]), row["axis"], row["channel"])
            for row in answer["tensors"]
        }
        return tuple(
            TensorDifference(name, node.name or name, node.op_type, *rows[name])
            for node in self.model.structure.graph.node
            for name in node.output
            if name in rows
        )

    def _computed_elsewhere(self, runnable: Runnable, feeds: Path) -> list[str] | None:
        """Return the files of the tensors that another environment computes; None: this one is meant."""
        file, python = runnable.model.path.absolute(), runnable.config.interpreter
        if python == sys.executable:
            return None
        exposed, values = str(feeds.with_suffix(".onnx")), str(feeds.with_suffix(".values"))
        self._answer("exposing", {"source": str(file), "target": exposed})
        body = {"model": exposed, "weights": str(file.parent), "feeds": str(feeds), "target": values}
        written: list[str] = self._answer("computing", body, python)["files"]
        return written

    def _answer(self, job: str, body: dict[str, Any], python: str = sys.executable) -> dict[str, Any]:
        """Return what a job says."""
        return call_job(
            job,
            body,
            timeout_s=self.limits.load_s + self.limits.run_s * len(self.feeds),
            cancel=self.cancel,
            python=python,
            memory_bytes=self.limits.memory_bytes,
            custom_ops=self.first.custom_ops,
        )

    def culprit(self, second: Config, outputs: Sequence[str], tolerance: float) -> str | None:
        """Return the pass without which the outputs agree, where the configs differ in level or passes."""
        if passes_of(self.first) == passes_of(second):
            return None
        fired, base = (
            explain(self.model, config, passes="auto", cancel=self.cancel).passes.names
            for config in (second, self.first)
        )
        for name in [name for name in fired if name not in base][:MOST_PASSES]:
            without = second.replace(disabled_passes=(*second.disabled_passes, name))
            rows = [row for row in self.tensors(without) if row.tensor in outputs]
            if rows and not any(differs(row, tolerance) for row in rows):
                return name
        return None


def _usual_tolerance(config: Config) -> float:
    """Return the share that a comparison allows a config of this precision."""
    precision = config.arithmetic
    return TOLERANCE if precision is None else float(10 ** (-precision.LEAST_SQNR_DB / 20))


def passes_of(config: Config) -> tuple[str | None, tuple[str, ...]]:
    """Return what decides which passes run."""
    return config.level, config.disabled_passes


def unoptimized(config: Config) -> Config:
    """Return the config without ONNX Runtime's passes."""
    return config.replace(level="disabled", disabled_passes=())


def as_saved(config: Config) -> Config:
    """Return the config that saves the graph that ONNX Runtime makes; refuse where it saves none.

    Without passes the file is that graph, and no process needs to save it.
    """
    if config.engine is not None or any(provider.name != CPU for provider in config.providers):
        raise ConfigError(
            "tensors are compared in graphs that ONNX Runtime saves: other engines and providers save none.",
            "Compare configs on the CPU; wb.layer_errors and wb.accuracy compare outputs of any config.",
        )
    is_graph = config.saved_graph is None and passes_of(config) == passes_of(unoptimized(config))
    return config if is_graph else config.replace(saved_graph="onnx")


def _error(signal: float, noise: float) -> float | None:
    """Return the root of the noise over the signal; None where B has NaN or infinity."""
    if not math.isfinite(noise):
        return None
    return min(math.sqrt(noise / signal), MOST_ERROR) if signal > 0 else MOST_ERROR * (noise > 0)


FEATURE = Feature(
    "first difference", FirstDifferenceRecord, check_first_difference,
    result=FirstDifference, chart=first_difference_chart, per="runs",
    call=first_difference, takes=("inputs", "seed", "calibration"),
    heading="The first difference", button="First difference",
    hint="The first tensor that differs between A and B, its node, and the pass that made it",
    step="both graphs with all tensors in view", effort=(2.0, 6, 4), tabs=("Outputs",), key="node",
)  # fmt: skip
