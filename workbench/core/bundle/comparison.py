"""Two or more runs measured interleaved, and the conclusions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from workbench.core.bundle.display import DataFrame, config_in_words, data_frame, typed
from workbench.core.bundle.machine import Machine, SoftwareVersions
from workbench.core.bundle.run import Run, runs_to_html
from workbench.core.errors import ConfigError
from workbench.core.text import bounded, factor, factor_ends

Kind = Literal["faster", "slower", "tie", "outputs differ", "unknown"]


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The identity of a model. `name` is untrusted text and never a path."""

    name: str
    sha256: str
    graph_bytes: int
    external_bytes: int


@dataclass(frozen=True, slots=True)
class InputsRecord:
    """The inputs of the model and how they were made."""

    made_by: str  # "random, seed 0", "feeds.npz (given)"…
    seed: int | None
    shapes: tuple[tuple[str, str], ...]  # (input name, "float32[1,3,224,224]")
    guesses: tuple[str, ...]  # every guess, in words


@dataclass(frozen=True, slots=True)
class OutputAgreement:
    """One output of one candidate against the baseline's, on the same inputs."""

    label: str  # the label of the candidate
    output: str
    agrees: bool | None  # None: could not be compared; `reason` says why
    reason: str
    max_abs_error: float | None
    relative_error: float | None  # max_abs_error over the largest magnitude of the baseline's output
    sqnr_db: float | None  # None: undefined (no numbers, or bitwise equal)
    nan_count: int | None
    inf_count: int | None
    least_sqnr_db: float | None = None  # required where the arithmetic differs; None: `tolerance` applied
    part: str | None = None  # the channels that were refused on their own scale; None: the output as a whole
    part_error: float | None = None  # as a share of these channels; 1: nothing is left of them
    tail: tuple[str, ...] = ()  # the nodes from the one that joins these channels with others to the output


STOPPED = "stopped"  # the doubt of a comparison that was stopped on request


@dataclass(frozen=True, slots=True)
class Doubt:
    """A typed reason not to trust a measurement fully, with what to do about it."""

    kind: str  # "other load", "drift", "noise", "few rounds", "clock", "quota", "throttling", "fallback"…
    label: str | None  # the run in doubt; None: the whole comparison
    evidence: str
    fix: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The conclusion about one candidate. `ratio` is A's time over B's: 2.0 is twice as fast."""

    label: str  # the label of the candidate
    kind: Kind
    ratio: float | None  # None: not known, or a large effect whose size is open: see `bound`
    low: float | None
    high: float | None
    confidence: float  # confidence of the interval from low to high, over all looks
    smallest_effect: float
    rounds: int  # process pairs that the interval is based on
    provisional: bool
    reason: str  # one sentence that explains the kind
    looks: tuple[int, ...] = ()  # rounds at which an earlier verdict was final, before measuring continued
    clock: Literal["wall", "cpu"] = "wall"  # cpu: processor time at one thread

    @property
    def is_settled(self) -> bool:
        """Return whether the speed-up may be shown: outputs agree, and the interval is conclusive."""
        return self.kind in ("faster", "slower", "tie")

    @property
    def bound(self) -> float | None:
        """Return the ratio or, where the size of an effect is open, the end that it has at least."""
        open_end = {"faster": self.low, "slower": self.high}.get(self.kind)
        return open_end if self.ratio is None else self.ratio

    def is_open_to(self, speed_up: float) -> bool:
        """Return whether the interval leaves open that the candidate is so many times faster."""
        return self.high is None if self.ratio is None else self.high is not None and self.high > speed_up

    @property
    def confidence_text(self) -> str:
        """Return the confidence of the interval for labels, such as 95 %."""
        return f"{self.confidence * 100:.0f} %"

    @property
    def stated_ratio(self) -> float | None:
        """Return the ratio, or None where the verdict refuses one: outputs differ, or no interval yet."""
        refused = self.kind == "outputs differ" or (self.kind == "unknown" and self.low is None)
        return None if refused else self.ratio

    @property
    def factor(self) -> str:
        """Return how many times as fast as A, or as slow, with the digits that the interval leaves."""
        if self.ratio is None:
            bound = self.bound
            return "" if bound is None else factor(1.0, max(bound, 1 / bound))
        if self.ratio >= 1 or not self.low or not self.high:
            return factor(max(self.ratio, 1 / self.ratio), self.low, self.high)
        return factor(1 / self.ratio, 1 / self.high, 1 / self.low)

    def __repr__(self) -> str:
        text = "provisional, " if self.provisional else ""
        if self.bound is not None and self.is_settled:
            times = bounded(self.low, self.high)
            if self.ratio is not None:
                times = factor(self.ratio, self.low, self.high) + factor_ends(self.low, self.high)
            text += f"A's time over {self.label}'s is {times}, "
        return f"<Verdict on {self.label}: {self.kind}; {text}{self.reason}>"


def verdict_cells(verdict: Verdict | None) -> dict[str, Any]:
    """Return the cells of a verdict in a table; they are empty where there is none."""
    ends = {name: getattr(verdict, name, None) for name in ("ratio", "low", "high")}
    return {"verdict": getattr(verdict, "kind", None), **ends}


@dataclass(frozen=True, slots=True)
class Protocol:
    """The measuring protocol: everything needed to repeat the comparison."""

    budget_s: float
    smallest_effect: float
    pacing_s: float | None  # None: runs follow each other without a pause
    block_s: float
    tolerance: float
    seed: int
    frozen_partner: bool
    elapsed_s: float
    sampling_s: float
    allow_fallback: bool = False  # whether runs on other providers than those asked for count


@dataclass(frozen=True, slots=True)
class ComparisonRecord:
    """The measurements and conclusions of `wb.compare`."""

    id: str
    created_utc: str  # ISO 8601, seconds
    model: ModelRecord
    inputs: InputsRecord
    machine: Machine
    versions: SoftwareVersions
    protocol: Protocol
    runs: tuple[Run, ...]  # the baseline first
    agreement: tuple[OutputAgreement, ...]
    verdicts: tuple[Verdict, ...]  # one per candidate, in the order of the runs
    doubts: tuple[Doubt, ...]

    @property
    def verdict(self) -> Verdict:
        """Return the verdict of the first candidate."""
        if not self.verdicts:
            raise ConfigError(
                "one config alone has no verdict", "compare it with another one: wb.compare(model, a, b)"
            )
        return self.verdicts[0]

    @property
    def asked_s(self) -> float:
        """The seconds of measuring that were asked for."""
        return self.protocol.budget_s

    @property
    def has_failed(self) -> bool:
        """Whether there is nothing to compare: the baseline failed, or every candidate."""
        baseline, *candidates = self.runs
        lost = bool(candidates) and all(run.failure is not None for run in candidates)
        return lost or baseline.failure is not None

    @property
    def stopped(self) -> str:
        """That a person stopped it and what is kept, in words; empty: it ran to its end."""
        return next((doubt.evidence for doubt in self.doubts if doubt.kind == STOPPED), "")

    def to_frame(self) -> DataFrame:
        """Return one row per run: its config in words, key figures with units, and its verdict."""
        verdicts = {verdict.label: verdict for verdict in self.verdicts}
        rows = [
            {
                "label": run.label,
                "config": config_in_words(run.config),
                "samples": len(run.latency.samples_s),
                "median_s": run.latency.median_s,
                "fastest_s": min(run.latency.samples_s, default=None),
                "load_s": run.load_s,
                "first_run_s": run.first_run_s,
                "peak_rss_bytes": run.peak_rss_bytes,
                "file_bytes": run.preparation.file_bytes if run.preparation else None,
                "prepare_s": run.preparation.elapsed_s if run.preparation else None,
                "threads": run.threads,
                "providers": ", ".join(run.providers) or None,
                **verdict_cells(verdicts.get(run.label)),
                "failure": run.failure.problem if run.failure else None,
            }
            for run in self.runs
        ]
        return typed(data_frame(rows)).astype({"threads": "Int64"})

    def __repr__(self) -> str:
        kinds = "".join(f", {verdict.kind!r}" for verdict in self.verdicts[:1])  # none of a single run
        return f"ComparisonRecord({self.id!r}, {len(self.runs)} runs{kinds})"

    def _repr_html_(self) -> str:
        verdict_text = ""
        for verdict in self.verdicts[:1]:
            known = bounded(verdict.low, verdict.high)  # of a large effect, whose size the reason leaves open
            verdict_text = f": {verdict.kind}{f', {known}' if known else ''}. {verdict.reason}"
        return runs_to_html(self.runs, f"{self.model.name}{verdict_text}")
