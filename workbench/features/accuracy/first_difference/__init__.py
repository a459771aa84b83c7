"""Which tensor differs first between two configs of a model, which node made it, and which pass."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.bundle.display import config_in_words
from workbench.core.config import Config
from workbench.core.config.provider import CPU
from workbench.core.errors import ConfigError
from workbench.core.feature import Feature
from workbench.core.measure.agreement import TOLERANCE
from workbench.core.measure.limits import Limits
from workbench.core.measure.tensor_pair import TensorPair
from workbench.core.models import Model
from workbench.core.prepare.runnable import make_runnable
from workbench.core.text import counted
from workbench.features.accuracy.first_difference.record import (
    MOST_ERROR,
    FirstDifferenceRecord,
    TensorDifference,
    check_first_difference,
    differs,
    first_difference_chart,
    jump_of,
)
from workbench.features.base.result import Result, origin_of
from workbench.features.base.running import Feeds, finding_inputs, inputs_of
from workbench.features.base.subjects import subjects_of
from workbench.features.explain.explanation import explain

MOST_PASSES = 24  # switched off one by one
MOST_FILE_BYTES = 256 << 20  # with weights; a larger model is searched by bisection
MOST_TENSOR_BYTES = 1 << 30  # of all tensors at once, each taken to be as large as the largest input
POINTS = 32  # tensors that a step of the bisection puts in view


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
    worker_limits: Limits | None = None,
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
    feeds = inputs_of(loaded, inputs, seed, (first, second), calibration).feeds
    notes = [f"{counted(len(more), 'further config')} left out: A and B are compared"] if more else []
    search = _Search(loaded, first, feeds, calibration, worker_limits or Limits(), cancel, tolerance, [])
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
        notes=(*notes, *dict.fromkeys(search.notes)),
    )
    if any(row.tensor in outputs for row in record.beyond):
        record = replace(record, culprit=search.culprit(second, outputs))
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
    tolerance: float
    notes: list[str]

    def without_passes(self) -> _Search:
        """Return the same search in graphs that ONNX Runtime does not optimize."""
        return replace(self, first=unoptimized(self.first))

    def tensors(self, second: Config, names: Sequence[str] | None = None) -> tuple[TensorDifference, ...]:
        """Return the tensors that both graphs compute, in the order of the source graph, or those of `names`.

        Of a large model they are a few along the graph, and all just before the first difference.
        """
        first, other = (
            make_runnable(
                self.model, as_saved(config), self.feeds, calibration=self.calibration, cancel=self.cancel
            )
            for config in (self.first, second)
        )
        pair = TensorPair(first, other, self.limits, self.cancel)
        nodes, shared = self.model.structure.graph.node, pair.names
        made_by = {name: node for node in nodes for name in node.output if name in shared}

        def differences_of(chosen: Sequence[str] | None) -> Iterator[TensorDifference]:
            for row in pair.differences(chosen):
                if (node := made_by.get(row["name"])) is not None:
                    error = _error(row["signal"], row["noise"])
                    place = row["name"], node.name or row["name"], node.op_type
                    yield TensorDifference(*place, error, row["axis"], row["channel"])

        if names is None and is_large(pair, len(made_by)):
            outputs = [value.name for value in self.model.structure.graph.output if value.name in made_by]
            rows = bisected(list(made_by), outputs, differences_of, self.tolerance)
            self.notes.append(f"by bisection: {len(rows):,} of {counted(len(made_by), 'tensor')} in view")
            return rows
        order = {name: at for at, name in enumerate(made_by)}
        return tuple(sorted(differences_of(names), key=lambda row: order[row.tensor]))

    def culprit(self, second: Config, outputs: Sequence[str]) -> str | None:
        """Return the pass without which the outputs agree, where the configs differ in level or passes."""
        if passes_of(self.first) == passes_of(second):
            return None
        fired, base = (
            explain(self.model, config, passes="auto", cancel=self.cancel).passes.names
            for config in (second, self.first)
        )
        for name in [name for name in fired if name not in base][:MOST_PASSES]:
            without = second.replace(disabled_passes=(*second.disabled_passes, name))
            rows = self.tensors(without, outputs)
            if rows and not any(differs(row, self.tolerance) for row in rows):
                return name
        return None


def is_large(pair: TensorPair, tensors: int) -> bool:
    """Return whether all tensors at once might not fit in memory, or take long."""
    return pair.file_bytes > MOST_FILE_BYTES or pair.input_bytes * tensors > MOST_TENSOR_BYTES


def bisected(
    names: list[str], outputs: list[str],
    differences_of: Callable[[list[str]], Iterable[TensorDifference]], tolerance: float,
) -> tuple[TensorDifference, ...]:  # fmt: skip
    """Return the tensors that were put in view: a few along the graph with all outputs, then between two.

    An error that is gone before the next tensor in view is not found.
    """
    rows: dict[str, TensorDifference] = {}
    unseen, tried = names, set[str]()
    while unseen:
        step = math.ceil(len(unseen) / POINTS)
        chosen = [*unseen[step - 1 : -1 : step], unseen[-1]]
        chosen += [name for name in outputs if name not in tried and name not in chosen]
        tried.update(chosen)
        rows |= {row.tensor: row for row in differences_of(chosen)}
        ordered = [rows[name] for name in names if name in rows]
        beyond = next((row for row in ordered if differs(row, tolerance)), None)
        unseen = []
        for suspect in filter(None, (beyond, jump_of(ordered, tolerance))):  # the origin is looked for last
            end = names.index(suspect.tensor)
            start = max((at for at, name in enumerate(names[:end]) if name in rows), default=-1)
            unseen = [name for name in names[start + 1 : end] if name not in tried] or unseen
    return tuple(rows[name] for name in names if name in rows)


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
    next_question=(1, "outputs differ", "Where do they first differ?"),
)  # fmt: skip
