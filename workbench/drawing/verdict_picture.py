"""The verdict as a picture: a ratio with its word, its interval on a log axis, and figures from A to B."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from workbench.core.bundle.display import config_in_words
from workbench.core.measure.other_file import is_other_net
from workbench.core.measure.percentiles import NEEDED
from workbench.core.measure.verdict import NO_DIFFERENCE
from workbench.core.measure.wording import (
    NOTABLE_LOAD_S,
    NOTABLE_LOAD_SHARE,
    failed_in_words,
    fallback_in_words,
    notable_load,
    notable_memory,
    other_ways,
    percent_off,
    speed_in_words,
)
from workbench.core.text import NARROW, bytes_text, factor_ends, in_digits, shorten
from workbench.drawing.scale import scale_of

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord, OutputAgreement, Verdict
    from workbench.core.bundle.run import Run

Effect = Literal["gain", "loss", "error", "none"]
MINUS, ABSENT = "\u2212", "\u2013"
TICKS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of every axis, so that two answers can be compared at a glance
LEAST_SAME = 1.0001  # a band that can be drawn, whatever a stranger's record claims
LEAST_CHANGE = 0.005  # a smaller share is written as no change
TAIL = "slowest 1 in 100"
SURE = " sure: between "  # in the line of the interval
_LARGE = 10.0  # a change by more is a factor
_BETWEEN = "between "
_REASON_LETTERS = 120  # of why outputs were not judged


@dataclass(frozen=True, slots=True)
class RatioAxis:
    """A's time over the candidate's, faster at the right; `same` is the band of no effect.

    Of an effect whose size is open, the ratio is infinite or 0, and so is that end of the interval.
    """

    same: tuple[float, float]
    ratio: float
    interval: tuple[float, float] | None

    def place(self, ratio: float) -> float:
        """Return where a ratio stands, from 0 at the left end to 1 at the right; others stand at the ends."""
        first, last = math.log(TICKS[0]), math.log(TICKS[-1])
        return (math.log(min(TICKS[-1], max(TICKS[0], ratio))) - first) / (last - first)

    @property
    def is_beyond(self) -> bool:
        """Whether the ratio stands outside of the scale."""
        return not TICKS[0] <= self.ratio <= TICKS[-1]


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure of A and of the candidate, and the change between them."""

    name: str
    value: str
    change: str = ""
    effect: Effect = "none"


@dataclass(frozen=True, slots=True)
class VerdictPicture:
    """The picture of one verdict; texts are untrusted."""

    label: str
    kind: str
    head: str
    effect: Effect
    estimate: str  # of an undecided comparison
    lines: tuple[str, ...]
    outputs: str  # whether they agree, in a sentence
    axis: RatioAxis | None
    tiles: tuple[Tile, ...]


def verdict_picture(
    record: ComparisonRecord, verdict: Verdict, shares: Mapping[str, float] | None = None
) -> VerdictPicture:
    """Return the picture of a verdict of this comparison.

    `shares`: of the time in nodes that each profiled run, by label, spent beside the provider asked for.
    """
    baseline = record.runs[0]
    candidate = next(run for run in record.runs if run.label == verdict.label)
    failed = next((run for run in (candidate, baseline) if run.failure is not None), None)
    effects: dict[str, Effect] = {"faster": "gain", "slower": "loss"}
    effect = effects.get(verdict.kind, "none")
    failure = failed is not None and verdict.kind == "unknown"
    agreement = [output for output in record.agreement if output.label == verdict.label]
    times = _times(baseline, candidate, effect)
    if verdict.kind not in effects:
        times = [replace(tile, change="") for tile in times]  # it would be a difference that is not known
    tiles = (*times, _memory(baseline, candidate), _load(baseline, candidate),
             _file(record, baseline, candidate))  # fmt: skip
    if failure:  # figures of the other run alone compare nothing
        tiles = tuple(Tile(tile.name, ABSENT) for tile in tiles)
    elsewhere = [fallback_in_words(run, (shares or {}).get(run.label)) for run in (baseline, candidate)]
    others = map(_begun, other_ways(verdict, baseline, candidate))
    lines = (*elsewhere, *_lines(verdict, failed), *others)
    return VerdictPicture(
        label=verdict.label,
        kind=verdict.kind,
        head=_head(verdict, failed),
        effect="error" if failure else "loss" if verdict.kind == "outputs differ" else effect,
        estimate=speed_so_far(verdict) if verdict.kind == "unknown" else "",
        lines=tuple(filter(None, lines)),
        outputs="Another net, as asked: timing only"
        if is_other_net(candidate.config.precision)
        else _outputs(agreement, candidate),
        axis=axis_of(verdict),
        tiles=tiles,
    )


def _head(verdict: Verdict, failed: Run | None) -> str:
    if speed := speed_in_words(verdict):
        return speed[:1].upper() + speed[1:]
    if verdict.kind in ("tie", "outputs differ"):
        return {"tie": "A tie", "outputs differ": "Outputs differ"}[verdict.kind]
    return "Not settled yet" if failed is None else failed_in_words(failed)


def speed_so_far(verdict: Verdict) -> str:
    """Return the speed so far; none, or both ends of a wide interval, while either sign is possible."""
    ratio, low, high = verdict.stated_ratio, verdict.low, verdict.high
    if ratio is None:
        return ""
    if low is not None and high is not None and low < 1 < high:
        ends = factor_ends(low, high).strip(" ()").replace(" to ", "× and ")
        return "no difference seen so far" if high / low <= NARROW else f"{_BETWEEN}{ends}× so far"
    return f"{verdict.factor} {'slower' if ratio < 1 else 'faster'} so far"


def _lines(verdict: Verdict, failed: Run | None) -> list[str]:
    """Return the reason, where the word says too little, a fix, the interval, and what is unusual."""
    lines = []
    if verdict.kind not in ("faster", "slower") or verdict.ratio is None:
        reason = verdict.reason
        if failed is not None:  # the head says so
            reason = reason.removeprefix(f"{failed.label} could not be measured: ")
            reason = reason.removeprefix(f"{_head(verdict, failed)}: ")
        ends_are_said = speed_so_far(verdict).startswith(_BETWEEN)
        parts = [reason] if verdict.kind == "outputs differ" else reason.split("; ", 1)
        lines += [_begun(part) for part in parts if not (ends_are_said and part.startswith(NO_DIFFERENCE))]
    if verdict.kind == "unknown" and failed is not None and failed.failure is not None:
        lines.append(f"Fix: {failed.failure.fix}")
    if verdict.kind in ("faster", "slower", "tie") and verdict.low is not None and verdict.high is not None:
        low, high = (
            (verdict.low, verdict.high) if verdict.kind != "slower" else (1 / verdict.high, 1 / verdict.low)
        )
        ends = factor_ends(low, high).strip(" ()").replace(" to ", " and ")
        lines.append(f"{verdict.confidence_text}{SURE}{ends} times")
    if verdict.clock == "cpu":
        lines.append("By processor time at one thread")
    if verdict.provisional:
        lines.append("Provisional: measuring ended before the next planned look")
    return lines


def _begun(part: str) -> str:
    """Begin with a capital letter, unless that is the name of a file."""
    return part if "." in part.partition(" ")[0] else part[:1].upper() + part[1:]


def axis_of(verdict: Verdict) -> RatioAxis | None:
    """Return the axis, except where the speed is irrelevant or not known."""
    ratio, low, high = verdict.stated_ratio, verdict.low, verdict.high
    if ratio is None:
        if verdict.bound is None or not verdict.is_settled:
            return None
        ratio = math.inf if verdict.kind == "faster" else 0.0
        low, high = sorted((verdict.bound, ratio))
    interval = None if low is None or high is None else (low, high)
    same = min(max(1 + verdict.smallest_effect, LEAST_SAME), TICKS[-1])
    return RatioAxis((1 / same, same), ratio, interval)


def _times(baseline: Run, candidate: Run, effect: Effect) -> list[Tile]:
    """Return the median and the slowest 1 in 100, which needs enough samples of both runs."""
    import numpy as np

    tiles = [_time("median", baseline.latency.median_s, candidate.latency.median_s, effect)]
    counts = [len(run.latency.samples_s) for run in (baseline, candidate)]
    if min(counts) < NEEDED[99]:
        needs = f"needs {NEEDED[99]} runs" if max(counts) else ABSENT
        return [*tiles, Tile(TAIL, needs, f"{min(counts):,} so far" if min(counts) else "")]
    before_s, after_s = (float(np.percentile(run.latency.samples_s, 99)) for run in (baseline, candidate))
    return [*tiles, _time(TAIL, before_s, after_s, effect)]


def _time(name: str, before_s: float | None, after_s: float | None, effect: Effect) -> Tile:
    """Return a tile of two durations; only a change in the direction of the verdict has its colour."""
    scale = scale_of([before_s, after_s])
    texts = [ABSENT if seconds is None else scale.number(seconds, 3) for seconds in (before_s, after_s)]
    if before_s is None or after_s is None or before_s <= 0:
        return Tile(name, _arrow(texts, scale.unit))
    change = after_s / before_s - 1
    agrees = effect == ("gain" if change < 0 else "loss") and abs(change) >= LEAST_CHANGE
    return Tile(name, _arrow(texts, scale.unit), _change(change), effect if agrees else "none")


def _memory(baseline: Run, candidate: Run) -> Tile:
    before, after = baseline.peak_rss_bytes, candidate.peak_rss_bytes
    texts = [ABSENT if size is None else f"{size / (1 << 20):,.0f}" for size in (before, after)]
    tile = Tile("memory", _arrow(texts, "MiB"))
    if before is None or after is None:
        return tile
    if not notable_memory(before, after):
        return replace(tile, change="the same")
    more = (after - before) / (1 << 20)
    return replace(tile, change=_signed(f"{more:+,.0f}"), effect="loss" if more > 0 else "gain")


def _load(baseline: Run, candidate: Run) -> Tile:
    before_s, after_s = baseline.load_s, candidate.load_s
    tile = _time("time to load", before_s, after_s, "none")
    if before_s is None or after_s is None:
        return tile
    if abs(after_s - before_s) < NOTABLE_LOAD_SHARE * before_s:
        return replace(tile, change="the same")
    if abs(after_s - before_s) < NOTABLE_LOAD_S:
        return replace(tile, change="too short to judge")
    if not notable_load(baseline, candidate):
        return replace(tile, change="")
    return replace(tile, effect="loss" if after_s > before_s else "gain")


def _file(record: ComparisonRecord, baseline: Run, candidate: Run) -> Tile:
    """Return the sizes of the files that ORT loads."""
    model_bytes = record.model.graph_bytes + record.model.external_bytes
    before, after = (
        run.preparation.file_bytes if run.preparation is not None else model_bytes
        for run in (baseline, candidate)
    )
    if before == after or not before:
        return Tile("file", bytes_text(before), "the same")
    share, end = after / before - 1, bytes_text(after)
    begin = bytes_text(before).removesuffix(f" {end.split()[-1]}")  # two units need a second line
    return Tile("file", f"{begin} → {end}", _change(share), "gain" if share < 0 else "loss")


def _outputs(agreement: list[OutputAgreement], candidate: Run) -> str:
    """Return how far the outputs are from A's, in a sentence."""
    if not agreement:
        return "" if candidate.failure is not None else "Outputs were not compared"
    worst = min((output.sqnr_db for output in agreement if output.sqnr_db is not None), default=None)
    sqnr = "" if worst is None else f" (signal to noise {worst:.0f} dB)"
    if any(output.agrees is False for output in agreement):
        return f"Outputs differ{sqnr}"
    unjudged = [output for output in agreement if output.agrees is None]
    if unjudged:
        which = "Outputs were" if len(unjudged) == len(agreement) else "Some outputs were"
        return f"{which} not judged: {shorten(unjudged[0].reason.partition(':')[0], _REASON_LETTERS)}"
    if worst is not None and any(output.least_sqnr_db is not None for output in agreement):
        return f"Outputs are {percent_off(worst)} % off{sqnr}, as {config_in_words(candidate.config)} may be"
    exact = not any(output.max_abs_error for output in agreement)
    return "Outputs are equal to the last bit" if exact and not sqnr else f"Outputs agree{sqnr}"


def _arrow(texts: list[str], unit: str) -> str:
    return ABSENT if set(texts) == {ABSENT} else f"{' → '.join(texts)} {unit}"


def _change(share: float) -> str:
    """Return a change in percent, or as a factor where percents say little."""
    if abs(share) < LEAST_CHANGE:
        return "the same"
    if share > _LARGE - 1:
        return f"{in_digits(share + 1, 3)} times"
    digits = 0 if abs(share) >= 0.1 else 1
    return f"{_signed(f'{share * 100:+.{digits}f}')} %"


def _signed(number: str) -> str:
    return number.replace("-", MINUS)
