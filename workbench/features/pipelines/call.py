"""`wb.measure_pipelines`: the share of each stage, and the verdict of two pipelines."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.bounds import check_number
from workbench.core.bundle.comparison import InputsRecord
from workbench.core.config import Config, StaticInt8
from workbench.core.errors import ConfigError, InputError
from workbench.core.measure.agreement import TOLERANCE
from workbench.core.measure.bar import bar
from workbench.core.measure.compare_request import CompareRequest, check_seed
from workbench.core.measure.limits import Limits, OnProgress, ShowProgress
from workbench.core.models import Inputs
from workbench.core.models.inputs import read_npz
from workbench.core.text import quoted
from workbench.core.worker.values import Feed, read_values
from workbench.features.base.result import origin_of
from workbench.features.base.running import Feeds, kept
from workbench.features.pipelines.pipeline import Pipeline, is_function_text
from workbench.features.pipelines.result import Pipelines
from workbench.features.pipelines.sessions import PipelineRounds, PipelineSessions, StageExamples


@dataclass(frozen=True, slots=True)
class OnePass:
    """What a pass over each set of inputs gave."""

    outputs: Sequence[Feed]
    taken: tuple[Sequence[Feed], ...]  # of each stage


class OnePassRounds(PipelineSessions[OnePass]):
    """A pipeline that is run once."""

    def run(self) -> None:
        """Connect the stages, which runs them."""
        self.connect()

    def taken_path(self) -> str | None:
        return str(self.surroundings.folder / "taken")

    def record(self) -> OnePass:
        """Return what was given and taken."""
        ((label, pipeline),) = self.pipelines.items()
        taken = (read_values(self.surroundings.folder / f"taken.{n}") for n in range(len(pipeline.stages)))
        return OnePass(read_values(self.outcomes.outputs(label)[0]), tuple(taken))


def one_pass(
    pipeline: Pipeline,
    feeds: Sequence[Feed],
    calibration: StageExamples,
    *,
    limits: Limits | None = None,
    on_progress: OnProgress = lambda _: None,
    cancel: threading.Event | None = None,
) -> OnePass:
    """Run a pipeline once on each set of inputs, in a process of its own."""
    compared = pipelines_request((pipeline,), feeds, allow_fallback=True, limits=limits or Limits())
    return OnePassRounds((pipeline,), (calibration,), compared, 1.0, on_progress).measure(cancel)


def examples_for(
    pipeline: Pipeline,
    feeds: Sequence[Feed],
    calibration: Sequence[Feed] | None,
    *,
    limits: Limits | None = None,
    on_progress: OnProgress = lambda _: None,
    cancel: threading.Event | None = None,
) -> StageExamples:
    """Return what each static int8 model of a pipeline is calibrated on: what arrives at it in float.

    The pipeline runs on `calibration`; without it on the inputs, and its first stage has the usual data.
    """
    first = 0 if calibration is not None else 1
    wanted = {
        number: stage.config.arithmetic.samples
        for number, stage in enumerate(pipeline.stages)
        if number >= first and isinstance(stage.config.arithmetic, StaticInt8)
    }
    if not wanted:
        return {}
    counts = [samples for samples in wanted.values() if samples is not None]
    most = max(counts) if len(counts) == len(wanted) else None  # a model that takes all of them
    given = (feeds if calibration is None else calibration)[:most]
    arrived = one_pass(
        pipeline.in_float(), given, {}, limits=limits, on_progress=on_progress, cancel=cancel
    ).taken
    return {number: arrived[number][:samples] for number, samples in wanted.items()}


def pipelines_request(pipelines: Sequence[Pipeline], feeds: Sequence[Feed], **options: Any) -> CompareRequest:
    """Return the request that rounds of pipelines read; `options` are further fields of it."""
    first = pipelines[0].models[0].model
    assert first is not None
    return CompareRequest(
        **{
            "model": first.path,
            "model_name": pipelines[0].name,
            "model_bytes": first.file_bytes,
            "model_record": first.record,
            "configs": (Config(),) * len(pipelines),
            "feeds": feeds,
            "inputs": InputsRecord("given", None, (), ()),
            **options,
        }
    )


BUDGET_S = 30.0
MOST_PIPELINES = 26  # labels of one letter


def measure_pipelines(
    *pipelines: Pipeline,
    inputs: Feeds = None,
    budget_s: float = BUDGET_S,
    seed: int = 0,
    allow_fallback: bool = False,
    calibration: Feeds = None,
    smallest_effect: float = 0.01,
    tolerance: float = TOLERANCE,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> Pipelines:
    """Measure pipelines of models and functions: the share of each stage, and which pipeline is faster.

    All stages of a pipeline run in one process, and the pipelines take turns in fresh ones. `inputs` are the
    values that the first stage takes, by name, several sets of them, or an .npz file; they are drawn at
    random where the first stage is a model. Each pipeline is connected and run once before anything is timed,
    so stages that do not fit are an error that names both sides. The outputs of the last stages are compared.
    Static int8 of a later stage is calibrated on what the stages before it make of `calibration`, which has
    the form of `inputs` and is `inputs` by default.
    """
    check_seed(seed)
    check_number("budget_s", budget_s, "give seconds above 0, like 30.0", most=1e6)
    are_pipelines = all(isinstance(given, Pipeline) for given in pipelines)
    if not 1 <= len(pipelines) <= MOST_PIPELINES or not are_pipelines:
        raise ConfigError(
            f"{quoted(pipelines)} are no pipelines",
            "give one or more: wb.measure_pipelines(wb.Pipeline([…]), wb.Pipeline([…]))",
        )
    first = pipelines[0].models[0]
    feeds, made_by = feeds_of(pipelines[0], inputs, seed)
    limits = worker_limits or Limits()
    with bar(progress) as on_progress:
        examples = examples_of(
            pipelines, feeds, calibration, seed, limits=limits, on_progress=on_progress, cancel=cancel
        )
        compared = pipelines_request(
            pipelines,
            feeds,
            inputs=InputsRecord(made_by, seed, (), ()),
            smallest_effect=smallest_effect,
            tolerance=tolerance,
            seed=seed,
            allow_fallback=allow_fallback,
            limits=limits,
        )
        record = PipelineRounds(pipelines, examples, compared, float(budget_s), on_progress).measure(cancel)
    assert first.model is not None
    return kept(Pipelines(record, origin_of(first.model, first.config, cancel=cancel)), keep)


def examples_of(
    pipelines: Sequence[Pipeline],
    feeds: Sequence[Feed],
    calibration: Any,
    seed: int,
    *,
    limits: Limits | None = None,
    on_progress: OnProgress = lambda _: None,
    cancel: threading.Event | None,
) -> list[StageExamples]:
    """Return for each pipeline what its stages are calibrated on."""
    given = None if calibration is None else feeds_of(pipelines[0], calibration, seed)[0]
    return [
        examples_for(pipeline, feeds, given, limits=limits, on_progress=on_progress, cancel=cancel)
        for pipeline in pipelines
    ]


def feeds_of(pipeline: Pipeline, inputs: Any, seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return what the first stage takes, and who made it."""
    first = pipeline.stages[0]
    if inputs is None and first.model is not None:
        return [dict(feed) for feed in first.model.inputs(seed=seed).feeds], f"random, seed {seed}"
    if inputs is None:
        return [{}], "the first stage"
    if isinstance(inputs, str | Path):
        inputs = read_npz(Path(inputs))
    given = inputs.feeds if isinstance(inputs, Inputs) else inputs
    sets = [given] if isinstance(given, Mapping) else list(given)
    if not sets or not all(isinstance(feeds, Mapping) for feeds in sets):
        raise InputError(
            f"inputs={quoted(inputs)} gives no values by name",
            'give what the first stage takes: {"picture": array}, or a list of these',
        )
    return [{str(name): np.asarray(value) for name, value in feeds.items()} for feeds in sets], "given"


def measure_stages(
    *stages: str,
    against: tuple[str, ...] = (),
    config: Config | None = None,
    b: Config | None = None,
    **options: Any,
) -> Pipelines:
    """Measure the pipeline of these texts, and one against it with other stages or another config."""
    pipelines = [_of_texts(stages, config)]
    if against or b is not None:
        pipelines.append(_of_texts(against or stages, b))
    return measure_pipelines(*pipelines, **options)


def _of_texts(stages: Sequence[str], config: Config | None) -> Pipeline:
    """Return the pipeline of these texts; its models have the config."""
    return Pipeline([text if is_function_text(text) else (text, config or Config()) for text in stages])
