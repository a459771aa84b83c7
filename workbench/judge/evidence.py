"""What the rounds gave so far: the runs, whether outputs agree, and the pairs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workbench.judge.agreement import compare_outputs
from workbench.judge.pairs import Pair, pairs_of
from workbench.judge.question import Question
from workbench.measure.rounds import Outcome
from workbench.records.comparison import OutputAgreement
from workbench.records.machine import Versions
from workbench.records.run import Failure, LogLine, Run
from workbench.worker import log
from workbench.worker.values import read_values

MAX_LOG_LINES = 500


class Evidence:
    """Grows by one round after the other. The baseline is "A"."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._outcomes: dict[str, list[Outcome]] = {label: [] for label in question.labels}
        self._reference: Path | None = None
        self.agreement: tuple[OutputAgreement, ...] = ()

    def add(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            self._outcomes[outcome.label].append(outcome)
        self._compare_outputs(outcomes)

    def failure(self, label: str) -> Failure | None:
        return next((one.failure for one in self._outcomes[label] if one.failure), None)

    def alive(self) -> list[int]:
        """Positions of the configs that have not failed."""
        return [index for index, label in enumerate(self._question.labels) if self.failure(label) is None]

    def outputs_differ(self) -> bool:
        return any(row.agrees is False for row in self.agreement)

    def pairs(self, label: str) -> tuple[Pair, ...]:
        return pairs_of(self.run("A"), self.run(label))

    def run(self, label: str) -> Run:
        outcomes = self._outcomes[label]
        last = next((outcome for outcome in reversed(outcomes) if outcome.providers), None)
        lines = log.parse(outcomes[0].log_text) if outcomes else []
        return Run(
            label=label,
            config=self._question.configs[self._question.labels.index(label)],
            providers=last.providers if last else (),
            threads=last.threads if last else None,
            io=last.io if last else None,
            processes=tuple(outcome.record for outcome in outcomes if outcome.record is not None),
            log=tuple(LogLine(line.severity, line.message) for line in lines[:MAX_LOG_LINES]),
            failure=self.failure(label),
        )

    def runs(self) -> tuple[Run, ...]:
        return tuple(self.run(label) for label in self._question.labels)

    def versions(self) -> Versions:
        told = next(one.versions for outcomes in self._outcomes.values() for one in outcomes if one.versions)
        return Versions(
            workbench=_installed("ort-workbench"),
            python=told["python"],
            onnxruntime=told["onnxruntime"],
            onnx=_installed("onnx"),
            numpy=told["numpy"],
        )

    def _compare_outputs(self, outcomes: Sequence[Outcome]) -> None:
        """Candidates against the baseline of their own round; a difference once more against the first."""
        baseline = next((one.outputs for one in outcomes if one.label == "A" and one.outputs), None)
        if baseline is None:
            return
        earlier = self._reference
        self._reference = self._reference or baseline
        settled = {row.label for row in self.agreement if row.agrees is not False}
        for outcome in outcomes:
            if outcome.outputs is None or outcome.label == "A" or outcome.label in settled:
                continue
            rows = compare_outputs(
                outcome.label,
                read_values(baseline),
                read_values(outcome.outputs),
                tolerance=self._question.tolerance,
                repeat=None if earlier is None else read_values(earlier),
            )
            self.agreement = tuple(row for row in self.agreement if row.label != outcome.label) + rows


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
