"""Pipelines in worker processes: their models prepared, their sessions made, their stages connected."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from workbench.core.bundle.run import labels_of
from workbench.core.errors import RunFailed
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.limits import OnProgress
from workbench.core.measure.participant import Participant
from workbench.core.measure.providers import asked_for, not_run, took_nodes
from workbench.core.measure.task_rounds import Record, TaskRounds
from workbench.core.measure.tolerance import least_sqnr_db, required_sqnr_db
from workbench.core.prepare.runnable import make_runnable
from workbench.core.worker.values import Feed, write_values
from workbench.features.pipelines.pipeline import Pipeline, Stage

StageExamples: TypeAlias = Mapping[int, Sequence[Feed]]
"""What static int8 measures its ranges on, by the number of the stage."""


class PipelineSessions(TaskRounds[Record]):
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
        write_values(folder / "feeds", self.compared.feeds)
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
            allow_fallback=self.compared.allow_fallback,
        )

    def connect(self) -> None:
        """Connect the stages of each pipeline and run them once; a mismatch is an error."""
        self.round(0, self.alive(), [])
        for label, gathered in self.gathered.items():
            if gathered.failure is not None:
                name = f"{label} ({self.pipelines[label].name})"
                raise RunFailed(f"{name}: {gathered.failure.problem}", gathered.failure.fix)

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
        gathered = self.gathered[candidate.label]
        gathered.outputs = gathered.outputs or path
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
                available=participant.available,
                log_text=participant.worker.log_text(),
                machine=self.surroundings.machine,
                python=stage.config.interpreter,
            )
