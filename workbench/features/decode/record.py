"""A language model decoded token by token, by one or more configs."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

from workbench.core.bundle.comparison import OutputAgreement, Verdict
from workbench.core.bundle.kinds import check_ratios, check_seconds
from workbench.core.bundle.preparation import Preparation
from workbench.core.bundle.run import Failure
from workbench.core.config import Config
from workbench.core.errors import BundleError
from workbench.core.text import counted

What = Literal["first token", "next tokens"]


@dataclass(frozen=True, slots=True)
class DecodePass:
    """One prompt and the tokens after it, while the processes of all other configs are frozen."""

    round: int
    order: int  # position among all passes of its round
    step_s: tuple[float, ...]  # the first step runs the prompt
    cpu_s: float  # of all threads of the process
    others_cpu_s: float | None
    disturbed: tuple[str, ...]  # reasons to exclude it; empty: clean

    @property
    def first_token_s(self) -> float:
        return self.step_s[0]

    @property
    def next_tokens_s(self) -> float:
        """The time of all tokens after the first."""
        return sum(self.step_s[1:])


@dataclass(frozen=True, slots=True)
class DecodeRun:
    """One config, decoding in one process per round."""

    label: str
    config: Config
    providers: tuple[str, ...]
    threads: int | None
    io: (
        Literal["run", "binding", "in place"] | None
    )  # how the cache goes from step to step; None: nothing ran
    picked: tuple[int, ...]  # the most likely tokens at each step, after the baseline's tokens
    cache_bytes: int | None  # after the last step; None: not known
    rss_bytes: tuple[int, ...]  # of each process at its end
    passes: tuple[DecodePass, ...]
    failure: Failure | None
    preparation: Preparation | None
    threads_from: tuple[str, ...] = ()  # origins of intra-op, then inter-op threads; empty: unknown
    cache_type: str = ""  # of its elements
    weight_bytes: int | None = None  # that each step reads; None: not known
    memory_bytes_per_s: float | None = None  # of this machine at these threads; None: not measured


@dataclass(frozen=True, slots=True)
class DecodeVerdict:
    """The conclusion about one candidate: the time to the first token, or of the tokens after it."""

    what: What
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class DecodeCase:
    """What all configs did with one length of the prompt and one batch."""

    prompt_count: int
    batch: int
    tokens: tuple[int, ...]  # what the baseline picked: at each step one for each sequence of the batch
    runs: tuple[DecodeRun, ...]  # the baseline first
    verdicts: tuple[DecodeVerdict, ...]

    @property
    def name(self) -> str:
        """The prompt and the batch in words."""
        prompt = counted(self.prompt_count, "token")
        return prompt if self.batch == 1 else f"{self.batch} × {prompt}"


@dataclass(frozen=True, slots=True)
class DecodingRecord:
    """All measurements of `wb.decode`, and the verdicts against the first run."""

    model_name: str
    prompt_count: int
    token_count: int
    seed: int
    cached: bool  # False: the model has no cache, so every step runs the whole sequence
    tokens: tuple[int, ...]  # what the baseline picked; all timed passes are fed these
    runs: tuple[DecodeRun, ...]  # the baseline first
    agreement: tuple[OutputAgreement, ...]  # of the logits of all steps
    verdicts: tuple[DecodeVerdict, ...]
    notes: tuple[str, ...]
    batch: int = 1
    further: tuple[DecodeCase, ...] = ()  # other lengths of the prompt and batches

    @property
    def cases(self) -> tuple[DecodeCase, ...]:
        """All lengths of the prompt and batches, the first included."""
        first = DecodeCase(self.prompt_count, self.batch, self.tokens, self.runs, self.verdicts)
        return (first, *self.further)


def check_decoding(record: DecodingRecord, fix: str) -> None:
    """Refuse a record that no decoding could have made."""
    labels = [run.label for run in record.runs]
    if not labels or len(set(labels)) != len(labels):
        raise BundleError("runs: expected one or more, each with its own label.", fix)
    if record.token_count < 1:
        raise BundleError("token_count: expected one or more.", fix)
    for case in record.cases:
        if [run.label for run in case.runs] != labels:
            raise BundleError("further: expected the same runs for each prompt and batch.", fix)
        _check_case(case, record.token_count, fix)


def _check_case(case: DecodeCase, steps: int, fix: str) -> None:
    count = steps * case.batch
    if case.batch < 1 or case.prompt_count < 1 or len(case.tokens) != count:
        raise BundleError("tokens: expected one for each step and sequence.", fix)
    for run in case.runs:
        if len(run.picked) not in (0, count):
            raise BundleError(f"picked: expected {count} tokens.", fix)
        if any(len(part.step_s) != steps for part in run.passes):
            raise BundleError(f"passes: expected {steps} steps.", fix)
        for part in run.passes:
            check_seconds(part.step_s, "passes", fix)
        if run.memory_bytes_per_s is not None and not 0 < run.memory_bytes_per_s < inf:
            raise BundleError("memory_bytes_per_s: expected a rate above 0, or none.", fix)
        if run.weight_bytes is not None and run.weight_bytes < 0:
            raise BundleError("weight_bytes: expected bytes.", fix)
    if any(row.verdict.label not in [run.label for run in case.runs[1:]] for row in case.verdicts):
        raise BundleError("verdicts: expected one of a candidate.", fix)
    check_ratios((row.verdict for row in case.verdicts), fix)
