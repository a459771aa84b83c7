"""What notebooks call for advice: `findings` looks, `improve` tries and keeps what helps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.core.config import Config
from workbench.core.measure.bar import steps as shown_steps
from workbench.core.measure.continuing import last_round
from workbench.core.measure.limits import Progress
from workbench.core.measure.measured_again import contradiction, verdict_after
from workbench.core.models import Inputs, Model, load
from workbench.core.models.examples import examples
from workbench.core.prepare.calibration import source_of
from workbench.core.prepare.real_data import data_from, inputs_from
from workbench.core.prepare.replayed import replayed
from workbench.features.accuracy.call import accuracy
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.base.result import origin_of
from workbench.features.base.running import finding_inputs, kept
from workbench.features.compare.call import compare
from workbench.features.compare.result import Comparison
from workbench.features.findings.fix_result import FixResult
from workbench.features.findings.gather import gather, known_accuracy
from workbench.features.findings.improvement_record import ImprovementRecord, ImprovementStep
from workbench.features.findings.improvement_result import Improvement
from workbench.features.findings.look import look
from workbench.features.findings.record import FindingRecord
from workbench.features.findings.result import Finding, Findings, FixTarget

_BUDGET_S = 180.0
STEP_S = 15.0  # the most that one fix may take
_LEAST_S = 6.0  # about three rounds of a small model; less is no measurement
TRIAL_SHARE = 0.6  # of the time that is left; the rest measures the last config against the first
LEAST_RATIO = 0.95  # of a fix for memory, load or accuracy whose effect on the time is not settled


@finding_inputs
def findings(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Inputs | Any = None,
    data: Any = None,
    seed: int = 0,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] | None = None,
) -> Findings:
    """Look for lost time, memory and accuracy, each with its evidence, its fix and the predicted gain.

    The model is explained, profiled for a moment and its weights are read once; nothing is measured against
    anything yet: `finding.try_fix()` does that, and `wb.improve` for all of them.

    `data`: labelled examples, as `wb.accuracy` takes them, for the findings about accuracy. `on_step` is told
    each step that begins; by default a bar shows them.

    >>> import workbench as wb
    >>> wb.findings.__name__
    'findings'
    """
    loaded, chosen, calibration = load(model), config or Config(), replayed(calibration)
    data = data_from(loaded, data, None)
    _check_examples(loaded, data, calibration)
    fed = inputs_from(loaded, inputs, seed=seed)
    loaded = loaded.with_inputs(fed)
    known = None
    with shown_steps(on_step) as report:
        if data is not None:
            report("accuracy")
            known = known_accuracy(loaded, chosen, data, calibration=calibration, cancel=cancel)
        evidence = gather(
            loaded, chosen, fed, known=known, calibration=calibration, cancel=cancel, on_step=report
        )
    about = origin_of(loaded, chosen, fed, cancel=cancel)
    return Findings.made({"A": look(evidence)}, about, FixTarget(loaded, fed, calibration))


@finding_inputs
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
    on_step: Callable[[str], None] | None = None,
    keep: bool = True,
) -> Improvement:
    """Try the findings one after the other, keep what was measured better, look again, until nothing is left.

    A fix that changes the arithmetic (int8, 16 bits) is tried only with `max_accuracy_drop`, and kept only if
    the accuracy on the evaluation set, or on `data`, drops by no more than that in all. The first config and
    the last one are measured again after the last step, a single fix in further rounds of its own comparison;
    if that says slower, or contradicts the steps, nothing is kept. `budget_s` bounds all of it, by default
    to three minutes.

    >>> import workbench as wb
    >>> wb.improve.__name__
    'improve'
    """
    loaded, start, calibration = load(model), config or Config(), replayed(calibration)
    data = data_from(loaded, data, None)
    _check_examples(loaded, data, calibration)
    fed = inputs_from(loaded, inputs, seed=seed)
    loaded = loaded.with_inputs(fed)
    until = time.monotonic() + (_BUDGET_S if budget_s is None else budget_s)
    current, steps, skipped = start, list[ImprovementStep](), dict[str, str]()
    fixes: list[FixResult] = []  # that were kept
    tried: set[str] = set()
    tell = on_step or (lambda _: None)  # beside the bars of what is measured
    ended = "Nothing is left to try."

    def evaluate(config: Config) -> AccuracyRecord:
        table = accuracy(
            loaded, start, config, data=data, calibration=calibration, progress=progress, cancel=cancel,
            keep=False,
        )  # fmt: skip
        return table.record

    while True:
        with shown_steps(on_step, progress) as report:
            report("looking for findings")
            evidence = gather(loaded, current, fed, calibration=calibration, cancel=cancel, on_step=report)
        here = Findings.made({"A": look(evidence)}, None, FixTarget(loaded, fed, calibration))
        candidates = _candidates(here, tried, skipped, max_accuracy_drop)
        if not candidates:
            break
        trial_s = TRIAL_SHARE * (until - time.monotonic())
        if trial_s < _LEAST_S:
            ended = "The budget is spent."
            for finding in candidates:
                skipped[finding.record.id] = f"{finding.record.headline}; there was no time to try it"
            break
        candidate = candidates[0]
        tried.add(candidate.record.id)
        tell(f"trying {candidate.record.title}")
        result = candidate.try_fix(min(STEP_S, trial_s), progress=progress, cancel=cancel, keep=False)
        result = _with_accuracy(_in_time(result), evaluate, max_accuracy_drop)
        verdict = result.comparison.verdict
        steps.append(
            ImprovementStep(
                result.finding, result.kept, result.reason, verdict.ratio, verdict.low, verdict.high
            )
        )
        current = result.config
        fixes += [result] if result.kept else []
    comparison = None
    if current != start:
        tell("measuring the first config and the last one again")
        left_s = max(_LEAST_S, until - time.monotonic())
        if len(fixes) == 1:
            first = fixes[0].comparison
            comparison = first.measure_more(budget_s=left_s, progress=progress, cancel=cancel, keep=keep)
            again = verdict_after(comparison.record, last_round(first.record))
        else:
            comparison = compare(
                loaded, start, current, inputs=fed, calibration=calibration, seed=seed + 1, budget_s=left_s,
                progress=progress, cancel=cancel, keep=keep,
            )  # fmt: skip
            again = comparison.verdict
        gains = [(step.ratio, step.low, step.high) for step in steps if step.kept]
        if reason := _not_again(contradiction(gains, again), comparison):
            ended = f"{ended} {reason}"
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


def _candidates(
    here: Findings,
    tried: set[str],
    skipped: dict[str, str],
    max_accuracy_drop: float | None,
) -> list[Finding]:
    """Return the findings that can be tried, the most promising first; note why others were not."""
    candidates = []
    for finding in here:
        record = finding.record
        if record.id in tried:
            continue
        if record.is_small:
            skipped[record.id] = f"{record.headline}; predicted below the bar"
        elif record.fix.config is None or record.fix.kind != "config":
            skipped[record.id] = f"{record.headline}; to be done by hand: {record.fix.text}"
        elif changes_arithmetic(record, finding.config) and max_accuracy_drop is None:
            skipped[record.id] = (
                f"{record.headline}; it changes the arithmetic: give max_accuracy_drop to try it"
            )
        else:
            skipped.pop(record.id, None)
            candidates.append(finding)
    return candidates


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


def _not_again(contradiction: str, comparison: Comparison) -> str:
    """Return why the last config is not kept after it was measured again, or nothing."""
    after = comparison.runs[1]
    if contradiction:
        return (
            f"Two measurements contradict each other, so no fix is kept: {contradiction}. The machine "
            "changed in between; improve again when it is quiet."
        )
    if after.failure is not None:
        worse = f"it could not be run: {after.failure.problem}"
    elif comparison.verdict.kind in ("slower", "outputs differ"):
        worse = str(comparison).splitlines()[0]
    else:
        return ""
    return f"Measured anew, all kept fixes together are no gain, so none is kept: {worse}"


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
