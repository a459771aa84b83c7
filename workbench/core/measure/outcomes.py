"""What the processes of all rounds said so far, by candidate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.core.bundle.run import Block, Failure, ProcessRecord
from workbench.core.measure.candidate import Candidate


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """One request to the process of one candidate."""

    label: str
    name: str  # what progress says
    kind: str  # the command
    body: Mapping[str, Any]
    subject: object = None  # what the caller knows the task by


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """The answer to a task, and what other programs did meanwhile."""

    task: WorkerTask
    round: int
    order: int
    body: Mapping[str, Any]
    payload: bytes
    others_cpu_s: float | None
    disturbed: tuple[str, ...]


@dataclass(slots=True)
class Outcome:
    """What one process of a round said; it grows while the round runs."""

    label: str
    round: int = 0
    record: ProcessRecord | None = None  # of a round of blocks, if it was finished
    answers: list[TaskAnswer] = field(default_factory=list)  # of a round of tasks
    failure: Failure | None = None
    available: tuple[str, ...] = ()  # providers that this ORT was built with
    providers: tuple[str, ...] = ()
    nodes_on: dict[str, int] | None = None  # how many nodes each provider took; None: not known
    threads: int | None = None
    threads_from: tuple[str, ...] = ()  # empty: not known
    io: Literal["run", "binding"] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    log_text: str = ""
    was_frozen: bool = True  # whether the process was frozen while others were measured
    outputs: Path | None = None
    cores: Sequence[int] = ()  # that its calling thread can be held to, best first
    warmup_s: tuple[float, ...] = ()
    blocks: list[Block] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)  # further fields of its record, by name
    rss_bytes: int | None = None  # at the end


class Outcomes:
    """The outcomes of the candidates, one for each process, in the order of the rounds."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.candidates = {candidate.label: candidate for candidate in candidates}
        self._outcomes: dict[str, list[Outcome]] = {label: [] for label in self.candidates}

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Add one round."""
        for outcome in outcomes:
            self._outcomes[outcome.label].append(outcome)

    def admit(self, candidate: Candidate) -> None:
        """Let a further config take part from now on."""
        self.candidates[candidate.label] = candidate
        self._outcomes.setdefault(candidate.label, [])

    def all(self) -> Iterator[Outcome]:
        """Yield every outcome, candidate by candidate."""
        for outcomes in self._outcomes.values():
            yield from outcomes

    def of(self, label: str) -> Sequence[Outcome]:
        """Return the outcomes of a candidate."""
        return self._outcomes[label]

    def latest(self, label: str) -> Outcome:
        """Return the last outcome of a candidate whose session was made; an empty one if none was."""
        made = (outcome for outcome in reversed(self._outcomes[label]) if outcome.providers)
        return next(made, Outcome(label))

    def answers(self, label: str) -> Iterator[TaskAnswer]:
        """Yield the answers of a candidate to its tasks."""
        for outcome in self._outcomes[label]:
            yield from outcome.answers

    def outputs(self, label: str) -> list[Path]:
        """Return the files of the outputs of a candidate, one for each process that wrote any."""
        return [outcome.outputs for outcome in self._outcomes[label] if outcome.outputs is not None]

    def failure(self, label: str) -> Failure | None:
        """Return the reason why a config has no (more) samples."""
        if (failure := self.candidates[label].failure) is not None:
            return failure
        return next((outcome.failure for outcome in self._outcomes[label] if outcome.failure), None)

    def alive(self) -> list[Candidate]:
        """Return the configs that have not failed."""
        return [candidate for label, candidate in self.candidates.items() if self.failure(label) is None]

    def software(self) -> dict[str, dict[str, str]]:
        """Return the versions that each config's workers reported, by label; runtimes may differ."""
        return {
            label: next((outcome.versions for outcome in outcomes if outcome.versions), {})
            for label, outcomes in self._outcomes.items()
        }
