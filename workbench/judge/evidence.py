"""What the rounds gave so far: the runs, whether outputs agree, and the pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workbench.judge.agreement import compare_outputs
from workbench.judge.candidate import Ready
from workbench.judge.compare_request import Question
from workbench.judge.pairs import Pair, pairs_of
from workbench.measure.rounds import Outcome
from workbench.records.comparison import OutputAgreement
from workbench.records.machine import Versions
from workbench.records.run import Failure, LogLine, Run
from workbench.worker import log
from workbench.worker.values import read_values

MAX_LOG_LINES = 500
OWN_CHANGES = "A's own output changes from process to process (random operators?)"


class Evidence:
    """Grows by one round after the other. The baseline is "A"."""

    def __init__(self, question: Question, ready: Sequence[Ready] = ()) -> None:
        self._question = question
        self._ready = dict(zip(question.labels, ready, strict=True)) if ready else {}
        self._outcomes: dict[str, list[Outcome]] = {label: [] for label in question.labels}
        self._reference: Path | None = None
        self.agreement: tuple[OutputAgreement, ...] = ()

    def add(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            self._outcomes[outcome.label].append(outcome)
        self._compare_outputs(outcomes)

    def failure(self, label: str) -> Failure | None:
        ready = self._ready.get(label)
        if ready is not None and ready.failure is not None:
            return ready.failure
        return next((one.failure for one in self._outcomes[label] if one.failure), None)

    def alive(self) -> list[int]:
        """Positions of the configs that have not failed."""
        return [index for index, label in enumerate(self._question.labels) if self.failure(label) is None]

    def measured(self) -> bool:
        """Whether any process of any config got as far as its blocks."""
        return any(one.record for outcomes in self._outcomes.values() for one in outcomes)

    def partners_stood_still(self) -> bool:
        return all(one.stood_still for outcomes in self._outcomes.values() for one in outcomes)

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
            preparation=self._ready[label].preparation if label in self._ready else None,
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

    def software(self) -> dict[str, dict[str, str]]:
        """What each config's workers said they are, by label; configs may name runtimes of their own."""
        return {
            label: next((one.versions for one in outcomes if one.versions), {})
            for label, outcomes in self._outcomes.items()
        }

    def _compare_outputs(self, outcomes: Sequence[Outcome]) -> None:
        """Candidates against the baseline of their own round; a difference once more against the first."""
        baseline = next((one.outputs for one in outcomes if one.label == "A" and one.outputs), None)
        if baseline is None:
            return
        earlier = None if self._reference is None else read_values(self._reference)
        self._reference = self._reference or baseline
        ours = read_values(baseline)
        for outcome in outcomes:
            if outcome.outputs is None or outcome.label == "A" or self._is_settled(outcome.label):
                continue
            rows = compare_outputs(
                outcome.label,
                ours,
                read_values(outcome.outputs),
                tolerance=self._question.tolerance,
                least_sqnr_db=self._question.least_sqnr_db_of(outcome.label),
                repeat=earlier,
            )
            if earlier is not None:
                control = compare_outputs("A", earlier, ours, tolerance=self._question.tolerance)
                rows = self._with_memory(rows, {row.output: row.agrees is not False for row in control})
            self.agreement = tuple(row for row in self.agreement if row.label != outcome.label) + rows

    def _is_settled(self, label: str) -> bool:
        known = [row for row in self.agreement if row.label == label]
        return bool(known) and not any(row.agrees is False for row in known)

    def _with_memory(
        self, rows: tuple[OutputAgreement, ...], repeats_itself: dict[str, bool]
    ) -> tuple[OutputAgreement, ...]:
        """An output that was wrong once stays wrong, unless the baseline's own output changes too."""
        before = {(row.label, row.output): row for row in self.agreement}
        kept = []
        for row in rows:
            old = before.get((row.label, row.output))
            if old is not None and old.agrees is False and row.agrees is True:
                if repeats_itself[row.output]:
                    row = replace(old, reason=f"{old.reason} (in one of two processes)")
                else:
                    row = replace(row, agrees=None, reason=OWN_CHANGES)
            kept.append(row)
        return tuple(kept)


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
