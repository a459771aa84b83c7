"""The exit codes of commands, and the checks of what the commands by hand measure and judge."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from workbench.core.measure.gates import FINE, OPEN, WORSE, Gate, code_of, was_measured
from workbench.core.text import in_ms

if TYPE_CHECKING:
    from workbench.core.measure.measurement import MeasurementRecord
    from workbench.features.accuracy.record import AccuracyRecord
    from workbench.features.compare.best import Best
    from workbench.features.decode.record import DecodingRecord
    from workbench.features.deploy.record import DeploymentRecord
    from workbench.features.load.record import LoadTestRecord
    from workbench.features.pipelines.record import PipelinesRecord

WRONG_USE = 2  # the exit code of argparse
INTERRUPTED = 128 + 2  # the shell's exit code after SIGINT
TERMINATED = 128 + 15
PIPE_CLOSED = 128 + 13  # as of a program that SIGPIPE ends

_ANSWERS = {True: FINE, False: WORSE, None: OPEN}


def of_measurement(record: MeasurementRecord) -> Iterator[Gate]:
    """Yield a check for each percentile; one that had to be known and is not is open."""
    from workbench.core.measure.measurement import in_words
    from workbench.core.measure.percentiles import percentiles

    if not was_measured(record.measured, "A"):
        yield Gate("measured", OPEN, record.headline)
        return
    for estimate in percentiles(record.run, record.percentiles):
        is_open = record.until_settled and estimate in record.unsettled
        yield Gate(estimate.name, OPEN if is_open else FINE, in_words(estimate))


def of_load_test(record: LoadTestRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each config at each amount of load; a rate that was not served counts as slower."""
    from workbench.core.measure.wording import headline
    from workbench.features.load.points import summaries

    for row in summaries(record):
        name = f"{row.run.label}, {row.point}"
        if row.throughput.value is None:
            problem = row.throughput.note if row.run.failure is None else row.run.failure.problem
            yield Gate(name, OPEN, f"not measured: {problem}")
            continue
        verdict = row.verdict
        text = f"{row.throughput.value:,.0f} answers/s, p99 {in_ms(row.p99.value) or 'not known'}"
        if verdict is not None:
            text = f"{text}; {headline(verdict)}"
        kind = None if verdict is None else verdict.kind
        if row.reached is False:
            kind, text = "slower", f"{text}; the rate was not reached"
        yield Gate(name, code_of(kind, fail_if), text)


def of_deployment(record: DeploymentRecord) -> Iterator[Gate]:
    """Yield the check of the outputs of a tried server; it is open where not all could be compared."""
    if record.check is not None:
        yield Gate("outputs", _ANSWERS[record.check.agrees], str(record))


def of_pipelines(record: PipelinesRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each pipeline, and one for each verdict."""
    from workbench.core.measure.wording import headline

    for run in record.runs:
        if run.failure is not None:
            yield Gate(run.label, OPEN, f"not measured: {run.failure.problem}")
        else:
            yield Gate(run.label, FINE, f"{len(run.rounds)} processes")
    for verdict in record.verdicts:
        yield Gate(f"{verdict.label} against A", code_of(verdict.kind, fail_if), headline(verdict))


def of_decoding(record: DecodingRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each config, and one for each verdict."""
    from workbench.core.measure.wording import headline

    for run in record.runs:
        if run.failure is not None or not run.passes:
            problem = "it did not run" if run.failure is None else run.failure.problem
            yield Gate(run.label, OPEN, f"not measured: {problem}")
        else:
            yield Gate(run.label, FINE, f"{len(run.passes):,} passes")
    for case in record.cases:
        start = f"{case.name}, " if record.further else ""
        for row in case.verdicts:
            name = f"{start}{row.what}: {row.verdict.label} against A"
            yield Gate(name, code_of(row.verdict.kind, fail_if), headline(row.verdict))


def of_accuracy(record: AccuracyRecord, max_drop: float | None) -> Iterator[Gate]:
    """Yield a check for each config; the drop of a candidate is judged where a largest one is given."""
    from workbench.features.accuracy.acceptance import drop_check

    for label in record.labels:
        score = record.score(label)
        if score is not None and score.problem is not None:
            yield Gate(label, OPEN, score.problem)
        elif max_drop is not None and label != record.labels[0]:
            check = drop_check(record, label, max_drop)
            yield Gate(label, _ANSWERS[check.passed], check.reason)
        else:
            known = None if score is None else score.score
            yield Gate(label, FINE, "there are no labels" if known is None else f"{known.value:.2%}")


def of_best(answer: Best) -> Iterator[Gate]:
    """Yield a check for each model: whether a config keeps the limits."""
    codes = {"yes": FINE, "no": WORSE, "not settled": OPEN}
    for group in answer.groups:
        winner = answer.winner(group)
        name = "no config keeps the limits for sure" if winner is None else f"{winner.name}: {winner.config}"
        yield Gate(group, codes[answer.answer_of(group)], name)
