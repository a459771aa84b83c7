"""Decoding: rounds over configs, then the verdicts on the first token and on the tokens after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from workbench.core.bundle.comparison import OutputAgreement
from workbench.core.errors import RunFailed
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.interleaved import TaskAnswer, WorkerTask
from workbench.core.measure.limits import OnProgress
from workbench.core.measure.pairs import Pair
from workbench.core.measure.participant import Participant
from workbench.core.measure.rounds import seconds_of
from workbench.core.measure.task_rounds import TaskRounds
from workbench.core.measure.wording import thread_notes
from workbench.core.models import Model
from workbench.core.models.decoding import DecodingNames, cache_feeds, is_in_place, weight_bytes
from workbench.core.worker.values import read_values, write_values
from workbench.features.decode.points import WHATS, decode_pairs
from workbench.features.decode.record import DecodeCase, DecodePass, DecodeRun, DecodeVerdict, DecodingRecord
from workbench.features.profile.roofline.peaks import kept_peaks

PASSES = 2  # of each config in a round; one where a pass is long
LONG_PASS_S = 1.0
WARM_UP_TOKENS = 3


@dataclass(frozen=True, slots=True)
class DecodeRequest:
    """One decoding as the user requested it; the feeds of `compared` are one for each prompt."""

    compared: CompareRequest
    names: DecodingNames
    prompts: tuple[tuple[tuple[int, ...], ...], ...]  # of each case: a row of tokens for each sequence
    tokens: int
    budget_s: float


class DecodingRounds(TaskRounds[DecodingRecord]):
    """A decoding with all configs in turns."""

    def __init__(self, request: DecodeRequest, on_progress: OnProgress) -> None:
        super().__init__(request.compared, request.budget_s, on_progress)
        self._request = request
        self._cases = range(len(request.prompts))
        self._tokens: dict[int, tuple[int, ...]] = {}
        self._picked: dict[tuple[int, str], tuple[int, ...]] = {}
        self._passes: dict[tuple[int, str], list[DecodePass]] = defaultdict(list)
        self._cache_bytes: dict[tuple[int, str], int | None] = {}
        self._cache_types: dict[str, str] = {}
        self._weight_bytes: dict[str, int] = {}

    def run(self) -> None:
        """Let the baseline choose the tokens, then time all configs on them until the answer is known."""
        baseline = self.candidates[0]
        gathered = self.gathered[baseline.label]
        self.round(0, [baseline], [self._task(baseline, case) for case in self._cases])
        if gathered.failure is not None:
            raise RunFailed(f"{self.compared.model_name}: {gathered.failure.problem}", gathered.failure.fix)
        self._tokens = {case: self._picked[case, baseline.label] for case in self._cases}
        longest_s = max(sum(parts[-1].step_s) for parts in self._passes.values())
        passes = PASSES if longest_s < LONG_PASS_S else 1
        self._passes.clear()
        self.until_known(
            lambda alive: [
                self._task(candidate, case)
                for candidate in alive
                for case in self._cases
                for _ in range(passes)
            ],
            self._pairs,
        )

    def record(self) -> DecodingRecord:
        """Return the record with its verdicts."""
        agreement = self.agreement()
        first, *further = (self._case(case, agreement) for case in self._cases)
        return DecodingRecord(
            model_name=self.compared.model_name,
            prompt_count=first.prompt_count,
            token_count=self._request.tokens,
            seed=self.compared.seed,
            cached=bool(self._request.names.caches),
            tokens=first.tokens,
            runs=first.runs,
            agreement=agreement,
            verdicts=first.verdicts,
            notes=tuple(note for _, note in thread_notes(first.runs)),
            batch=first.batch,
            further=tuple(further),
        )

    def _case(self, case: int, agreement: Sequence[OutputAgreement]) -> DecodeCase:
        runs, rows = self._runs(case), self._request.prompts[case]
        verdicts = tuple(
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
        )
        return DecodeCase(len(rows[0]), len(rows), self._tokens[case], runs, verdicts)

    def open(self, participant: Participant) -> None:
        """Make the loop over tokens and warm it up; the logits are kept once, on the baseline's tokens."""
        candidate, request = participant.candidate, self._request
        structure = Model(candidate.model, self.compared.model_name).structure
        self._weight_bytes[candidate.label] = weight_bytes(structure)
        names = asdict(request.names) | {"in_place": is_in_place(structure, request.names)}
        empty = [cache_feeds(request.names, feed) for feed in read_values(candidate.feeds)]
        opened = participant.ask(
            "decoder",
            "first run",
            names=names,
            empty_shapes=empty,
            feeds=str(candidate.feeds),
            prompts=request.prompts,
            count=min(WARM_UP_TOKENS, request.tokens),
        ).body
        gathered = self.gathered[candidate.label]
        if self._tokens and gathered.outputs is None:
            path = self.surroundings.folder / f"{participant.worker.name}.logits"
            values: list[Any] = []
            for case in self._cases:
                participant.ask("decode", "outputs", **self._body(case), logits=str(path))
                values += read_values(path)
            write_values(path, values)
            gathered.outputs = path
        participant.outcome.io = opened.get("io")

    def take(self, answer: TaskAnswer) -> None:
        """Keep the times of a pass and the tokens that it picked."""
        body, key = answer.body, (answer.task.body["case"], answer.task.label)
        self._picked[key] = tuple(token for step in body["picked"] for token in step)
        self._cache_bytes[key] = body["cache_bytes"] if self._request.names.caches else None
        self._cache_types[answer.task.label] = body["cache_type"]
        self._passes[key].append(
            DecodePass(
                round=answer.round,
                order=answer.order,
                step_s=tuple(max(0.0, step) for step in seconds_of(answer.payload)),
                cpu_s=body["cpu_ns"] / 1e9,
                others_cpu_s=answer.others_cpu_s,
                disturbed=answer.disturbed,
            )
        )

    def _task(self, candidate: Candidate, case: int) -> WorkerTask:
        return WorkerTask(candidate.label, "decoding", "decode", self._body(case))

    def _body(self, case: int) -> dict[str, Any]:
        tokens, batch = self._tokens.get(case, ()), len(self._request.prompts[case])
        given = [tokens[at : at + batch] for at in range(0, len(tokens), batch)]
        return {"case": case, "count": self._request.tokens, "given": given or None}

    def _pairs(self) -> list[tuple[Pair, ...]]:
        """Return what the verdicts on the tokens are read from, of each config that runs."""
        return [
            decode_pairs(runs[0], run, WHATS[-1])
            for runs in map(self._runs, self._cases)
            for run in runs[1:]
            if run.failure is None
        ]

    def _runs(self, case: int) -> tuple[DecodeRun, ...]:
        return tuple(self._run(candidate, (case, candidate.label)) for candidate in self.candidates)

    def _run(self, candidate: Candidate, key: tuple[int, str]) -> DecodeRun:
        facts = self.facts(candidate)
        on_cpu = facts["providers"] == ("CPUExecutionProvider",) and facts["threads"] is not None
        peaks = kept_peaks(facts["threads"]) if on_cpu else None
        return DecodeRun(
            io=cast(Any, self.gathered[candidate.label].io),
            picked=self._picked.get(key, ()),
            cache_bytes=self._cache_bytes.get(key),
            passes=tuple(self._passes.get(key, ())),
            cache_type=self._cache_types.get(candidate.label, ""),
            weight_bytes=self._weight_bytes.get(candidate.label),
            memory_bytes_per_s=None if peaks is None else peaks.bytes_per_s,
            **facts,
        )
