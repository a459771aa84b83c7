"""A load test in figures: throughput against p99 with intervals, the knee, processor time a request."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from workbench.core.bundle.comparison import Verdict, verdict_cells
from workbench.core.bundle.display import DataFrame, config_in_words, data_frame
from workbench.core.measure.gates import OPEN, Gate, code_of
from workbench.core.measure.pairs import LEAST_S, Pair, typical_s
from workbench.core.measure.percentiles import Figure, mean_of, percentile_of
from workbench.core.measure.wording import headline, thread_notes
from workbench.core.text import in_digits, in_ms, listed
from workbench.features.load.record import MOST_REQUESTS, LoadPoint, LoadRun, LoadSlice, LoadTestRecord

_CLOSE = 0.05  # of the best throughput: more callers than at the knee gain less than this
REACHED = 0.95  # of the asked rate: Poisson arrivals of a few hundred requests scatter by this much
SHORT_QUEUE = 3  # runs of a caller that a request may wait for

NOTABLE_OTHERS = 0.1  # share of all cores that other programs used


@dataclass(frozen=True, slots=True)
class PointSummary:
    """One config at one amount of load."""

    run: LoadRun
    point: LoadPoint
    throughput: Figure  # answers a second
    p50: Figure
    p99: Figure
    cpu: Figure  # processor time a request, spinning threads included
    waited_s: float | None  # mean time in the queue; None: callers send back to back
    reached: bool | None  # whether the asked rate was served; None: no rate was asked for
    verdict: Verdict | None  # None: the baseline, or nothing to compare


def summaries(record: LoadTestRecord) -> tuple[PointSummary, ...]:
    """Return every config at every amount of load, in the order of the runs."""
    verdicts = {(row.point, row.verdict.label): row.verdict for row in record.verdicts}
    return tuple(
        _summary(run, point, verdicts.get((point, run.label)))
        for run in record.runs
        for point in record.points
    )


def knee(rows: Sequence[PointSummary]) -> PointSummary | None:
    """Return the knee of one config: the fewest callers within 5 % of the best throughput.

    Where requests arrived at a rate: the highest rate that was served.
    """
    known = [row for row in rows if row.throughput.value is not None]
    served = [row for row in known if row.reached]
    if any(row.reached is not None for row in known):
        return max(served, key=lambda row: row.point.rate_hz or 0.0, default=None)
    best = max((row.throughput.value or 0.0 for row in known), default=0.0)
    near = [row for row in known if (row.throughput.value or 0.0) >= best * (1 - _CLOSE)]
    return min(near, key=lambda row: row.point.callers, default=None)


def knees_of(rows: Sequence[PointSummary], record: LoadTestRecord) -> list[PointSummary | None]:
    """Return the knee of each config."""
    return [knee([row for row in rows if row.run is run]) for run in record.runs]


def is_enough(best: PointSummary, rows: Sequence[PointSummary]) -> bool:
    """Return whether more callers than at the knee of a config were tried: they gained little or nothing."""
    return any(
        row.run is best.run and row.throughput.value is not None and row.point.callers > best.point.callers
        for row in rows
    )


def load_pairs(baseline: LoadRun, candidate: LoadRun, point: LoadPoint) -> tuple[Pair, ...]:
    """Return one pair a round: log(A's cost / B's), the cost being the time per answer, or the latency."""
    partners = {part.round: part for part in candidate.at(point)}
    pairs = []
    for part in baseline.at(point):
        partner = partners.get(part.round)
        if partner is None or not part.latency_s or not partner.latency_s:
            continue
        ratio = math.log(_cost_s(part) / _cost_s(partner))
        clean = not (part.disturbed or partner.disturbed)
        pairs.append(Pair(part.round, ratio if clean else None, ratio, 1, int(clean)))
    return tuple(pairs)


def load_notes(
    runs: Sequence[LoadRun], cores: int, software: Mapping[str, Mapping[str, str]]
) -> tuple[str, ...]:
    """Return what a reader must know of how it was measured."""
    slices = [part for run in runs for part in run.slices]
    wall_s = sum(part.wall_s for part in slices)
    others_s = sum(part.others_cpu_s or 0.0 for part in slices)
    notes = [note for _, note in thread_notes(runs)]
    if wall_s and others_s / wall_s > NOTABLE_OTHERS * cores:
        notes.append(
            f"other programs used {min(others_s / wall_s, cores):.1f} of {cores} cores meanwhile: "
            "measure again when the machine is quiet"
        )
    notes += [
        f"{run.label} ran in another environment: Python {versions['python']}, "
        f"ONNX Runtime {versions['onnxruntime']}"
        for run in runs
        if run.config.runtime and {"python", "onnxruntime"} <= (versions := software[run.label]).keys()
    ]
    cut = [run.label for run in runs if any(len(part.latency_s) >= MOST_REQUESTS for part in run.slices)]
    if cut:
        notes.append(f"{listed(cut)} ended early, after {MOST_REQUESTS:,} answers a round")
    return tuple(notes)


def load_frame(record: LoadTestRecord) -> DataFrame:
    """Return one row per config and amount of load; units stand in the names."""
    rows = summaries(record)
    knees = knees_of(rows, record)
    return data_frame([_row(row, row in knees) for row in rows])


def in_words(record: LoadTestRecord) -> str:
    """Return the knee of each config, the rates not reached, and each verdict with its interval."""
    rows = summaries(record)
    lines = [_sentence(run, [row for row in rows if row.run is run]) for run in record.runs]
    lines += [_not_reached(row) for row in rows if row.reached is False]
    lines += [f"{row.point}: {headline(row.verdict)}" for row in record.verdicts]
    return "\n".join([*lines, *(f"note: {note}" for note in record.notes)])


def _summary(run: LoadRun, point: LoadPoint, verdict: Verdict | None) -> PointSummary:
    import numpy as np

    parts = [part for part in run.at(point) if part.latency_s]
    latencies = [np.array(part.latency_s) for part in parts]
    is_open = point.rate_hz is not None
    rates = [part.answered_hz if is_open else part.throughput_hz for part in parts]
    costs = [part.cpu_s / len(part.latency_s) for part in parts]
    waits = [fmean(part.waited_s) for part in parts if part.waited_s]
    return PointSummary(
        run=run,
        point=point,
        throughput=mean_of("throughput", rates),
        p50=percentile_of(latencies, 50.0),
        p99=percentile_of(latencies, 99.0),
        cpu=mean_of("processor time", costs),
        waited_s=fmean(waits) if waits else None,
        reached=_is_reached(parts) if is_open and parts else None,
        verdict=verdict,
    )


def _is_reached(parts: Sequence[LoadSlice]) -> bool:
    """Return whether all requests were answered about as fast as they came: the queue was short at the end.

    Late requests are answered after the last arrival, so a slice of too many lasts longer and answers all.
    """
    asked = sum(part.request_count for part in parts)
    answered = sum(len(part.latency_s) for part in parts)
    return answered == asked and sum(map(_last_wait_s, parts)) <= sum(map(_short_wait_s, parts))


def _last_wait_s(part: LoadSlice) -> float:
    return part.waited_s[-1] if part.waited_s else 0.0


def _short_wait_s(part: LoadSlice) -> float:
    """Return a wait that comes and goes where a rate is served: of a few runs, or a share of the slice."""
    runs_s = [
        latency_s - waited_s for latency_s, waited_s in zip(part.latency_s, part.waited_s, strict=False)
    ]
    return max((1 - REACHED) * part.wall_s, SHORT_QUEUE * median(runs_s)) if runs_s else 0.0


def _cost_s(part: LoadSlice) -> float:
    if part.point.rate_hz is not None:
        return max(typical_s(part.latency_s), LEAST_S)
    return 1 / part.throughput_hz if part.throughput_hz > 0 else LEAST_S


def _row(row: PointSummary, is_knee: bool) -> dict[str, Any]:
    return {
        "label": row.run.label,
        "config": config_in_words(row.run.config),
        "callers_are": "processes" if row.run.processes else "threads",
        "sessions": row.run.sessions,
        "shared": " and ".join(row.run.shared),
        "callers": row.point.callers,
        "rate_hz": row.point.rate_hz,
        "p50_s": row.p50.value,
        **row.throughput.cells("throughput", "_hz"),
        **row.p99.cells("p99", "_s"),
        **row.cpu.cells("cpu", "_s"),
        "waited_s": row.waited_s,
        "reached": row.reached,
        "knee": is_knee,
        "rss_bytes": max(row.run.rss_bytes, default=None),
        **verdict_cells(row.verdict),
        "failure": row.run.failure.problem if row.run.failure else None,
    }


def _sentence(run: LoadRun, rows: Sequence[PointSummary]) -> str:
    what = f"{run.label} ({config_in_words(run.config)}, {run.sessions_in_words})"
    best = knee(rows)
    if run.failure is not None:
        return f"{what} failed during {run.failure.in_words}"
    if best is None:
        return f"{what}: {'no asked rate was reached' if rows[0].point.rate_hz else 'nothing was measured'}"
    p99 = "p99 not known" if best.p99.value is None else f"p99 {in_ms(best.p99.value, 3)}"
    cpu = "" if best.cpu.value is None else f", {in_ms(best.cpu.value, 3)} of processor time a request"
    if best.point.rate_hz is not None:
        return f"{what}: serves {best.point.rate_hz:g} requests/s with {p99}{cpu}"
    verb = "is" if best.point.callers == 1 else "are"
    enough = f"{verb} enough" if is_enough(best, rows) else "(more were not tried)"
    return f"{what}: {best.point} {enough}: {_rate(best.throughput)}, {p99}{cpu}"


def _not_reached(row: PointSummary) -> str:
    asked, most = row.point.rate_hz or 0.0, row.throughput.value or 0.0
    parts = row.run.at(row.point)
    left = sum(part.request_count - len(part.latency_s) for part in parts)
    unanswered = f", {left:,} stayed unanswered" if left else ""
    return (
        f"{row.run.label} does not reach {asked:g} requests/s with {row.point.callers} callers: it answered "
        f"{in_digits(most)} a second and the queue grew until the end{unanswered}; ask for fewer, "
        "or add callers or sessions"
    )


def _rate(figure: Figure) -> str:
    if figure.value is None:
        return figure.note
    low, high = figure.low, figure.high
    ends = "" if low is None or high is None else f" ({in_digits(low)} to {in_digits(high)})"
    return f"{in_digits(figure.value)} requests/s{ends}"


def load_gates(record: LoadTestRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each config at each amount of load; a rate that was not served counts as slower."""
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
