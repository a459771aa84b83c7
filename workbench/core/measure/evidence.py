"""The evidence of all rounds so far: the runs, the output agreement, and the pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from workbench._version import __version__
from workbench.core.bundle.comparison import OutputAgreement
from workbench.core.bundle.machine import NOT_INSTALLED, SoftwareVersions, installed
from workbench.core.bundle.run import Population, Run
from workbench.core.config import Precision, PreparedModel
from workbench.core.measure.agreement import OWN_CHANGES, compare_outputs
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.continuing import check_same_software
from workbench.core.measure.limits import Samples
from workbench.core.measure.other_file import is_other_net
from workbench.core.measure.outcomes import Outcome, Outcomes
from workbench.core.measure.pairs import Clock, Pair, pairs_of, population_of
from workbench.core.measure.percentiles import NEEDED
from workbench.core.measure.tolerance import required_sqnr_db
from workbench.core.worker import log
from workbench.core.worker.values import read_values

MAX_LOG_LINES = 500
_installed = cache(installed)  # reading a version takes milliseconds
WATCHED_ROUNDS, WATCHED_SAMPLES = 3, 60  # whose samples a report of the progress holds


class RoundsEvidence(Outcomes):
    """The growing evidence of a comparison, round by round. The baseline is "A"."""

    def __init__(self, request: CompareRequest, candidates: Sequence[Candidate]) -> None:
        super().__init__(candidates)
        self._request = request
        earlier = request.earlier
        self._earlier = {run.label: run for run in earlier.runs} if earlier is not None else {}
        self._reference: Path | None = None
        self._runs: dict[tuple[str, Population], Run] = {}  # until the next round, like the next one
        self._suggested: Population | None = None
        self._pairs: dict[tuple[str, Clock], dict[int, Pair]] = {}
        self.agreement: tuple[OutputAgreement, ...] = earlier.agreement if earlier is not None else ()

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Add one round. Raise ConfigError if its software differs from that of the earlier rounds."""
        self._forget()
        super().add(outcomes)
        self._compare_outputs(outcomes)
        if self._request.earlier is not None and self.software().get("A"):
            check_same_software(self._request.earlier.versions, self.versions())

    def admit(self, candidate: Candidate) -> None:
        """Let a further config take part from now on."""
        self._forget()
        super().admit(candidate)

    def _forget(self) -> None:
        """Forget what follows from the rounds so far."""
        self._runs.clear()
        self._suggested = None

    def has_samples(self) -> bool:
        """Return whether any process of any config finished its blocks."""
        return any(outcome.record for outcome in self.all())

    def partners_were_frozen(self) -> bool:
        """Return whether every process was frozen while the others were measured."""
        earlier = self._request.earlier
        frozen = all(outcome.was_frozen for outcome in self.all())
        return frozen and (earlier is None or earlier.protocol.frozen_partner)

    def outputs_differ(self) -> bool:
        """Return whether any output of a candidate is known to differ from the baseline's."""
        return any(row.agrees is False for row in self.agreement)

    def pairs(self, label: str, *, clock: Clock | None = None) -> tuple[Pair, ...]:
        """Return the pairs of the baseline and this candidate, one per round; each is computed once."""
        key = (label, clock or self._request.clock)
        pairs = pairs_of(self.run("A"), self.run(label), key[1], self._pairs.get(key))
        self._pairs[key] = {pair.round: pair for pair in pairs}
        return pairs

    def population(self) -> Population:
        """Return which blocks count, the same for all runs."""
        if self._suggested is None:
            alive = [candidate.label for candidate in self.alive()]
            labels = [label for label in alive if label != "A"] or ["A"]
            self._suggested = population_of(self.pairs(label, clock="wall") for label in labels)
            # Only a first round of slow runs gives no median, and no verdict rests on one round.
            if len(self.run("A").processes) == 1 and any(_has_too_few(self.run(label)) for label in alive):
                self._suggested = "all"
        return self._suggested

    def run(self, label: str, population: Population = "undisturbed") -> Run:
        """Return the record of one config."""
        if (label, population) not in self._runs:
            self._runs[label, population] = self._run(label, population)
        return self._runs[label, population]

    def _run(self, label: str, population: Population) -> Run:
        outcomes, earlier = self.of(label), self._earlier.get(label)
        if earlier is not None and not outcomes:
            return replace(earlier, population=population)
        last = self.latest(label)
        before = earlier.processes if earlier is not None else ()
        return Run(
            label=label,
            config=self.candidates[label].config,
            providers=last.providers,
            threads=last.threads,
            threads_from=last.threads_from,
            io=last.io,
            processes=(*before, *(outcome.record for outcome in outcomes if outcome.record is not None)),
            log=tuple(log.parse(outcomes[0].log_text)[:MAX_LOG_LINES]) if outcomes else (),
            failure=self.failure(label),
            preparation=self.candidates[label].preparation,
            population=population,
            nodes_on=None if last.nodes_on is None else tuple(sorted(last.nodes_on.items())),
        )

    def runs(self) -> tuple[Run, ...]:
        """Return the records of all configs, the baseline first."""
        population = self.population()
        return tuple(self.run(label, population) for label in self.candidates)

    def latest_samples(self) -> Samples:
        """Return the latest samples of each config, for a reader who watches."""
        latest = []
        for label in self.candidates:
            outcomes = self.of(label)[-WATCHED_ROUNDS:]
            records = [outcome.record for outcome in outcomes if outcome.record is not None]
            blocks = [block for record in records for block in record.blocks]
            samples_s: list[float] = []
            while blocks and len(samples_s) < WATCHED_SAMPLES:
                samples_s[:0] = blocks.pop().samples_s
            latest.append((label, tuple(samples_s[-WATCHED_SAMPLES:])))
        return tuple(latest)

    def versions(self) -> SoftwareVersions:
        """Return the software versions that the first worker reported."""
        known = [versions for versions in self.software().values() if versions]
        reported = next((versions for versions in known if "onnxruntime" in versions), known[0])
        return SoftwareVersions(
            workbench=__version__,
            python=reported["python"],
            onnxruntime=reported.get("onnxruntime") or _installed("onnxruntime") or NOT_INSTALLED,
            onnx=_installed("onnx") or NOT_INSTALLED,
            numpy=reported["numpy"],
        )

    def _compare_outputs(self, outcomes: Sequence[Outcome]) -> None:
        """Compare candidates with their round's baseline; the first round's shows whether it repeats."""
        baseline = next(
            (outcome.outputs for outcome in outcomes if outcome.label == "A" and outcome.outputs), None
        )
        if baseline is None:
            return
        earlier = None if self._reference is None else read_values(self._reference)
        self._reference = self._reference or baseline
        expected = read_values(baseline)
        for outcome in outcomes:
            if outcome.outputs is None or outcome.label == "A" or self._is_settled(outcome.label):
                continue
            candidate = self.candidates[outcome.label]
            rows = agreement_of(
                self._request, self.candidates["A"], candidate, expected, outcome.outputs, earlier
            )
            if not rows:
                continue
            if earlier is not None:
                control = compare_outputs("A", earlier, expected, tolerance=self._request.tolerance)
                rows = self._with_earlier(rows, {row.output: row.agrees is not False for row in control})
            self.agreement = tuple(row for row in self.agreement if row.label != outcome.label) + rows

    def _is_settled(self, label: str) -> bool:
        known = [row for row in self.agreement if row.label == label]
        return bool(known) and not any(row.agrees is False for row in known)

    def _with_earlier(
        self, rows: tuple[OutputAgreement, ...], repeats_itself: dict[str, bool]
    ) -> tuple[OutputAgreement, ...]:
        """Keep a differing output differing, unless the baseline's own output changes too."""
        before = {(row.label, row.output): row for row in self.agreement}
        merged = []
        for row in rows:
            old = before.get((row.label, row.output))
            if old is not None and old.agrees is False and row.agrees is True:
                if repeats_itself[row.output]:
                    row = replace(old, reason=f"{old.reason} (in one of two processes)")
                else:
                    row = replace(row, agrees=None, reason=OWN_CHANGES)
            merged.append(row)
        return tuple(merged)


def _has_too_few(run: Run) -> bool:
    """Return whether a run was measured, and its undisturbed blocks hold too few samples for a median."""
    blocks = [block for block in run.blocks if not block.disturbed]
    return bool(run.processes) and sum(len(block.samples_s) for block in blocks) < NEEDED[50.0]


def agreement_of(
    request: CompareRequest,
    baseline: Candidate,
    candidate: Candidate,
    expected: Sequence[Mapping[str, Any]],
    outputs: Path,
    repeat: Sequence[Mapping[str, Any]] | None,
) -> tuple[OutputAgreement, ...]:
    """Compare the outputs in a candidate's file with the baseline's, but not those of a net that is another.

    Where the arithmetic of one is not float32, the error budget is the user's, or the usual.
    """
    precision = candidate.config.precision
    if is_other_net(precision):
        return ()
    required = required_sqnr_db(baseline.least_sqnr_db, candidate.least_sqnr_db)
    asked = request.least_sqnr_db
    return compare_outputs(
        candidate.label,
        expected,
        _in_names_of_model(read_values(outputs), precision),
        tolerance=request.tolerance,
        least_sqnr_db=required if required is None or asked is None else asked,
        repeat=repeat,
        structure=None if request.source is None else request.source.structure,
    )


def _in_names_of_model(
    outputs: Sequence[Mapping[str, Any]], precision: Precision | None
) -> Sequence[Mapping[str, Any]]:
    """Return the outputs of a file under the names that the model has for them."""
    if not isinstance(precision, PreparedModel) or not precision.renamed_outputs:
        return outputs
    names = {theirs: ours for ours, theirs in precision.renamed_outputs}
    return [{names.get(name, name): value for name, value in feed.items()} for feed in outputs]
