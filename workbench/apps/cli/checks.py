"""The exit codes of all commands, and the checks that a gate makes of everything measured or judged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.text import in_ms, one_line

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord
    from workbench.core.measure.measurement import MeasurementRecord
    from workbench.features.accuracy.record import AccuracyRecord
    from workbench.features.decode.record import DecodingRecord
    from workbench.features.grid.best import Best
    from workbench.features.grid.record import GridRecord
    from workbench.features.load.record import LoadTestRecord
    from workbench.features.pipelines.record import PipelinesRecord
    from workbench.features.variants.levels import LevelsRecord
    from workbench.features.variants.threads import ThreadScalingRecord

FINE = 0
WORSE = 1
WRONG_USE = 2  # the exit code of argparse
OPEN = 3  # not settled, or not measured
INTERRUPTED = 128 + 2  # the shell's exit code after SIGINT
TERMINATED = 128 + 15

REASONS = {"slower": WORSE, "differs": WORSE, "unknown": OPEN}  # what `--fail-if` takes
_KINDS = {"slower": "slower", "differs": "outputs differ", "unknown": "unknown"}
_ANSWERS = {True: FINE, False: WORSE, None: OPEN}


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition of a gate and its result, with an exit code and the reason."""

    name: str
    code: int
    text: str


def exit_code(checks: Iterable[Gate]) -> int:
    """Return the code of all checks: worse comes before open."""
    codes = {check.code for check in checks}
    return next((code for code in (WORSE, OPEN) if code in codes), FINE)


def was_measured(record: ComparisonRecord, label: str) -> bool:
    """Return whether the config ran as asked; a provider that fell back is another config."""
    run = next(run for run in record.runs if run.label == label)
    fell_back = any(doubt.kind == "fallback" and doubt.label == label for doubt in record.doubts)
    as_asked = record.protocol.allow_fallback or not fell_back
    return run.failure is None and bool(run.processes) and as_asked


def of_comparison(record: ComparisonRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each candidate: what was not measured never passes."""
    from workbench.core.measure.wording import sentence

    for verdict in record.verdicts:
        is_known = was_measured(record, "A") and was_measured(record, verdict.label)
        code = _code(verdict.kind, fail_if) if is_known else OPEN
        yield Gate(f"{verdict.label} against A", code, sentence(record, verdict))


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


def of_grid(record: GridRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield the checks of each size, or of each model."""
    for place in record.places:
        yield from _of_place(record.name_of(place), place.measured, place.problem, fail_if)


def of_levels(record: LevelsRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each level."""
    for row in record.rows:
        if row.latency_s is None:
            yield Gate(row.name, OPEN, row.reason or "not measured")
        else:
            known = row.ratio.factor if row.ratio.value is None else ""  # of a large effect
            text = "; ".join(filter(None, (in_ms(row.latency_s), row.verdict, known, row.reason)))
            yield Gate(row.name, _code(row.verdict, fail_if), text)


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
        yield Gate(name, _code(kind, fail_if), text)


def of_pipelines(record: PipelinesRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each pipeline, and one for each verdict."""
    from workbench.core.measure.wording import headline

    for run in record.runs:
        if run.failure is not None:
            yield Gate(run.label, OPEN, f"not measured: {run.failure.problem}")
        else:
            yield Gate(run.label, FINE, f"{len(run.rounds)} processes")
    for verdict in record.verdicts:
        yield Gate(f"{verdict.label} against A", _code(verdict.kind, fail_if), headline(verdict))


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
            yield Gate(name, _code(row.verdict.kind, fail_if), headline(row.verdict))


def of_accuracy(record: AccuracyRecord, max_drop: float | None) -> Iterator[Gate]:
    """Yield a check for each config; the drop of a candidate is judged where a largest one is given."""
    from workbench.features.grid.acceptance import drop_check

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


def of_threads(record: ThreadScalingRecord) -> Iterator[Gate]:
    """Yield a check for each count of threads."""
    for point in record.rows:
        name = f"{point.threads} threads{'' if point.spinning else ', not spinning'}"
        latency = in_ms(point.latency_s)
        code = OPEN if latency is None else FINE
        yield Gate(name, code, latency or f"not measured: {point.failure or 'no samples'}")


def of_best(answer: Best) -> Iterator[Gate]:
    """Yield a check for each model: whether a config keeps the limits."""
    codes = {"yes": FINE, "no": WORSE, "not settled": OPEN}
    for group in answer.groups:
        winner = answer.winner(group)
        name = "no config keeps the limits for sure" if winner is None else f"{winner.name}: {winner.config}"
        yield Gate(group, codes[answer.answer_of(group)], name)


def _of_place(
    place: str, measured: ComparisonRecord | None, problem: str | None, fail_if: Collection[str]
) -> Iterable[Gate]:
    """Yield the checks of one comparison of several, or of one config alone."""
    if measured is None:
        yield Gate(place, OPEN, f"not measured: {one_line(problem or '')}")
    elif len(measured.runs) < 2:
        latency = in_ms(measured.runs[0].latency.median_s)
        code = FINE if was_measured(measured, measured.runs[0].label) else OPEN
        yield Gate(place, code, f"median {latency or 'not measured'}")
    else:
        for check in of_comparison(measured, fail_if):
            yield Gate(f"{place}: {check.name}", check.code, check.text)


def _code(kind: str | None, fail_if: Collection[str]) -> int:
    """Return the code of a verdict's kind; without a verdict nothing is wrong."""
    return next((REASONS[reason] for reason in fail_if if _KINDS[reason] == kind), FINE)
