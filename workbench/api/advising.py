"""What notebooks call for advice: `findings` looks, `improve` tries and keeps what helps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.advisor.gather import gather, known_accuracy
from workbench.advisor.look import look
from workbench.advisor.tried import with_tried
from workbench.api.accuracy import accuracy
from workbench.api.comparing import compare
from workbench.api.running import kept
from workbench.config import Config
from workbench.measurement.limits import Progress
from workbench.models import Inputs, Model, load
from workbench.models.examples import examples
from workbench.preparation.calibration import source_of
from workbench.preparation.replayed import replayed
from workbench.records.fidelity import AccuracyRecord
from workbench.records.findings import FindingRecord
from workbench.records.improvement import ImprovementRecord, ImprovementStep
from workbench.results.comparison import Comparison
from workbench.results.findings import Finding, Findings, Subject
from workbench.results.fix_result import FixResult
from workbench.results.improvement import Improvement
from workbench.results.result import origin_of

BUDGET_S = 180.0
STEP_S = 15.0  # less than this is no measurement
LEAST_RATIO = 0.95  # of a fix for memory, load or accuracy whose effect on the time is not settled


def findings(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Inputs | Any = None,
    data: Any = None,
    seed: int = 0,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Findings:
    """Look for lost time, memory and accuracy, each with its evidence, its fix and the predicted gain.

    The model is explained, profiled for a moment and its weights are read once; nothing is measured against
    anything yet: `finding.try_fix()` does that, and `wb.improve` for all of them.

    `data`: labelled examples, as `wb.accuracy` takes them, for the findings about accuracy.

    >>> import workbench as wb
    >>> wb.findings.__name__
    'findings'
    """
    loaded, chosen, calibration = load(model), config or Config(), replayed(calibration)
    data = replayed(data)
    _check_examples(loaded, data, calibration)
    fed = loaded.inputs(inputs, seed=seed)
    known = None
    if data is not None:
        on_step("accuracy")
        known = known_accuracy(loaded, chosen, data, calibration=calibration, cancel=cancel)
    evidence = gather(
        loaded, chosen, fed, known=known, calibration=calibration, cancel=cancel, on_step=on_step
    )
    about = origin_of(loaded, chosen, fed, cancel=cancel)
    record, _ = with_tried(look(evidence), loaded.fingerprint(cancel), evidence.machine.cpu)
    return Findings.made({"A": record}, about, Subject(loaded, fed, calibration))


def improve(
    model: Model | Any,
    config: Config | None = None,
    budget_s: float | None = None,
    *,
    max_accuracy_drop: float | None = None,
    data: Any = None,
    inputs: Inputs | Any = None,
    seed: int = 0,
    calibration: Any = None,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] = lambda _: None,
    keep: bool = True,
) -> Improvement:
    """Try the findings one after the other, keep what was measured better, look again, until nothing is left.

    A fix that changes the arithmetic (int8, 16 bits) is tried only with `max_accuracy_drop`, and kept only if
    the accuracy on the evaluation set, or on `data`, drops by no more than that in all. The result's
    comparison is measured anew after the last step; if it says slower, nothing is kept. `budget_s` bounds the
    trying, by default to three minutes.

    >>> import workbench as wb
    >>> wb.improve.__name__
    'improve'
    """
    loaded, start, calibration = load(model), config or Config(), replayed(calibration)
    data = replayed(data)
    _check_examples(loaded, data, calibration)
    fed = loaded.inputs(inputs, seed=seed)
    until = time.monotonic() + (BUDGET_S if budget_s is None else budget_s)
    current, steps, skipped = start, list[ImprovementStep](), dict[str, str]()
    tried: set[str] = set()
    ended = "Nothing is left to try."

    def evaluate(config: Config) -> AccuracyRecord:
        table = accuracy(
            loaded, start, config, data=data, calibration=calibration, progress=progress, cancel=cancel,
            keep=False,
        )  # fmt: skip
        return table.record

    while True:
        on_step("looking for findings")
        evidence = gather(loaded, current, fed, calibration=calibration, cancel=cancel, on_step=on_step)
        record_here, before = with_tried(look(evidence), loaded.fingerprint(cancel), evidence.machine.cpu)
        here = Findings.made({"A": record_here}, None, Subject(loaded, fed, calibration))
        candidate = _next(here, tried, before, skipped, max_accuracy_drop)
        if candidate is None:
            break
        left_s = until - time.monotonic()
        if left_s < 2 * STEP_S:
            ended = "The budget is spent."
            break
        tried.add(candidate.record.id)
        on_step(f"trying {candidate.record.title}")
        result = candidate.try_fix(min(STEP_S, left_s / 2), progress=progress, cancel=cancel, keep=False)
        result = _with_accuracy(_in_time(result), evaluate, max_accuracy_drop)
        verdict = result.comparison.verdict
        steps.append(
            ImprovementStep(
                result.finding, result.kept, result.reason, verdict.ratio, verdict.low, verdict.high
            )
        )
        current = result.config
    comparison = None
    if current != start:
        comparison = compare(
            loaded, start, current, inputs=fed, calibration=calibration, seed=seed + 1, progress=progress,
            cancel=cancel, keep=keep,
        )  # fmt: skip
        if reason := _worse(comparison):
            ended = f"{ended} Measured anew, all kept fixes together are no gain, so none is kept: {reason}"
            steps = [replace(step, kept=False) for step in steps]
            current, comparison = start, None
    record = ImprovementRecord(
        model_name=loaded.name,
        start=start,
        config=current,
        steps=tuple(steps),
        skipped=tuple(skipped.values()),
        ended=ended,
        comparison=None if comparison is None else comparison.record,
    )
    structure = loaded.structure.SerializeToString()
    return kept(Improvement(record, origin_of(loaded, start, fed, cancel=cancel), structure=structure), keep)


def _check_examples(model: Model, data: Any, calibration: Any) -> None:
    """Refuse a file of labelled examples or of calibration data that cannot be read."""
    if isinstance(data, str | Path):
        examples(model, data)
    if isinstance(calibration, str | Path):
        source_of(model, calibration, 1)


def _next(
    here: Findings,
    tried: set[str],
    before: frozenset[str],
    skipped: dict[str, str],
    max_accuracy_drop: float | None,
) -> Finding | None:
    """Return the most promising finding that can be tried; note why others were not."""
    for finding in here:
        record = finding.record
        if record.id in tried:
            continue
        if record.id in before:
            skipped[record.id] = f"{record.title}: {record.caution}"
        elif record.is_small:
            skipped[record.id] = f"{record.title}: predicted below the bar"
        elif record.fix.config is None or record.fix.kind != "config":
            skipped[record.id] = f"{record.title}: {record.fix.text}"
        elif changes_arithmetic(record, finding.config) and max_accuracy_drop is None:
            skipped[record.id] = (
                f"{record.title}: it changes the arithmetic; give max_accuracy_drop to try it"
            )
        else:
            skipped.pop(record.id, None)
            return finding
    return None


def changes_arithmetic(record: FindingRecord, config: Config) -> bool:
    """Return whether the fix computes in other numbers than the config."""
    return record.fix.config is not None and record.fix.config.precision != config.precision


def _in_time(result: FixResult) -> FixResult:
    """Return the result, not kept where a fix for memory, load or accuracy may cost time."""
    verdict, before = result.comparison.verdict, result.comparison.runs[0].config
    if not result.kept or verdict.kind in ("faster", "tie"):
        return result
    if verdict.kind == "unknown" and verdict.low is not None and verdict.low >= LEAST_RATIO:
        return result
    return _refused(result, before, "it may be slower, and nothing slower is kept here")


def _worse(comparison: Comparison) -> str:
    """Return why the last config is worse than the first one, or nothing."""
    after = comparison.runs[1]
    if after.failure is not None:
        return f"it could not be run: {after.failure.problem}"
    is_worse = comparison.verdict.kind in ("slower", "outputs differ")
    return str(comparison).splitlines()[0] if is_worse else ""


def _with_accuracy(
    result: FixResult, evaluate: Callable[[Config], AccuracyRecord], max_drop: float | None
) -> FixResult:
    """Return the result, not kept where the accuracy is not known to hold.

    `evaluate` sets a config beside the first one, so that the drops of several fixes add up.
    """
    before = result.comparison.runs[0].config
    if not result.kept or max_drop is None or not changes_arithmetic(result.finding, before):
        return result
    record = evaluate(result.config)
    score = next((score for score in record.scores if score.label == "B"), None)
    change = None if score is None else score.against
    if change is None:
        return _refused(result, before, "its accuracy is not known: there is no evaluation set; give data=…")
    if change.within(max_drop) is not True:
        settled = "" if change.within(max_drop) is False else ", which more examples would settle"
        lost = f"accuracy {change.value * 100:+.2f} points, at most {-max_drop * 100:+.2f} allowed{settled}"
        return _refused(result, before, lost)
    return result


def _refused(result: FixResult, config: Config, reason: str) -> FixResult:
    return FixResult(result.finding, False, f"{result.reason}; {reason}", config, result.comparison)
