"""Decoding: rounds over configs, then the verdicts on the first token and on the tokens after it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from workbench.core.errors import RunFailed
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.interleaved import TaskAnswer, WorkerTask
from workbench.core.measure.limits import OnProgress
from workbench.core.measure.participant import Participant
from workbench.core.measure.rounds import seconds_of
from workbench.core.measure.task_rounds import TaskRounds
from workbench.core.measure.verdict import is_enough
from workbench.core.measure.wording import thread_notes
from workbench.core.models.decoding import DecodingNames, cache_feeds
from workbench.core.worker.values import read_values
from workbench.features.decode.points import WHATS, decode_pairs
from workbench.features.decode.record import DecodePass, DecodeRun, DecodeVerdict, DecodingRecord

_LEAST_ROUNDS = 3  # an interval needs them, whatever the budget
MOST_ROUNDS = 12
ROUNDS_ALONE = 5  # of one config, which needs no verdict
PASSES = 2  # of each config in a round; one where a pass is long
LONG_PASS_S = 1.0
WARM_UP_TOKENS = 3


@dataclass(frozen=True, slots=True)
class DecodeRequest:
    """One decoding as the user requested it."""

    compared: CompareRequest
    names: DecodingNames
    prompt: tuple[int, ...]
    tokens: int
    budget_s: float


class DecodingRounds(TaskRounds[DecodingRecord]):
    """A decoding with all configs in turns."""

    def __init__(self, request: DecodeRequest, on_progress: OnProgress) -> None:
        super().__init__(request.compared, request.budget_s, on_progress)
        self._request = request
        self._tokens: tuple[int, ...] = ()
        self._picked: dict[str, tuple[int, ...]] = {}
        self._cache_bytes: dict[str, int | None] = {}

    def run(self) -> None:
        """Let the baseline choose the tokens, then time all configs on them until the answer is known."""
        baseline = self.candidates[0]
        gathered = self.gathered[baseline.label]
        self.round(0, [baseline], [self._task(baseline, None)])
        if gathered.failure is not None:
            raise RunFailed(f"{self.compared.model_name}: {gathered.failure.problem}", gathered.failure.fix)
        self._tokens = self._picked[baseline.label]
        passes = PASSES if sum(gathered.parts[-1].step_s) < LONG_PASS_S else 1
        gathered.parts.clear()
        for number in range(1, MOST_ROUNDS + 1):
            began = time.perf_counter()
            alive = self.alive()
            tasks = [self._task(candidate, self._tokens) for candidate in alive for _ in range(passes)]
            self.round(number, alive, tasks)
            now = time.perf_counter()
            out_of_time = now - self.began + (now - began) > self.budget_s
            if number >= _LEAST_ROUNDS and (out_of_time or self._is_enough(number)):
                return

    def record(self) -> DecodingRecord:
        """Return the record with its verdicts."""
        agreement = self.agreement()
        runs = tuple(self._run(candidate) for candidate in self.candidates)
        return DecodingRecord(
            model_name=self.compared.model_name,
            prompt_count=len(self._request.prompt),
            token_count=self._request.tokens,
            seed=self.compared.seed,
            cached=bool(self._request.names.caches),
            tokens=self._tokens,
            runs=runs,
            agreement=agreement,
            verdicts=tuple(
                DecodeVerdict(
                    what,
                    self.verdict(
                        run.label,
                        decode_pairs(runs[0], run, what),
                        agreement,
                        None if run.failure is None else run.failure.problem,
                    ),
                )
                for what in (WHATS if self._request.tokens > 1 else WHATS[:1])
                for run in runs[1:]
            ),
            notes=tuple(note for _, note in thread_notes(runs)),
        )

    def open(self, participant: Participant) -> None:
        """Make the loop over tokens and warm it up; the logits are kept once, on the baseline's tokens."""
        candidate, request = participant.candidate, self._request
        feeds = read_values(candidate.feeds)[0]
        names = {**asdict(request.names), "empty_shapes": cache_feeds(request.names, feeds)}
        opened = participant.ask(
            "decoder",
            "first run",
            names=names,
            feeds=str(candidate.feeds),
            prompt=list(request.prompt),
            count=min(WARM_UP_TOKENS, request.tokens),
        ).body
        gathered = self.gathered[candidate.label]
        if self._tokens and gathered.outputs is None:
            path = self.surroundings.folder / f"{participant.worker.name}.logits"
            participant.ask("decode", "outputs", **self._body(self._tokens), logits=str(path))
            gathered.outputs = path
        participant.outcome.io = opened.get("io")

    def take(self, answer: TaskAnswer) -> None:
        """Keep the times of a pass and the tokens that it picked."""
        label, body = answer.task.label, answer.body
        self._picked[label] = tuple(body["picked"])
        self._cache_bytes[label] = body["cache_bytes"] if self._request.names.caches else None
        self.gathered[label].parts.append(
            DecodePass(
                round=answer.round,
                order=answer.order,
                step_s=tuple(max(0.0, step) for step in seconds_of(answer.payload)),
                cpu_s=body["cpu_ns"] / 1e9,
                others_cpu_s=answer.others_cpu_s,
                disturbed=answer.disturbed,
            )
        )

    def fraction(self, number: int, elapsed_s: float) -> float | None:
        """Return the spent share of the budget."""
        return min(1.0, elapsed_s / self.budget_s) if number else None

    def _task(self, candidate: Candidate, given: Sequence[int] | None) -> WorkerTask:
        return WorkerTask(candidate.label, "decoding", "decode", self._body(given))

    def _body(self, given: Sequence[int] | None) -> dict[str, Any]:
        return {
            "prompt": list(self._request.prompt),
            "count": self._request.tokens,
            "given": None if given is None else list(given),
        }

    def _is_enough(self, rounds: int) -> bool:
        """Return whether more rounds would only confirm the verdicts; one config alone gets five."""
        runs = [self._run(candidate) for candidate in self.candidates]
        rest = [run for run in runs[1:] if run.failure is None]
        if not rest:
            return rounds >= ROUNDS_ALONE
        pairs = [decode_pairs(runs[0], run, WHATS[-1]) for run in rest]
        return all(is_enough(row, self.criteria(row)) for row in pairs)

    def _run(self, candidate: Candidate) -> DecodeRun:
        gathered = self.gathered[candidate.label]
        return DecodeRun(
            io=cast(Any, gathered.io),
            picked=self._picked.get(candidate.label, ()),
            cache_bytes=self._cache_bytes.get(candidate.label),
            passes=tuple(gathered.parts),
            **self.facts(candidate),
        )
