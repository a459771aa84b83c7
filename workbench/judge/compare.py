"""Compare configs of a model: rounds of fresh processes until the answer is known or the budget is spent."""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from workbench.config import Config
from workbench.errors import ConfigError, RunFailed
from workbench.judge.agreement import TOLERANCE, compare_outputs
from workbench.judge.doubts import doubts_of
from workbench.judge.pairs import Pair, pairs_of
from workbench.judge.verdict import is_enough, judge
from workbench.measure.counters import read_counters
from workbench.measure.interference import Watch
from workbench.measure.limits import Limits, OnProgress, Progress
from workbench.measure.machine import read_machine
from workbench.measure.rounds import BLOCK_S, Outcome, Round, Setup
from workbench.records.comparison import (
    ComparisonRecord,
    InputsRecord,
    ModelRecord,
    OutputAgreement,
    Protocol,
    Verdict,
)
from workbench.records.machine import Versions
from workbench.records.run import Failure, LogLine, Run
from workbench.worker import log
from workbench.worker.launch import WorkerFolder
from workbench.worker.values import Feed, read_values, write_values

DEFAULT_BUDGET_S = 9.5  # a small model settles within 10 s
DEFAULT_ROUNDS = 6  # a large model gets time for this many rounds…
DEFAULT_MOST_S = 120.0  # …but not more than this, unless
DEFAULT_LEAST_ROUNDS = 3  # …that is too little for an interval
SAMPLING_S = 0.5  # of each round, for all configs together
MAX_LOG_LINES = 500


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be compared, with what, and how long it may take."""

    model: Path
    model_record: ModelRecord
    configs: tuple[Config, ...]
    feeds: Sequence[Feed]
    inputs: InputsRecord
    budget_s: float | None = None
    smallest_effect: float = 0.01
    pacing_s: float | None = None
    tolerance: float = TOLERANCE
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    slow_downs: tuple[float, ...] = ()  # planted by benchmarks.honesty
    began: float = field(default_factory=time.perf_counter)


def compare(
    question: Question,
    *,
    on_progress: OnProgress = lambda _: None,
    cancel: threading.Event | None = None,
) -> ComparisonRecord:
    """Measure and judge. Raises RunFailed when no config could be run at all."""
    _check(question)
    with WorkerFolder() as folder:
        state = _State(question, folder, on_progress, cancel)
        try:
            state.measure()
        finally:
            state.watch.close()
        return state.record()


class _State:
    """Everything that grows while rounds come in."""

    def __init__(
        self, question: Question, folder: Path, on_progress: OnProgress, cancel: threading.Event | None
    ) -> None:
        self.question = question
        self.folder = folder
        self.on_progress = on_progress
        self.cancel = cancel
        self.machine = read_machine()
        self.watch = Watch()
        self.counters = read_counters()
        self.rng = random.Random(question.seed)
        self.labels = tuple(_label(index) for index in range(len(question.configs)))
        self.outcomes: dict[str, list[Outcome]] = {label: [] for label in self.labels}
        self.agreement: tuple[OutputAgreement, ...] = ()
        self.verdicts: tuple[Verdict, ...] = ()
        self.rounds = 0
        self.budget_s = question.budget_s or DEFAULT_BUDGET_S
        self.setup = self._setup()

    def _setup(self) -> Setup:
        feeds = self.folder / "feeds"
        write_values(feeds, self.question.feeds)
        return Setup(
            model=self.question.model,
            labels=self.labels,
            plans=tuple(config.plan().to_dict() for config in self.question.configs),
            feeds=feeds,
            folder=self.folder,
            usable_cores=self.machine.usable_cores,
            pacing_s=self.question.pacing_s,
            sampling_s=SAMPLING_S * len(self.labels) / 2,
            limits=self.question.limits,
            slow_downs=self.question.slow_downs,
        )

    def measure(self) -> None:
        costs_s: list[float] = []
        while True:
            began = time.perf_counter()
            self._round()
            costs_s.append(time.perf_counter() - began)
            if self.question.budget_s is None:
                self.budget_s = _default_budget_s(min(costs_s))
            out_of_time = self.elapsed_s + median(costs_s) > self.budget_s
            self.verdicts = self._judge(final=out_of_time)
            self._tell("judging")
            if out_of_time or all(self._enough(verdict) for verdict in self.verdicts):
                break
        self.verdicts = self._judge(final=True)

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self.question.began

    def _round(self) -> None:
        """One round of all configs; where memory does not hold them all, baseline and candidate by twos."""
        alive = [index for index, label in enumerate(self.labels) if self._failure(label) is None]
        for members in self._groups(alive):
            self.rounds += 1
            first = self.rounds == 1
            repeat = self.rounds == 2 and any(row.agrees is False for row in self.agreement)
            outcomes = Round(
                self.setup,
                self.rounds,
                rng=self.rng,
                watch=self.watch,
                began=self.question.began,
                cancel=self.cancel,
                on_step=self._tell,
            ).run(members, with_outputs=first or repeat or len(members) < len(alive))
            for outcome in outcomes:
                self.outcomes[outcome.label].append(outcome)
            self._compare_outputs(outcomes, repeat=repeat)
            if self._failure("A") is not None or len(alive) < 2:
                break
        if all(self._failure(label) for label in self.labels):
            failure = self._failure("A")
            assert failure is not None
            raise RunFailed(failure.problem, failure.fix)

    def _groups(self, alive: list[int]) -> list[list[int]]:
        model = self.question.model_record
        needed = len(alive) * 3 * (model.graph_bytes + model.external_bytes)
        if len(alive) > 2 and needed > 0.6 * (self.machine.memory_limit_bytes or self.machine.memory_bytes):
            return [[alive[0], candidate] for candidate in alive[1:]]
        return [alive]

    def _compare_outputs(self, outcomes: Sequence[Outcome], *, repeat: bool) -> None:
        baseline = next((one.outputs for one in outcomes if one.label == "A" and one.outputs), None)
        if baseline is None:
            return
        known = {row.label for row in self.agreement}
        reference = read_values(baseline)
        for outcome in outcomes:
            if outcome.outputs is None or outcome.label == "A":
                continue
            if repeat or outcome.label not in known:
                again = self._first_outputs() if repeat else None
                rows = compare_outputs(
                    outcome.label,
                    reference,
                    read_values(outcome.outputs),
                    tolerance=self.question.tolerance,
                    repeat=again,
                )
                self.agreement = tuple(row for row in self.agreement if row.label != outcome.label) + rows

    def _first_outputs(self) -> list[dict[str, Any]] | None:
        path = self.outcomes["A"][0].outputs
        return None if path is None else read_values(path)

    def _failure(self, label: str) -> Failure | None:
        return next((one.failure for one in self.outcomes[label] if one.failure), None)

    def _judge(self, *, final: bool) -> tuple[Verdict, ...]:
        baseline = self._run(0)
        return tuple(
            judge(
                label,
                self._pairs(baseline, index),
                self.agreement,
                smallest_effect=self.question.smallest_effect,
                final=final,
                failure=_told(self._failure(label) or self._failure("A")),
            )
            for index, label in enumerate(self.labels)
            if index > 0
        )

    def _pairs(self, baseline: Run, index: int) -> tuple[Pair, ...]:
        return pairs_of(baseline, self._run(index))

    def _enough(self, verdict: Verdict) -> bool:
        failed = self._failure(verdict.label) or self._failure("A")
        index = self.labels.index(verdict.label)
        return failed is not None or is_enough(verdict, self._pairs(self._run(0), index))

    def _run(self, index: int) -> Run:
        label, config = self.labels[index], self.question.configs[index]
        outcomes = self.outcomes[label]
        made = [outcome for outcome in outcomes if outcome.providers]
        lines = log.parse(outcomes[0].log_text) if outcomes else []
        return Run(
            label=label,
            config=config,
            providers=made[-1].providers if made else (),
            threads=made[-1].threads if made else None,
            io=made[-1].io if made else None,
            processes=tuple(outcome.record for outcome in outcomes if outcome.record is not None),
            log=tuple(LogLine(line.severity, line.message) for line in lines[:MAX_LOG_LINES]),
            failure=self._failure(label),
        )

    def _tell(self, doing: str) -> None:
        elapsed_s = self.elapsed_s
        self.on_progress(
            Progress(
                doing=doing,
                round=self.rounds,
                elapsed_s=elapsed_s,
                budget_s=self.budget_s,
                fraction=min(1.0, elapsed_s / self.budget_s) if self.rounds > 1 else None,
                remaining_s=max(0.0, self.budget_s - elapsed_s) if self.rounds > 1 else None,
                verdicts=self.verdicts,
            )
        )

    def record(self) -> ComparisonRecord:
        question = self.question
        runs = tuple(self._run(index) for index in range(len(self.labels)))
        pairs = [pairs_of(runs[0], run) for run in runs[1:]]
        counted = read_counters().since(self.counters)
        return ComparisonRecord(
            id=f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}",
            created_utc=datetime.now(UTC).isoformat(timespec="seconds"),
            model=question.model_record,
            inputs=question.inputs,
            machine=self.machine,
            versions=self._versions(),
            protocol=Protocol(
                budget_s=self.budget_s,
                smallest_effect=question.smallest_effect,
                pacing_s=question.pacing_s,
                block_s=BLOCK_S,
                tolerance=question.tolerance,
                seed=question.seed,
                frozen_partner=True,
                elapsed_s=self.elapsed_s,
                sampling_s=sum(
                    block.wall_s for run in runs for process in run.processes for block in process.blocks
                ),
            ),
            runs=runs,
            agreement=self.agreement,
            verdicts=self.verdicts,
            doubts=doubts_of(runs, pairs, self.machine, counted=counted, elapsed_s=self.elapsed_s),
        )

    def _versions(self) -> Versions:
        from importlib.metadata import PackageNotFoundError, version

        told = next(one.versions for label in self.labels for one in self.outcomes[label] if one.versions)

        def installed(name: str) -> str:
            try:
                return version(name)
            except PackageNotFoundError:
                return "not installed"

        return Versions(
            workbench=installed("ort-workbench"),
            python=told["python"],
            onnxruntime=told["onnxruntime"],
            onnx=installed("onnx"),
            numpy=told["numpy"],
        )


def _check(question: Question) -> None:
    if len(question.configs) < 2:
        raise ConfigError("one config is no comparison", "give at least two: wb.compare(model, a, b)")
    if not question.feeds:
        raise ConfigError(
            "there are no inputs", "give at least one feed, or leave inputs out to have them made"
        )
    for name, value, least in (
        ("budget_s", question.budget_s, 0.0),
        ("smallest_effect", question.smallest_effect, 0.0),
        ("pacing_s", question.pacing_s, 0.0),
        ("tolerance", question.tolerance, -1e-300),
    ):
        if value is not None and not (least < value < float("inf")):
            raise ConfigError(
                f"{name}={value!r} is no usable value", f"give a number above {max(least, 0):g}"
            )


def _default_budget_s(round_s: float) -> float:
    return max(
        DEFAULT_BUDGET_S, min(DEFAULT_ROUNDS * round_s, DEFAULT_MOST_S), DEFAULT_LEAST_ROUNDS * round_s
    )


def _label(index: int) -> str:
    """A, B, … Z, A1, B1, …"""
    letter, lap = chr(ord("A") + index % 26), index // 26
    return f"{letter}{lap or ''}"


def _told(failure: Failure | None) -> str | None:
    return None if failure is None else f"{failure.stage}: {failure.problem.splitlines()[0]}"
