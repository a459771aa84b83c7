"""Compare configs of a model: rounds of fresh processes until the answer is known or the budget is spent."""

from __future__ import annotations

import random
import secrets
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from workbench.errors import RunFailed
from workbench.judge.candidate import Ready, make_ready
from workbench.judge.compare_request import DEFAULT_BUDGET_S, Question, check, default_budget_s
from workbench.judge.doubts import doubts_of
from workbench.judge.evidence import Evidence
from workbench.judge.verdict import is_enough, judge
from workbench.measure.counters import read_counters
from workbench.measure.interference import Watch
from workbench.measure.limits import OnProgress, Progress
from workbench.measure.machine import read_machine
from workbench.measure.rounds import BLOCK_S, Round, Setup
from workbench.records.comparison import ComparisonRecord, Protocol, Verdict
from workbench.records.run import Failure
from workbench.text import shorten
from workbench.worker.launch import WorkerFolder

SAMPLING_S = 0.25  # of each round, for each config
MEMORY_SHARE = 0.6  # of the machine's memory that the workers of a round may take
MEMORY_PER_MODEL_BYTE = 3  # weights, their prepacked copies, activations


def compare(
    question: Question,
    *,
    on_progress: OnProgress = lambda _: None,
    cancel: threading.Event | None = None,
) -> ComparisonRecord:
    """Measure and judge. Raises RunFailed when no config could be run at all."""
    check(question)
    with WorkerFolder() as folder:
        began = time.perf_counter()
        ready = make_ready(question, folder, on_progress=on_progress, cancel=cancel)
        # the budget is for measuring
        question = replace(question, began=question.began + time.perf_counter() - began)
        comparing = _Comparing(question, ready, folder, on_progress, cancel)
        try:
            comparing.measure()
        finally:
            comparing.watch.close()
        return comparing.record()


class _Comparing:
    """One comparison on its way."""

    def __init__(
        self,
        question: Question,
        ready: tuple[Ready, ...],
        folder: Path,
        on_progress: OnProgress,
        cancel: threading.Event | None,
    ) -> None:
        self.question = question
        self.on_progress = on_progress
        self.cancel = cancel
        self.machine = read_machine()
        self.watch = Watch()
        self.counters = read_counters()
        self.rng = random.Random(question.seed)
        self.evidence = Evidence(question, ready)
        self.verdicts: tuple[Verdict, ...] = ()
        self.rounds = 0
        self.passes = 0  # over all configs; several rounds each where memory is short
        self.enough: set[str] = set()
        self.budget_s = question.budget_s or DEFAULT_BUDGET_S
        self.setup = Setup(
            labels=question.labels,
            models=tuple(one.model for one in ready),
            plans=tuple(one.config.plan().to_dict() for one in ready),
            interpreters=tuple(config.interpreter for config in question.configs),
            feeds=tuple(one.feeds for one in ready),
            folder=folder,
            usable_cores=self.machine.usable_cores,
            pacing_s=question.pacing_s,
            sampling_s=SAMPLING_S * len(question.configs),
            limits=question.limits,
            slow_downs=question.slow_downs,
        )

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self.question.began

    def measure(self) -> None:
        """Round after round; a look at the verdicts after each."""
        costs_s: list[float] = []
        while True:
            began = time.perf_counter()
            self._round()
            costs_s.append(time.perf_counter() - began)
            if self.question.budget_s is None:
                self.budget_s = default_budget_s(self.evidence.run("A").latency.median_s, min(costs_s))
            out_of_time = self.elapsed_s + median(costs_s) > self.budget_s and not self._must_repeat()
            self.verdicts = self._judge(final=out_of_time)
            self._tell("judging")
            self.enough |= {verdict.label for verdict in self.verdicts if self._is_enough(verdict)}
            if out_of_time or len(self.enough) == len(self.verdicts):
                self.verdicts = self._judge(final=True)
                return

    def _round(self) -> None:
        with_outputs = self.passes == 0 or self._must_repeat()
        self.passes += 1
        for members in self._groups(self.evidence.alive()):
            self.rounds += 1
            outcomes = Round(
                self.setup,
                self.rounds,
                rng=self.rng,
                watch=self.watch,
                began=self.question.began,
                cancel=self.cancel,
                on_step=self._tell,
            ).run(members, with_outputs=with_outputs)
            self.evidence.add(outcomes)
            if 0 not in self.evidence.alive():
                break
        if not self.evidence.measured():
            self._give_up()

    def _groups(self, alive: list[int]) -> list[list[int]]:
        """All configs together; where memory does not hold them, each candidate alone with the baseline."""
        needed = len(alive) * MEMORY_PER_MODEL_BYTE * self.question.model_bytes
        limit = self.machine.memory_limit_bytes or self.machine.memory_bytes
        if len(alive) > 2 and needed > MEMORY_SHARE * limit:
            return [[alive[0], candidate] for candidate in alive[1:]]
        return [alive]

    def _must_repeat(self) -> bool:
        """Outputs that differ are asked for once more: a random operator is no fault of the candidate."""
        return self.passes == 1 and self.evidence.outputs_differ()

    def _give_up(self) -> None:
        """Nothing was ever measured and the baseline cannot be: there is no comparison to return."""
        failure = self.evidence.failure("A")
        if failure is not None and not self.evidence.alive():
            name = shorten(self.question.model_name)
            raise RunFailed(f"{name}: {failure.problem}", failure.fix)

    def _judge(self, *, final: bool) -> tuple[Verdict, ...]:
        return tuple(
            judge(
                label,
                self.evidence.pairs(label),
                self.evidence.agreement,
                smallest_effect=self.question.smallest_effect,
                final=final,
                failure=_in_words(self.evidence.failure(label)) or self._baseline_failure(),
            )
            for label in self.question.labels[1:]
        )

    def _baseline_failure(self) -> str | None:
        told = _in_words(self.evidence.failure("A"))
        return None if told is None else f"A failed ({told})"

    def _is_enough(self, verdict: Verdict) -> bool:
        failed = self.evidence.failure(verdict.label) or self.evidence.failure("A")
        return failed is not None or is_enough(verdict, self.evidence.pairs(verdict.label))

    def _tell(self, doing: str) -> None:
        elapsed_s = self.elapsed_s
        known = self.rounds > 1  # the first round tells what one costs
        self.on_progress(
            Progress(
                doing=doing,
                round=self.rounds,
                elapsed_s=elapsed_s,
                budget_s=self.budget_s,
                fraction=min(1.0, elapsed_s / self.budget_s) if known else None,
                remaining_s=max(0.0, self.budget_s - elapsed_s) if known else None,
                verdicts=self.verdicts,
            )
        )

    def record(self) -> ComparisonRecord:
        question, now = self.question, datetime.now(UTC)
        runs = self.evidence.runs()
        return ComparisonRecord(
            id=f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}",
            created_utc=now.isoformat(timespec="seconds"),
            model=question.model_record(),
            inputs=question.inputs,
            machine=self.machine,
            versions=self.evidence.versions(),
            protocol=Protocol(
                budget_s=self.budget_s,
                smallest_effect=question.smallest_effect,
                pacing_s=question.pacing_s,
                block_s=BLOCK_S,
                tolerance=question.tolerance,
                seed=question.seed,
                frozen_partner=self.evidence.partners_stood_still(),
                elapsed_s=self.elapsed_s,
                sampling_s=sum(
                    block.wall_s for run in runs for process in run.processes for block in process.blocks
                ),
            ),
            runs=runs,
            agreement=self.evidence.agreement,
            verdicts=self.verdicts,
            doubts=doubts_of(
                runs,
                [self.evidence.pairs(label) for label in question.labels[1:]],
                self.machine,
                counted=read_counters().since(self.counters),
                elapsed_s=self.elapsed_s,
                software=self.evidence.software(),
            ),
        )


def _in_words(failure: Failure | None) -> str | None:
    return None if failure is None else f"{failure.stage}: {failure.problem.splitlines()[0]}"
