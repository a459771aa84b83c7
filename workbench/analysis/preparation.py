"""Source → prepared → optimized as one chain: what a config does to the file comes before ORT's passes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbench.analysis.graph import Graph, informed, read_graph
from workbench.analysis.observe import (
    BUDGET_S,
    PREPARED,
    Follow,
    Observation,
    Snapshot,
    named_structure,
    observe,
    source_graph,
)
from workbench.config import Config
from workbench.models import Model
from workbench.preparation.preparing import Prepared, prepare


def observe_prepared(
    model: Model,
    config: Config,
    *,
    passes: Follow = "auto",
    budget_s: float = BUDGET_S,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_first: Callable[[Observation], None] | None = None,
) -> Observation:
    """Observe the file that the config makes of the model, as `observe` does."""
    if not config.changes_model:
        return observe(model, config, passes=passes, budget_s=budget_s, cancel=cancel, on_first=on_first)
    made = prepare(model, config, calibration=calibration, cancel=cancel)
    source = source_graph(named_structure(model), cancel)

    def early(observation: Observation) -> None:
        if on_first is not None:
            on_first(_behind(source, made, observation))

    observation = observe(
        made.model, made.config, passes=passes, budget_s=budget_s, cancel=cancel,
        on_first=None if on_first is None else early,
    )  # fmt: skip
    return _behind(source, made, observation)


def _behind(source: Graph, made: Prepared, observation: Observation) -> Observation:
    """Return the observation with the steps of preparation before the passes."""
    graphs = [informed(read_graph(named_structure(stage)), source) for stage in made.stages[:-1]]
    shots = [
        Snapshot(step.name, PREPARED, graph)
        for step, graph in zip(made.steps, (*graphs, observation.source), strict=True)
    ]
    return replace(observation, source=source, chain=(*shots, *observation.chain))
