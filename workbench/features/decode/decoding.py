"""Decoding: rounds over configs, then the verdicts on the first token and on the tokens after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from workbench.core.bundle.comparison import OutputAgreement
from workbench.core.measure.blocks import seconds_of
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.limits import OnProgress
from workbench.core.measure.outcomes import TaskAnswer, WorkerTask
from workbench.core.measure.pairs import Pair
from workbench.core.measure.rounds import Participant
from workbench.core.measure.task_experiment import TaskExperiment
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


class DecodingRounds(TaskExperiment[DecodingRecord]):
    """A decoding with all configs in turns."""

    def __init__(self, decoding: DecodeRequest, on_progress: OnProgress) -> None:
        super().__init__(decoding.compared, decoding.budget_s, on_progress)
        self._decoding = decoding
        self._cases = range(len(decoding.prompts))
        self._tokens: dict[int, tuple[int, ...]] = {}
        self._weight_bytes: dict[str, int] = {}

    def run(self) -> None:
        """Let the baseline choose the tokens, then time all configs on them until the answer is known."""
        baseline = self.candidates[0]
        self.round([baseline], [self._task(baseline, case) for case in self._cases])
        if (error := self.failed(baseline.label)) is not None:
            raise error
        first = {case: self._answers(case, baseline.label)[-1] for case in self._cases}
        self._tokens = {case: _picked(answer) for case, answer in first.items()}
        longest_s = max(sum(_pass(answer).step_s) for answer in first.values())
        passes = PASSES if longest_s < LONG_PASS_S else 1
        self.run_until_known(
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
            model_name=self.request.model_name,
            prompt_count=first.prompt_count,
            token_count=self._decoding.tokens,
            seed=self.request.seed,
            cached=bool(self._decoding.names.caches),
            tokens=first.tokens,
            runs=first.runs,
            agreement=agreement,
            verdicts=first.verdicts,
            notes=tuple(note for _, note in thread_notes(first.runs)),
            batch=first.batch,
            further=tuple(further),
        )

    def _case(self, case: int, agreement: Sequence[OutputAgreement]) -> DecodeCase:
        runs, rows = self._runs(case), self._decoding.prompts[case]
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
            for what in (WHATS if self._decoding.tokens > 1 else WHATS[:1])
            for run in runs[1:]
        )
        return DecodeCase(len(rows[0]), len(rows), self._tokens[case], runs, verdicts)

    def open(self, participant: Participant) -> None:
        """Make the loop over tokens and warm it up; the logits are kept once, on the baseline's tokens."""
        candidate, decoding = participant.candidate, self._decoding
        structure = Model(candidate.model, self.request.model_name).structure
        self._weight_bytes[candidate.label] = weight_bytes(structure)
        names = asdict(decoding.names) | {"in_place": is_in_place(structure, decoding.names)}
        empty = [cache_feeds(decoding.names, feed) for feed in read_values(candidate.feeds)]
        opened = participant.ask(
            "decoder",
            "first run",
            names=names,
            empty_shapes=empty,
            feeds=str(candidate.feeds),
            prompts=decoding.prompts,
            count=min(WARM_UP_TOKENS, decoding.tokens),
        ).body
        if self._tokens and not self.outcomes.outputs(candidate.label):
            path = self.surroundings.folder / f"{participant.worker.name}.logits"
            values: list[Any] = []
            for case in self._cases:
                participant.ask("decode", "outputs", **self._body(case), logits=str(path))
                values += read_values(path)
            write_values(path, values)
            participant.outcome.outputs = path
        participant.outcome.io = opened.get("io")

    def _answers(self, case: int, label: str) -> list[TaskAnswer]:
        """Return the passes of a config over a case, that of the first round included."""
        return [answer for answer in self.outcomes.answers(label) if answer.task.body["case"] == case]

    def _task(self, candidate: Candidate, case: int) -> WorkerTask:
        return WorkerTask(candidate.label, "decoding", "decode", self._body(case))

    def _body(self, case: int) -> dict[str, Any]:
        tokens, batch = self._tokens.get(case, ()), len(self._decoding.prompts[case])
        given = [tokens[at : at + batch] for at in range(0, len(tokens), batch)]
        return {"case": case, "count": self._decoding.tokens, "given": given or None}

    def _pairs(self) -> list[tuple[Pair, ...]]:
        """Return what the verdicts on the tokens are read from, of each config that runs."""
        return [
            decode_pairs(runs[0], run, WHATS[-1])
            for runs in map(self._runs, self._cases)
            for run in runs[1:]
            if run.failure is None
        ]

    def _runs(self, case: int) -> tuple[DecodeRun, ...]:
        return tuple(self._run(candidate, case) for candidate in self.candidates)

    def _run(self, candidate: Candidate, case: int) -> DecodeRun:
        facts, answers = self.facts(candidate), self._answers(case, candidate.label)
        on_cpu = facts["providers"] == ("CPUExecutionProvider",) and facts["threads"] is not None
        peaks = kept_peaks(facts["threads"]) if on_cpu else None
        last = answers[-1].body if answers else {}
        return DecodeRun(
            io=cast(Any, self.outcomes.latest(candidate.label).io),
            picked=_picked(answers[-1]) if answers else (),
            cache_bytes=last.get("cache_bytes") if self._decoding.names.caches else None,
            passes=tuple(_pass(answer) for answer in answers if answer.round),
            cache_type=last.get("cache_type", ""),
            weight_bytes=self._weight_bytes.get(candidate.label),
            memory_bytes_per_s=None if peaks is None else peaks.bytes_per_s,
            **facts,
        )


def _picked(answer: TaskAnswer) -> tuple[int, ...]:
    """Return the tokens that a pass picked."""
    return tuple(token for step in answer.body["picked"] for token in step)


def _pass(answer: TaskAnswer) -> DecodePass:
    """Return the times of a pass."""
    return DecodePass(
        round=answer.round,
        order=answer.order,
        step_s=tuple(max(0.0, step) for step in seconds_of(answer.payload)),
        cpu_s=answer.body["cpu_ns"] / 1e9,
        others_cpu_s=answer.others_cpu_s,
        disturbed=answer.disturbed,
    )
