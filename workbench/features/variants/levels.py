"""ORT's five graph optimization levels side by side: nodes left, and latency."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.estimate import Estimate
from workbench.core.bundle.kinds import about_comparison
from workbench.core.config import Config
from workbench.core.config.plan import LEVELS
from workbench.core.feature import Feature
from workbench.core.html_table import html_table
from workbench.core.measure.limits import ShowProgress
from workbench.core.models import Model, load
from workbench.core.prepare.replayed import replayed
from workbench.core.text import counted, in_ms
from workbench.drawing.chart import Chart, series_look
from workbench.features.base.measured import Measured
from workbench.features.base.running import Feeds, kept
from workbench.features.compare.call import compare
from workbench.features.explain.observe import Observation, observe
from workbench.features.variants.variant import (
    ComparedRecord,
    Variant,
    check_compared,
    gates_of_variants,
    side_by_side,
)

_TIE = 1.02  # within 2 %, twice the smallest effect of a comparison, as in its verdicts


@dataclass(frozen=True, slots=True)
class LevelRow(Variant):
    """One level, with the graph that it leaves. Its base is the level "disabled"."""

    nodes: int | None
    ops: tuple[tuple[str, int], ...]
    providers: tuple[str, ...]

    @property
    def op_types(self) -> int:
        """Return the number of types of operators."""
        return len(self.ops)

    @property
    def provider_names(self) -> str:
        """Return the providers as one text."""
        return ", ".join(self.providers)


@dataclass(frozen=True, slots=True)
class LevelStep:
    """One step. `times` is how many times as fast it is after the step: 2.0 is twice as fast."""

    before: str
    after: str
    nodes_removed: int | None
    times: Estimate

    @property
    def settled(self) -> bool | None:
        """Whether the interval excludes no difference; None where its ends do not say."""
        low, high = self.times.low, self.times.high
        if (low is not None and low > 1) or (high is not None and high < 1):
            return True
        return None if low is None or high is None else False

    @property
    def bound(self) -> float:
        """Return the times or, of a large effect, the end that is known; 0 where nothing is."""
        return self.times.known or 0.0

    def sentence(self) -> str:
        """Return the step in words."""
        removed = self.nodes_removed
        nodes = "not known"
        if removed is not None:
            nodes = f"{counted(abs(removed), 'node')} {'more' if removed < 0 else 'fewer'}"
        return f"{self.before} to {self.after}: {nodes}, {self.speed()}"

    def speed(self) -> str:
        """Return the change of speed in words; a difference that is not settled is called so."""
        value, low, high = self.times.ends
        if value is None:
            return f"speed {self.times.factor or 'not known'}"
        if not self.settled:
            if low is not None and high is not None and low >= 1 / _TIE and high <= _TIE:
                return "as fast, within 2 %"
            return f"speed not settled (about {value:.2f} times)"
        if value >= 1:
            return f"{self.times.factor} faster"
        return f"{self.times.falling(lambda end: 1 / end if end else None).factor} slower"


@dataclass(frozen=True, slots=True, repr=False)
class LevelSteps:
    """All steps, and whether nodes and time fall at the same one."""

    steps: tuple[LevelStep, ...]

    @property
    def most_nodes(self) -> LevelStep | None:
        """The step that removes most nodes; None where none is removed."""
        steps = [step for step in self.steps if (step.nodes_removed or 0) > 0]
        return max(steps, key=lambda step: step.nodes_removed or 0, default=None)

    @property
    def most_speed(self) -> LevelStep | None:
        """The step that gains most, of those whose gain is settled; None where there is none."""
        steps = [step for step in self.steps if step.settled and step.bound > 1]
        return max(steps, key=lambda step: step.bound, default=None)

    @property
    def gains_most_at(self) -> str | None:
        """The level whose step gains most, or "none"; None where no step has an interval."""
        if all(step.settled is None for step in self.steps):
            return None
        return "none" if self.most_speed is None else self.most_speed.after

    def __repr__(self) -> str:
        return "\n".join([*(step.sentence() for step in self.steps), self._conclusion()])

    def _conclusion(self) -> str:
        nodes, speed = self.most_nodes, self.most_speed
        if speed is None:
            return "No single step is a settled gain on this machine."
        if nodes is None:
            return f"The largest settled gain comes at {speed.after}, and no step removes nodes."
        if nodes.after == speed.after:
            return f"Most nodes go and most time is gained at the same step: {speed.after}."
        return f"Most nodes go at {nodes.after}, most time is gained at {speed.after}."

    def _repr_html_(self) -> str:
        rows = [(f"{step.before} to {step.after}", step.nodes_removed, step.speed()) for step in self.steps]
        return html_table(("step", "nodes removed", "speed"), rows, self._conclusion())


def steps_of(rows: Sequence[LevelRow]) -> LevelSteps:
    """Read the steps from the rows of all levels, the lowest first."""
    steps = []
    for before, after in pairwise(rows):
        removed = None if before.nodes is None or after.nodes is None else before.nodes - after.nodes
        steps.append(LevelStep(before.name, after.name, removed, _times(before, after)))
    return LevelSteps(tuple(steps))


def _times(before: LevelRow, after: LevelRow) -> Estimate:
    """Return the ratio of a step with the ends that both intervals allow; the baseline is exactly 1.

    It is of the paired ratios, as the intervals are: medians of a machine that slows down for a while are
    of different moments.
    """
    speedup, low, high = (1.0, 1.0, 1.0) if before.verdict is None else before.ratio.ends
    times = after.ratio.value / speedup if after.ratio.value and speedup else None
    least = after.ratio.low / high if after.ratio.low and high else None
    most = after.ratio.high / low if after.ratio.high and low else None
    return Estimate(times, least, most)


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
        ops = tuple(graphs[0].kinds.most_common()) if graphs else ()
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
    progress: ShowProgress = True,
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
