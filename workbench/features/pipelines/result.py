"""Measured pipelines as a result."""

from __future__ import annotations

from typing import Any

from workbench.core.errors import ConfigError
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, Source, names, source_of
from workbench.core.text import quoted
from workbench.features.base.result import Result, run_of
from workbench.features.pipelines.record import PipelinesRecord, StageFigures, check_pipelines


class Pipelines(Result):
    """Pipelines of models and functions. Made by `wb.measure_pipelines`."""

    record: PipelinesRecord

    def stages(self, label: str = "A") -> tuple[StageFigures, ...]:
        """Return the time and the share of each stage of a pipeline, and what a faster one would give."""
        figures: tuple[StageFigures, ...] = run_of(self.record.runs, label).figures
        return figures

    @property
    def subject(self) -> str:
        """The stages of the first pipeline."""
        return self.record.runs[0].name


OPEN_MODEL = "model"  # what a person writes for the model that is open


def call_arguments(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return a pipeline for each config of the model among the stages, whose texts a person typed."""
    texts = options.pop("stages", [OPEN_MODEL])
    if OPEN_MODEL not in texts:
        raise ConfigError(
            f"the stages {quoted(texts)} leave out the open model",
            f"write {OPEN_MODEL} where it stands: steps.py:resize, {OPEN_MODEL}",
        )
    given = options.pop("npz", None)
    if given is not None:
        options["inputs"] = given
    elif texts[0] != OPEN_MODEL:  # the inputs of the model are not those of the first stage
        options.pop("inputs", None)
    made = _pipeline_code if isinstance(model, Source) else _pipeline
    stages = [[(model, config) if text == OPEN_MODEL else text for text in texts] for config in configs]
    return tuple(map(made, stages)), options


def _pipeline(stages: list[Any]) -> Any:
    from workbench.features.pipelines.pipeline import Pipeline  # loads slowly

    return Pipeline(stages)


def _pipeline_code(stages: list[Any]) -> Source:
    texts = [f"({', '.join(stage)})" if isinstance(stage, tuple) else source_of(stage) for stage in stages]
    return Source(f"wb.Pipeline([{', '.join(texts)}])")


FEATURE = Feature(
    "pipelines",
    PipelinesRecord,
    check_pipelines,
    result=Pipelines,
    chart="workbench.features.pipelines.chart:pipelines_chart",
    per="runs",
    call="workbench.features.pipelines.call:measure_pipelines",
    takes=("inputs", "seed", "budget_s", "progress", "keep"),
    arguments=call_arguments,
    heading="Stages of the pipeline",
    button="Measure the stages",
    hint="The model between functions and models of yours, all configs in turns: which stage takes the time, "
    "and what a faster session gives the whole. A function stands in a file of yours",
    step="pipelines in turns",
    tabs=("Explore",),
    form=(
        Field(
            "stages",
            "stages",
            "In turn: a function as FILE.py:NAME, a model as a path or a sample's name, and the word model "
            "for the one that is open",
            names,
            OPEN_MODEL,
            example="steps.py:resize, model, steps.py:best",
        ),
        Field(
            "npz",
            "inputs",
            "An .npz file with what the first stage takes, where that is a function",
            str,
            example="in.npz",
        ),
    ),
)
