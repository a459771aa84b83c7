"""A comparison in one sentence, and in a few lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Protocol

from workbench.core.bundle.comparison import ComparisonRecord, OutputAgreement, Verdict
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.run import Run
from workbench.core.measure.other_file import TIMING_ONLY, is_other_net
from workbench.core.measure.percentiles import MIN_PROCESSES, mean, percentiles
from workbench.core.measure.providers import asked_for, short_name
from workbench.core.text import SHORT, counted, factor_ends, in_digits, in_mib, one_line, shorten
from workbench.core.thread_variables import variables_of

MOST_CHARACTERS = 6_000  # per line: keeps ORT's failure messages, cuts an untrusted megabyte
NOTABLE_LOAD_S = 0.02
NOTABLE_LOAD_SHARE = 0.2
LEAST_PERCENT_OFF = 0.0001  # of the signal: no reader compares smaller errors
NOTABLE_TAIL = 0.1


def sentence(record: ComparisonRecord, verdict: Verdict, shares: Mapping[str, float] | None = None) -> str:
    """Return the verdict with its interval, then outputs, memory and, if relevant, load time, in words.

    `shares`: of the nodes' time that each profiled run, by label, spent beside the provider asked for.
    """
    candidate = next(run for run in record.runs if run.label == verdict.label)
    is_timing = is_other_net(candidate.config.precision)
    outputs = TIMING_ONLY if is_timing else outputs_in_words(verdict.label, record.agreement)
    known = shares or {}
    elsewhere = (fallback_in_words(run, known.get(run.label)) for run in (record.runs[0], candidate))
    parts = [headline(verdict), *elsewhere, outputs]
    parts.append(memory_in_words(record.runs[0], candidate))
    if verdict.kind != "outputs differ":
        parts.append(load_in_words(record.runs[0], candidate))
    return shorten("; ".join(part for part in parts if part), MOST_CHARACTERS)


def headline(verdict: Verdict) -> str:
    """Return the candidate's speed, or what is excluded; a provisional verdict is marked first."""
    label, start = verdict.label, "provisional: " if verdict.provisional else ""
    ratio, low, high = verdict.stated_ratio, verdict.low, verdict.high
    if verdict.kind == "outputs differ":
        return f"{start}{verdict.reason}"  # the speed of a wrong result is irrelevant
    if verdict.clock == "cpu":
        start += "by processor time at one thread, "
    if verdict.kind in ("faster", "slower") and ratio is None:
        return f"{start}{label} is {speed_in_words(verdict)}: {verdict.reason}"
    if ratio is None:
        return f"{start}{label} against A is unknown: {verdict.reason}"
    interval = ""
    if low is not None and high is not None:
        if verdict.kind == "slower":
            low, high = 1 / high, 1 / low
        interval = factor_ends(low, high, f"{verdict.confidence_text} CI ")
    if verdict.kind in ("faster", "slower"):
        return f"{start}{label} is {speed_in_words(verdict)}{interval}"
    if verdict.kind == "tie":
        return f"{start}{label} and A are a tie: {verdict.reason}{interval}"
    return f"{start}{label} against A: {verdict.reason}"


def speed_in_words(verdict: Verdict) -> str:
    """Return the factor of a settled difference, such as "2.00× faster" or "at least 2.7× slower"."""
    if verdict.kind not in ("faster", "slower") or verdict.bound is None:
        return ""
    return f"{verdict.factor} {verdict.kind}"


def speed_or_kind(verdict: Verdict) -> str:
    """Return the factor of a settled difference, else how the verdict ended."""
    return speed_in_words(verdict) or ("speed not settled" if verdict.kind == "unknown" else verdict.kind)


def in_short(record: ComparisonRecord) -> str:
    """Return the first candidate with its verdict, in a few words: "int8: 3.2× faster"."""
    verdict = record.verdicts[0]
    candidate = next(run for run in record.runs if run.label == verdict.label)
    failed = [run for run in (candidate, record.runs[0]) if run.failure is not None]
    outcome = speed_in_words(verdict) or verdict.kind
    if verdict.kind == "unknown":
        outcome = failed_in_words(failed[0]) if failed else "not settled"
    return f"{one_line(config_in_words(candidate.config), SHORT)}: {outcome}"


def failed_in_words(run: Run) -> str:
    """Return that a run failed: "B failed", or "B did not run on CUDA"."""
    if run.failure is not None and run.failure.stage == "provider":
        return f"{run.label} did not run on {' or '.join(map(short_name, asked_for(run.config)))}"
    return f"{run.label} failed"


def fallback_in_words(run: Run, share: float | None = None) -> str:
    """Return how many nodes ran elsewhere than on the providers asked for; empty where none did.

    `share`: of the time that a profile saw in nodes; None: no profile was made.
    """
    asked = asked_for(run.config)
    if run.failure is not None or not asked or not run.nodes_on:
        return ""
    elsewhere = [(name, count) for name, count in run.nodes_on if name not in asked and count]
    if not elsewhere:
        return ""
    nodes, total = (sum(count for _, count in pairs) for pairs in (elsewhere, run.nodes_on))
    names = " and ".join(short_name(name) for name, _ in elsewhere)
    time = "their share of the time was not measured" if share is None else f"{share:.0%} of the nodes' time"
    of = f"{nodes:,} of {counted(total, 'node')}"
    return f"{run.label} ran {of} on {names}, not on {' or '.join(map(short_name, asked))} ({time})"


def fixes(record: ComparisonRecord) -> Iterator[str]:
    """Yield what would let each run that failed be measured."""
    for run in record.runs:
        if run.failure is not None:
            yield f"  fix for {run.label}: {run.failure.fix}"


def outputs_in_words(label: str, agreement: tuple[OutputAgreement, ...]) -> str:
    rows = [row for row in agreement if row.label == label]
    if not rows:
        return "outputs were not compared"
    if any(row.agrees is False for row in rows):
        return ""  # the headline contains it
    if unknown := [row for row in rows if row.agrees is None]:
        return f"whether the outputs agree is unknown ({unknown[0].reason})"
    worst = min((row.sqnr_db for row in rows if row.sqnr_db is not None), default=None)
    asked = max((row.least_sqnr_db for row in rows if row.least_sqnr_db is not None), default=None)
    if worst is not None and asked is not None:
        return f"outputs are {percent_off(worst)} % off (SQNR {worst:.0f} dB, at least {asked:g} asked for)"
    if worst is not None:
        return f"outputs agree (SQNR {worst:.0f} dB)"
    exact = not any(row.max_abs_error for row in rows)  # None where outputs are equal texts
    return "outputs agree (equal to the last bit)" if exact else "outputs agree"


def percent_off(sqnr_db: float) -> str:
    """Return the error as a share of the signal in percent, without an exponent."""
    if sqnr_db < 0:
        return "over 100"
    percent = 100 * 10 ** (-sqnr_db / 20)
    return in_digits(percent, 2) if percent >= LEAST_PERCENT_OFF else f"under {LEAST_PERCENT_OFF:g}"


def memory_in_words(baseline: Run, candidate: Run) -> str:
    if baseline.peak_rss_bytes is None or candidate.peak_rss_bytes is None:
        return ""
    if not notable_memory(baseline.peak_rss_bytes, candidate.peak_rss_bytes):
        return "the same memory"
    saved = baseline.peak_rss_bytes - candidate.peak_rss_bytes
    return f"{in_mib(abs(saved))} {'less' if saved > 0 else 'more'} memory"


def notable_memory(before_bytes: int, after_bytes: int) -> bool:
    """Return whether two peaks differ by more than the noise of one process."""
    return abs(after_bytes - before_bytes) >= max(2 << 20, 0.01 * before_bytes)


def load_in_words(baseline: Run, candidate: Run) -> str:
    """Return the load times of all processes in words if the difference is noticeable and certain."""
    if not notable_load(baseline, candidate):
        return ""
    before, after = (
        f"{min(times_s) * 1e3:,.0f} to {max(times_s) * 1e3:,.0f} ms"
        for times_s in ([process.load_s for process in run.processes] for run in (baseline, candidate))
    )
    return f"loads in {after} instead of {before}"


def notable_load(baseline: Run, candidate: Run) -> bool:
    """Return whether every process of one config loads sooner than every process of the other, notably."""
    before, after = ([process.load_s for process in run.processes] for run in (baseline, candidate))
    if min(len(before), len(after)) < MIN_PROCESSES:
        return False
    apart_s = abs(median(after) - median(before))
    is_notable = apart_s >= max(NOTABLE_LOAD_S, NOTABLE_LOAD_SHARE * median(before))
    return is_notable and (max(before) < min(after) or max(after) < min(before))


def report(record: ComparisonRecord, shares: Mapping[str, float] | None = None) -> str:
    """Return each verdict, then the doubts with their fixes, for a terminal and for text/plain."""
    lines = [sentence(record, verdict, shares) for verdict in record.verdicts]
    lines += fixes(record)
    for verdict in record.verdicts:
        candidate = next(run for run in record.runs if run.label == verdict.label)
        lines += [f"  but {text}" for text in other_ways(verdict, record.runs[0], candidate)]
    for doubt in record.doubts:
        lines.append(f"  doubt ({doubt.kind}): {doubt.evidence}")
        lines.append(f"    fix: {doubt.fix}")
    return "\n".join(shorten(line, MOST_CHARACTERS) for line in lines)


class WithThreads(Protocol):
    """A run of any kind that says where its numbers of threads came from."""

    @property
    def label(self) -> str: ...
    @property
    def threads_from(self) -> tuple[str, ...]: ...


def other_ways(verdict: Verdict, baseline: Run, candidate: Run) -> Iterator[str]:
    """Yield why a figure of the samples points elsewhere than the verdict, in a sentence each.

    Medians and throughput mix the samples of all rounds; the verdict compares both configs within each round.
    """
    direction = {"faster": 1, "slower": -1, "tie": 0}.get(verdict.kind)
    samples = [run.latency.samples_s for run in (baseline, candidate)]
    if direction is None or not all(map(len, samples)):
        return
    before, after = (percentiles(run, (50.0, 99.0)) for run in (baseline, candidate))
    first, second = mean(baseline).value, mean(candidate).value
    least = 2 * verdict.smallest_effect
    median_words = _other_way(direction, before[0].value, after[0].value, least)
    mean_words = _other_way(direction, first, second, least)
    if median_words:
        odd = f"the median is {median_words}{f' and the mean {mean_words}' * bool(mean_words)}"
        why = "these mix rounds, and the verdict compares within each round"
        if verdict.clock == "cpu":
            why = "these are of the wall clock, and the verdict counts processor time"
        yield f"of all samples {odd} in {verdict.label}: {why}"
        return
    by = " by the wall clock" if verdict.clock == "cpu" else ""
    if mean_words:
        yield f"the mean of all samples{by} is {mean_words} in {verdict.label}: slow runs weigh more in it"
    if words := _other_way(direction, before[1].value, after[1].value, NOTABLE_TAIL):
        yield f"the slowest 1 in 100 (p99){by} are {words} in {verdict.label}, unlike the runs in general"


def _other_way(direction: int, before_s: float | None, after_s: float | None, least: float) -> str:
    """Return how much a figure changed if that is notable and against the direction; else an empty text."""
    if not before_s or not after_s:
        return ""
    change = after_s / before_s - 1
    if abs(change) < least or ((change > 0) == (direction < 0) and direction):
        return ""
    return f"{in_digits(abs(change) * 100, 2)} % {'higher' if change > 0 else 'lower'}"


def thread_notes(runs: Iterable[WithThreads]) -> Iterator[tuple[str, str]]:
    """Yield the label of each run that took a number of threads from a variable, and a sentence of it."""
    for run in runs:
        if variables := variables_of(run.threads_from):
            names = ", ".join(variables)
            yield run.label, f"ORT takes the threads of {run.label} from the environment: {names}"
