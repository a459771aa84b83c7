"""ORT's five graph optimization levels side by side: nodes left, and latency."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.kinds import about_comparison
from workbench.core.config import Config
from workbench.core.config.plan import LEVELS
from workbench.core.feature import Feature
from workbench.core.measure.limits import Progress
from workbench.core.models import Model, load
from workbench.core.prepare.replayed import replayed
from workbench.core.text import in_ms
from workbench.drawing.chart import Chart, series_look
from workbench.features.base.measured import Measured
from workbench.features.base.running import Feeds, kept
from workbench.features.compare.call import compare
from workbench.features.explain.observe import Observation, observe
from workbench.features.variants.level_steps import LevelRow, LevelSteps, steps_of
from workbench.features.variants.variant import (
    ComparedRecord,
    check_compared,
    gates_of_variants,
    side_by_side,
)


@dataclass(frozen=True, slots=True)
class LevelsRecord(ComparedRecord):
    """All levels of one model on this machine."""

    columns = (
        "level=name nodes op_types providers=provider_names load_s median_s=latency_s speedup=ratio.value"
        " low=ratio.low high=ratio.high verdict outputs_agree reason"
    )

    rows: tuple[LevelRow, ...]

    def __str__(self) -> str:
        return "; ".join(
            f"{row.name}: {'? ' if row.nodes is None else f'{row.nodes:,} '}nodes, "
            + (in_ms(row.latency_s) or "not measured")
            for row in self.rows
        )


def level_configs(config: Config) -> tuple[Config, ...]:
    """Return the config at each level, "disabled" first."""
    return tuple(config.replace(level=name) for name in LEVELS)


def levels_of(model_name: str, observation: Observation, record: ComparisonRecord) -> LevelsRecord:
    """Read the comparison of `level_configs`; the observation of the highest level has the graph of each."""
    rows = []
    for number, (name, run) in enumerate(zip(LEVELS, record.runs, strict=True)):  # ORT counts levels so
        graphs = [shot.graph for shot in observation.chain if shot.level <= number][-1:]
        nodes = len(graphs[0].nodes) if graphs else None
        ops = tuple(Counter(node.kind for graph in graphs for node in graph.nodes).most_common())
        rows.append(LevelRow.of(name, run, record, nodes=nodes, ops=ops, providers=run.providers))
    return LevelsRecord(model_name, tuple(rows), record)


def levels_chart(record: LevelsRecord) -> Chart:
    """Return a row for each level."""
    look = series_look(0)
    note = f"speed-ups have {record.comparison.verdict.confidence_text} intervals; {_outputs(record)}"
    rows = ((row.name, row, row.nodes, look) for row in record.rows)
    return side_by_side(f"{record.model_name}: ORT's levels side by side", "level disabled", rows, note)


def _outputs(record: LevelsRecord) -> str:
    compared = [row for row in record.rows if row.verdict is not None]
    states = {False: "outputs differ at", None: "outputs were not compared at"}
    sentences = []
    for state, start in states.items():
        if names := [row.name for row in compared if row.outputs_agree is state]:
            sentences.append(f"{start} {', '.join(names)}")
    return "; ".join(sentences) or "outputs agree at every level"


class Levels(Measured):
    """ORT's five levels side by side. Made by `wb.levels`."""

    record: LevelsRecord
    title = "ONNX Runtime's levels side by side"

    def steps(self) -> LevelSteps:
        """Return what each step from one level to the next changes: nodes and speed."""
        return steps_of(self.record.rows)


def levels(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Feeds = None,
    budget_s: float | None = None,
    calibration: Any = None,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    keep: bool = True,
) -> Levels:
    """Measure the model at each of ORT's levels: graph, load time, and latency in one comparison."""
    loaded, chosen, calibration = load(model), config or Config(), replayed(calibration)
    observation = observe(
        loaded, chosen.replace(level="all"), passes=True, calibration=calibration, cancel=cancel
    )
    comparison = compare(
        loaded, *level_configs(chosen), inputs=inputs, budget_s=budget_s, calibration=calibration,
        progress=progress, cancel=cancel, keep=False,
    )  # fmt: skip
    return kept(Levels(levels_of(loaded.name, observation, comparison.record)), keep)


FEATURE = Feature(
    "levels",
    LevelsRecord,
    check_compared,
    lambda record: about_comparison(record.comparison),
    result=Levels,
    chart=levels_chart,
    call="workbench.features.variants.levels:levels",
    takes=("inputs", "budget_s", "calibration", "progress", "keep"),
    gates=gates_of_variants,
    says_stopped=True,
    heading="ONNX Runtime's levels side by side",
    button="Level by level",
    hint="ORT's five levels side by side, the rest as in the config that is shown",
    step="the graph at each level",
    question="Worth of each level?",
    effort=(15.0, 20, 400),
    tabs=("What ORT did",),
)
