"""Measured pipelines as a result."""

from __future__ import annotations

from typing import Any

from workbench.core.command import Command
from workbench.core.errors import ConfigError
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, Source, names, source_of
from workbench.core.measure.percentiles import Figure
from workbench.core.text import in_digits, quoted
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    Look,
    Value,
    one_value,
    run_look,
    time_value,
    value_of,
)
from workbench.features.base.result import Result, run_of
from workbench.features.pipelines.record import (
    PipelineRun,
    PipelinesRecord,
    StageFigures,
    check_pipelines,
    pipelines_gates,
)

_AXES = (
    Axis("time of a pass (ms)"),
    Axis("share of the whole (%)"),
    Axis("whole with this session twice as fast (×)", "dot"),
)
_WHOLE = Figure(1.0, name="share")


def pipelines_chart(record: PipelinesRecord) -> Chart:
    """Return a row for each pipeline and each of its stages."""
    rows = tuple(row for index, run in enumerate(record.runs) for row in _rows(index, run))
    note = "functions gain nothing from a faster session"
    return Chart(
        tuple(line.replace(": ", "; ", 1) for line in str(record).splitlines()), _AXES, rows, note, columns=3
    )


def _rows(index: int, run: PipelineRun) -> list[ChartRow]:
    look = run_look(index, run.label)
    if not run.slices:
        absent = "not measured" if run.failure is None else run.failure.problem
        return [one_value(run.label, *(Value(None, absent, look) for _ in _AXES))]
    rows = [
        one_value(f"{run.label}: whole", _time(run.whole, look), _share(_WHOLE, look), Value(None, "", look))
    ]
    for stage in run.figures:
        gain = stage.gain(2) if stage.stage.function is None else Figure(name="speed-up")
        text = "" if gain.value is None else f"{in_digits(gain.value, 3)}×"
        values = value_of(gain, text, look, stage.stage.in_words)
        rows.append(
            one_value(
                f"{run.label}: {stage.stage.name}", _time(stage.time, look), _share(stage.share, look), values
            )
        )
    return rows


def _time(figure: Figure, look: Look) -> Value:
    return time_value(figure, look, figure.note, digits=3)


def _share(figure: Figure, look: Look) -> Value:
    text = f"{in_digits(100 * (figure.value or 0.0), 3)} %"
    return value_of(figure.times(100), text, look)


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
    chart="workbench.features.pipelines.result:pipelines_chart",
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
    gates=pipelines_gates,
    command=Command(
        example="steps.py:resize digits-conv steps.py:best --npz in.npz --b level=disabled",
        call="workbench.features.pipelines.call:measure_stages",
        hints={
            "stages": "a model, or a function as FILE.py:NAME",
            "against": "the stages of B; default: those of A, if --b is given",
            "config": "a setting of the models of A",
            "b": "a setting of the models of B",
            "inputs": "what the first stage takes, an array for each name",
            "calibration": "as --npz, for static int8; default: that of --npz",
        },
        text=str,
    ),
    form=(
        Field(
            "stages",
            "stages",
            "In turn: a function as FILE.py:NAME, a model as a path or a sample's name, and the word model "
            "for the one that is open",
            names,
            OPEN_MODEL,
            example="steps.py:resize, model, steps.py:best",
            before="Run in turn",
        ),
        Field(
            "npz",
            "inputs",
            "An .npz file with what the first stage takes, where that is a function",
            str,
            example="in.npz",
            before="on the inputs of",
        ),
    ),
)
