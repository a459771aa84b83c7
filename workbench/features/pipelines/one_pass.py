"""One pass of a pipeline: what its last stage gives, and what each stage takes."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.core.bundle.comparison import InputsRecord
from workbench.core.config import Config, StaticInt8
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.interleaved import TaskAnswer
from workbench.core.measure.limits import Limits, OnProgress
from workbench.core.worker.values import Feed, read_values
from workbench.features.pipelines.pipeline import Pipeline
from workbench.features.pipelines.sessions import PipelineSessions, StageExamples


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
        (gathered,), (pipeline,) = self.gathered.values(), self.pipelines.values()
        assert gathered.outputs is not None
        taken = (read_values(self.surroundings.folder / f"taken.{n}") for n in range(len(pipeline.stages)))
        return OnePass(read_values(gathered.outputs), tuple(taken))

    def take(self, answer: TaskAnswer) -> None:
        """Keep nothing: a pass has no tasks."""

    def fraction(self, number: int, elapsed_s: float) -> float | None:
        """Return that nothing is known: a pass has one round."""
        del number, elapsed_s
        return None


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
