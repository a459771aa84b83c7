"""Decoding: rounds over configs, then the verdicts on the first token and on the tokens after it."""

from __future__ import annotations

import random
import threading
import time
from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from workbench.errors import RunFailed
from workbench.judge.agreement import compare_outputs
from workbench.judge.candidates import make_candidates
from workbench.judge.compare_request import CompareRequest
from workbench.judge.decoding_points import decode_pairs
from workbench.judge.pairs import Pair, population_of
from workbench.judge.tolerance import required_sqnr_db
from workbench.judge.verdict import Criteria, is_enough, judge
from workbench.measurement.candidate import Candidate
from workbench.measurement.interference import Watch
from workbench.measurement.interleaved import (
    Ask,
    InterleavedRound,
    InterleavedSetup,
    Process,
    Task,
    TaskAnswer,
)
from workbench.measurement.limits import OnProgress, Progress
from workbench.measurement.machine import read_machine
from workbench.measurement.rounds import StartWorker
from workbench.models.decoding import DecodingNames, cache_feeds
from workbench.records.comparison import OutputAgreement
from workbench.records.decoding import DecodePass, DecodeRun, DecodeVerdict, DecodingRecord, What
from workbench.records.run import Failure
from workbench.worker.launch import Worker, WorkerFolder
from workbench.worker.values import read_values

LEAST_ROUNDS = 3  # an interval needs them, whatever the budget
MOST_ROUNDS = 12
ROUNDS_ALONE = 5  # of one config, which needs no verdict
PASSES = 2  # of each config in a round; one where a pass is long
LONG_PASS_S = 1.0
WARM_UP_TOKENS = 3
WHATS: tuple[What, ...] = ("first token", "next tokens")


@dataclass(frozen=True, slots=True)
class DecodeRequest:
    """One decoding as the user requested it."""

    compared: CompareRequest
    names: DecodingNames
    prompt: tuple[int, ...]
    tokens: int
    budget_s: float


def measure_decoding(
    request: DecodeRequest,
    *,
    on_progress: OnProgress = lambda _: None,
    cancel: threading.Event | None = None,
    start_worker: StartWorker = Worker,
) -> DecodingRecord:
    """Decode with all configs in turns. Raise RunFailed if the first config could not decode."""
    with WorkerFolder() as folder:

        def report_step(step: str) -> None:
            on_progress(Progress(step, 0, 0.0, request.budget_s, None, None))

        candidates = make_candidates(request.compared, folder, on_step=report_step, cancel=cancel)
        machine, watch = read_machine(), Watch()
        setup = InterleavedSetup(
            folder, machine.usable_cores, request.compared.limits, watch, cancel, start_worker
        )
        measuring = _Decoding(request, candidates, setup, on_progress)
        try:
            measuring.run()
        finally:
            watch.close()
        return measuring.record()


@dataclass(slots=True)
class _Gathered:
    """What is known of one candidate so far."""

    providers: tuple[str, ...] = ()
    threads: int | None = None
    io: str | None = None
    picked: tuple[int, ...] = ()
    cache_bytes: int | None = None
    rss_bytes: list[int] = field(default_factory=list)
    passes: list[DecodePass] = field(default_factory=list)
    failure: Failure | None = None
    logits: Path | None = None


class _Decoding:
    """A decoding in progress."""

    def __init__(
        self,
        request: DecodeRequest,
        candidates: tuple[Candidate, ...],
        setup: InterleavedSetup,
        on_progress: OnProgress,
    ) -> None:
        self._request = request
        self._candidates = candidates
        self._setup = setup
        self._on_progress = on_progress
        self._began = time.perf_counter()
        self._rng = random.Random(request.compared.seed)
        self._gathered = {candidate.label: _Gathered(failure=candidate.failure) for candidate in candidates}
        self._tokens: tuple[int, ...] = ()

    def run(self) -> None:
        """Let the baseline choose the tokens, then time all configs on them until the answer is known."""
        baseline = self._candidates[0]
        self._round(0, [baseline], [self._task(baseline, None)])
        failure = self._gathered[baseline.label].failure
        if failure is not None:
            raise RunFailed(f"{self._request.compared.model_name}: {failure.problem}", failure.fix)
        self._tokens = self._gathered[baseline.label].picked
        pass_s = sum(self._gathered[baseline.label].passes[-1].step_s)
        passes = PASSES if pass_s < LONG_PASS_S else 1
        self._gathered[baseline.label].passes.clear()
        for number in range(1, MOST_ROUNDS + 1):
            began = time.perf_counter()
            alive = [row for row in self._candidates if self._gathered[row.label].failure is None]
            tasks = [self._task(candidate, self._tokens) for candidate in alive for _ in range(passes)]
            self._round(number, alive, tasks)
            now = time.perf_counter()
            out_of_time = now - self._began + (now - began) > self._request.budget_s
            if number >= LEAST_ROUNDS and (out_of_time or self._is_enough(number)):
                return

    def record(self) -> DecodingRecord:
        """Return the record with its verdicts."""
        agreement = self._agreement()
        runs = tuple(self._run(candidate) for candidate in self._candidates)
        whats = WHATS if self._request.tokens > 1 else WHATS[:1]
        verdicts = []
        for what in whats:
            for run in runs[1:]:
                pairs = decode_pairs(runs[0], run, what)
                problem = None if run.failure is None else run.failure.problem
                verdicts.append(
                    DecodeVerdict(
                        what,
                        judge(
                            run.label, pairs, agreement, self._criteria(pairs), final=True, failure=problem
                        ),
                    )
                )
        return DecodingRecord(
            model_name=self._request.compared.model_name,
            prompt_count=len(self._request.prompt),
            token_count=self._request.tokens,
            seed=self._request.compared.seed,
            cached=bool(self._request.names.caches),
            tokens=self._tokens,
            runs=runs,
            agreement=agreement,
            verdicts=tuple(verdicts),
            notes=(),
        )

    def _round(self, number: int, candidates: Sequence[Candidate], tasks: Sequence[Task]) -> None:
        round_ = InterleavedRound(
            self._setup, number, self._rng, self._open, lambda step: self._report(step, number)
        )
        for process in round_.run(candidates, tasks):
            gathered = self._gathered[process.candidate.label]
            gathered.failure = gathered.failure or process.failure
            if process.loaded:
                gathered.providers = tuple(process.loaded["providers"])
                gathered.threads = process.loaded["threads"]
            gathered.io = process.opened.get("io", gathered.io)
            if number and process.usage.get("rss_bytes") is not None:
                gathered.rss_bytes.append(process.usage["rss_bytes"])
        for answer in round_.answers:
            self._take(answer)

    def _open(self, process: Process, ask: Ask) -> dict[str, Any]:
        """Make the loop over tokens and warm it up; the logits are kept once, on the baseline's tokens."""
        candidate, request = process.candidate, self._request
        feeds = read_values(candidate.feeds)[0]
        names = {**asdict(request.names), "empty_shapes": cache_feeds(request.names, feeds)}
        opened: dict[str, Any] = ask(
            "decoder",
            "first run",
            names=names,
            feeds=str(candidate.feeds),
            prompt=list(request.prompt),
            count=min(WARM_UP_TOKENS, request.tokens),
        ).body
        gathered = self._gathered[candidate.label]
        if self._tokens and gathered.logits is None:
            path = self._setup.folder / f"{process.worker.name}.logits"
            ask("decode", "outputs", **self._body(self._tokens), logits=str(path))
            gathered.logits = path
        return opened

    def _task(self, candidate: Candidate, given: Sequence[int] | None) -> Task:
        return Task(candidate.label, "decoding", "decode", self._body(given))

    def _body(self, given: Sequence[int] | None) -> dict[str, Any]:
        return {
            "prompt": list(self._request.prompt),
            "count": self._request.tokens,
            "given": None if given is None else list(given),
        }

    def _take(self, answer: TaskAnswer) -> None:
        gathered = self._gathered[answer.task.label]
        steps = array("q")
        steps.frombytes(answer.payload)
        gathered.picked = tuple(answer.body["picked"])
        gathered.cache_bytes = answer.body["cache_bytes"] if self._request.names.caches else None
        gathered.passes.append(
            DecodePass(
                round=answer.round,
                order=answer.order,
                step_s=tuple(max(0, step) / 1e9 for step in steps),
                cpu_s=answer.body["cpu_ns"] / 1e9,
                others_cpu_s=answer.others_cpu_s,
                disturbed=answer.disturbed,
            )
        )

    def _is_enough(self, rounds: int) -> bool:
        """Return whether more rounds would only confirm the verdicts; one config alone gets five."""
        runs = [self._run(candidate) for candidate in self._candidates]
        rest = [run for run in runs[1:] if run.failure is None]
        if not rest:
            return rounds >= ROUNDS_ALONE
        pairs = [decode_pairs(runs[0], run, WHATS[-1]) for run in rest]
        return all(is_enough(row, self._criteria(row)) for row in pairs)

    def _criteria(self, pairs: tuple[Pair, ...]) -> Criteria:
        return Criteria(self._request.compared.smallest_effect, population_of([pairs]))

    def _run(self, candidate: Candidate) -> DecodeRun:
        gathered = self._gathered[candidate.label]
        return DecodeRun(
            label=candidate.label,
            config=candidate.config,
            providers=gathered.providers,
            threads=gathered.threads,
            io=cast(Any, gathered.io),
            picked=gathered.picked,
            cache_bytes=gathered.cache_bytes,
            rss_bytes=tuple(gathered.rss_bytes),
            passes=tuple(gathered.passes),
            failure=gathered.failure,
            preparation=candidate.preparation,
        )

    def _agreement(self) -> tuple[OutputAgreement, ...]:
        baseline, *others = self._candidates
        expected = self._gathered[baseline.label].logits
        rows: list[OutputAgreement] = []
        for candidate in others:
            logits = self._gathered[candidate.label].logits
            if expected is not None and logits is not None:
                rows += compare_outputs(
                    candidate.label,
                    read_values(expected),
                    read_values(logits),
                    tolerance=self._request.compared.tolerance,
                    least_sqnr_db=required_sqnr_db(baseline.least_sqnr_db, candidate.least_sqnr_db),
                )
        return tuple(rows)

    def _report(self, step: str, number: int) -> None:
        elapsed_s = time.perf_counter() - self._began
        budget_s = self._request.budget_s
        fraction = min(1.0, elapsed_s / budget_s) if number else None
        remaining_s = max(0.0, budget_s - elapsed_s) if number else None
        self._on_progress(Progress(step, number, elapsed_s, budget_s, fraction, remaining_s))
