"""Pipelines measured in turns, each in fresh processes."""

from __future__ import annotations

import math
from typing import Any

from workbench.core.measure.candidate import Candidate
from workbench.core.measure.interleaved import TaskAnswer, WorkerTask
from workbench.core.measure.pairs import Pair
from workbench.core.measure.rounds import seconds_of
from workbench.features.pipelines.pipeline import Stage
from workbench.features.pipelines.record import PipelineRun, PipelineSlice, PipelinesRecord, StageRecord
from workbench.features.pipelines.sessions import PipelineSessions

_SLICES = 2  # of each pipeline in a round
_SLICE_S = 0.25


class PipelineRounds(PipelineSessions[PipelinesRecord]):
    """A measurement of pipelines in turns."""

    def run(self) -> None:
        """Connect the stages of each pipeline, so that a mismatch is an error, then time them in turns."""
        self.connect()
        self.until_known(
            lambda alive: [
                WorkerTask(candidate.label, "passes", "passes", {"seconds": _SLICE_S})
                for candidate in alive
                for _ in range(_SLICES)
            ],
            self._pairs,
        )

    def take(self, answer: TaskAnswer) -> None:
        """Keep the times of a slice."""
        body, seconds = answer.body, seconds_of(answer.payload)
        passes, stages = body["passes"], body["stages"]
        stamped = seconds[passes:]
        self.gathered[answer.task.label].parts.append(
            PipelineSlice(
                round=answer.round,
                order=answer.order,
                whole_s=tuple(seconds[:passes]),
                stage_s=tuple(tuple(stamped[stage::stages]) for stage in range(stages)),
                cpu_s=body["cpu_ns"] / 1e9,
                others_cpu_s=answer.others_cpu_s,
                disturbed=answer.disturbed,
            )
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
        return PipelinesRecord(self.compared.seed, runs, agreement, verdicts)

    def _run(self, candidate: Candidate) -> PipelineRun:
        gathered, stages = self.gathered[candidate.label], self.pipelines[candidate.label].stages
        known = self.known.get(candidate.label, [{}] * len(stages))
        return PipelineRun(
            label=candidate.label,
            stages=tuple(_stage_record(*pair) for pair in zip(stages, known, strict=True)),
            slices=tuple(gathered.parts),
            rss_bytes=tuple(gathered.rss_bytes),
            failure=gathered.failure,
        )

    def _pairs(self) -> list[tuple[Pair, ...]]:
        """Return what the verdicts are read from, of each pipeline that runs."""
        baseline, *rest = map(self._run, self.candidates)
        return [pipeline_pairs(baseline, run) for run in rest if run.failure is None]


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
