"""Pipelines in worker processes: their models prepared, their sessions made, their stages connected."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from workbench.core.bundle.run import labels_of
from workbench.core.measure.blocks import seconds_of
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.limits import OnProgress
from workbench.core.measure.outcomes import TaskAnswer, WorkerTask
from workbench.core.measure.pairs import Pair
from workbench.core.measure.providers import asked_for, not_run, took_nodes
from workbench.core.measure.rounds import Participant
from workbench.core.measure.task_experiment import Record, TaskExperiment
from workbench.core.measure.tolerance import least_sqnr_db, required_sqnr_db
from workbench.core.prepare.runnable import make_runnable
from workbench.core.worker.values import Feed, write_values
from workbench.features.pipelines.pipeline import Pipeline, Stage
from workbench.features.pipelines.record import PipelineRun, PipelineSlice, PipelinesRecord, StageRecord

StageExamples: TypeAlias = Mapping[int, Sequence[Feed]]
"""What static int8 measures its ranges on, by the number of the stage."""


class PipelineSessions(TaskExperiment[Record]):
    """Pipelines, each in a process of its own. Subclasses say what is done with them."""

    def __init__(
        self,
        pipelines: Sequence[Pipeline],
        calibrations: Sequence[StageExamples],
        compared: CompareRequest,
        budget_s: float,
        on_progress: OnProgress,
    ) -> None:
        super().__init__(compared, budget_s, on_progress)
        labels = labels_of(len(pipelines))
        self.pipelines = dict(zip(labels, pipelines, strict=True))
        self.known: dict[str, list[dict[str, Any]]] = {}  # of each stage, as its process says
        self._calibrations = dict(zip(labels, calibrations, strict=True))
        self._sent: dict[str, list[dict[str, Any]]] = {}

    def prepared(
        self, folder: Path, on_step: Callable[[str], None], cancel: threading.Event | None
    ) -> tuple[Candidate, ...]:
        """Prepare the models of each pipeline; the worker of a pipeline loads its first one as usual."""
        write_values(folder / "feeds", self.request.feeds)
        return tuple(
            self._candidate(label, pipeline, folder, on_step, cancel)
            for label, pipeline in self.pipelines.items()
        )

    def _candidate(
        self,
        label: str,
        pipeline: Pipeline,
        folder: Path,
        on_step: Callable[[str], None],
        cancel: threading.Event | None,
    ) -> Candidate:
        sent, least_db = [], list[float | None]()
        for number, stage in enumerate(pipeline.stages):
            body: dict[str, Any] = {"name": stage.name}
            if stage.function is not None:
                sent.append(body | stage.function.sent(folder, f"stage_{label}{number}"))
                continue
            assert stage.model is not None
            on_step(f"{label}: {stage.name}")
            examples = self._calibrations[label].get(number)
            runnable = make_runnable(stage.model, stage.config, (), calibration=examples, cancel=cancel)
            plan = runnable.config.plan().to_dict()
            sent.append(body | {"model": str(runnable.model.path), "plan": plan})
            least_db.append(least_sqnr_db(stage.config, runnable.model))
        self._sent[label] = sent
        first, least = next(body for body in sent if "model" in body), None
        for needed in least_db:
            least = required_sqnr_db(least, needed)
        config = pipeline.models[0].config
        return Candidate(
            label=label,
            config=config,
            model=Path(first["model"]),
            plan=first["plan"],
            feeds=folder / "feeds",
            interpreter=config.interpreter,
            least_sqnr_db=least,
            allow_fallback=self.request.allow_fallback,
        )

    def connect(self) -> None:
        """Connect the stages of each pipeline and run them once; a mismatch is an error."""
        self.round(self.outcomes.alive(), [])
        for label, pipeline in self.pipelines.items():
            if (error := self.failed(label, f"{label} ({pipeline.name})")) is not None:
                raise error

    def taken_path(self) -> str | None:
        """Return where the worker writes what each stage takes; None: nowhere."""
        return None

    def open(self, participant: Participant) -> None:
        """Make the stages around the session, run them once, and keep the outputs of the first process."""
        candidate = participant.candidate
        path = self.surroundings.folder / f"{participant.worker.name}.outputs"
        body = {
            "stages": self._sent[candidate.label],
            "feeds": str(candidate.feeds),
            "path": str(path),
            "taken": self.taken_path(),
        }
        known = participant.ask("pipeline", "load", **body).body["stages"]
        self.known[candidate.label] = known
        if not self.outcomes.outputs(candidate.label):
            participant.outcome.outputs = path
        for stage, row in zip(self.pipelines[candidate.label].stages, known, strict=True):
            if stage.model is not None and not candidate.allow_fallback:
                self._check_provider(participant, stage, row)

    def _check_provider(self, participant: Participant, stage: Stage, row: dict[str, Any]) -> None:
        """Raise RunFailed where no node of a stage is on a provider that its config asks for."""
        asked = asked_for(stage.config)
        if asked and not took_nodes(asked, row["providers"], row["nodes_on"]):
            raise not_run(
                asked,
                tuple(row["providers"]),
                row["nodes_on"],
                available=participant.outcome.available,
                log_text=participant.worker.log_text(),
                machine=self.surroundings.machine,
                python=stage.config.interpreter,
            )


_SLICES = 2  # of each pipeline in a round
_SLICE_S = 0.25


class PipelineRounds(PipelineSessions[PipelinesRecord]):
    """A measurement of pipelines in turns."""

    def run(self) -> None:
        """Connect the stages of each pipeline, so that a mismatch is an error, then time them in turns."""
        self.connect()
        self.run_until_known(
            lambda alive: [
                WorkerTask(candidate.label, "passes", "passes", {"seconds": _SLICE_S})
                for candidate in alive
                for _ in range(_SLICES)
            ],
            self._pairs,
        )

    def record(self) -> PipelinesRecord:
        """Return the record with its verdicts."""
        agreement, runs = self.agreement(), tuple(map(self._run, self.candidates))
        verdicts = tuple(
            self.verdict(
                run.label,
                pipeline_pairs(runs[0], run),
                agreement,
                next((side.failure.of(side.label) for side in (run, runs[0]) if side.failure), None),
            )
            for run in runs[1:]
        )
        return PipelinesRecord(self.request.seed, runs, agreement, verdicts)

    def _run(self, candidate: Candidate) -> PipelineRun:
        label = candidate.label
        stages = self.pipelines[label].stages
        known = self.known.get(label, [{}] * len(stages))
        return PipelineRun(
            label=label,
            stages=tuple(_stage_record(*pair) for pair in zip(stages, known, strict=True)),
            slices=tuple(map(_slice, self.outcomes.answers(label))),
            rss_bytes=self.rss_bytes(label),
            failure=self.outcomes.failure(label),
        )

    def _pairs(self) -> list[tuple[Pair, ...]]:
        """Return what the verdicts are read from, of each pipeline that runs."""
        baseline, *rest = map(self._run, self.candidates)
        return [pipeline_pairs(baseline, run) for run in rest if run.failure is None]


def _slice(answer: TaskAnswer) -> PipelineSlice:
    """Return the times of a slice."""
    body, seconds = answer.body, seconds_of(answer.payload)
    passes, stages = body["passes"], body["stages"]
    stamped = seconds[passes:]
    return PipelineSlice(
        round=answer.round,
        order=answer.order,
        whole_s=tuple(seconds[:passes]),
        stage_s=tuple(tuple(stamped[stage::stages]) for stage in range(stages)),
        cpu_s=body["cpu_ns"] / 1e9,
        others_cpu_s=answer.others_cpu_s,
        disturbed=answer.disturbed,
    )


def pipeline_pairs(baseline: PipelineRun, candidate: PipelineRun) -> tuple[Pair, ...]:
    """Return one pair a round: log(A's time of a pass / B's)."""
    pairs = []
    for number in sorted({*baseline.rounds} & {*candidate.rounds}):
        ratio = math.log(baseline.whole_in(number) / candidate.whole_in(number))
        both = (*baseline.of_round(number), *candidate.of_round(number))
        clean = not any(part.disturbed for part in both)
        pairs.append(Pair(number, ratio if clean else None, ratio, 1, int(clean)))
    return tuple(pairs)


def _stage_record(stage: Stage, known: dict[str, Any]) -> StageRecord:
    if stage.function is not None:
        function = stage.function
        return StageRecord(stage.name, function.qualified_name, function.source_sha256, None, None)
    assert stage.model is not None
    sha256 = stage.model.record().sha256
    return StageRecord(stage.name, None, None, sha256, stage.config, tuple(known.get("providers", ())))
