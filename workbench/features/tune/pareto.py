"""The candidates of a study that no other beats in everything, and the knee among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.estimate import Estimate
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.text import factor_ends
from workbench.drawing.exportable import DrawnTable, dots
from workbench.features.tune.record import OBJECTIVE_WORDS, StudyCandidate, StudyRecord

_TIE = {"memory": 0.02, "load": 0.10, "file size": 0.0, "error": 0.0}
"""Shares within which two values count as equal, where they have no intervals of their own."""


@dataclass(frozen=True, slots=True)
class FrontAxis:
    """How many times as good as the default a config is in one respect, with the ends of its interval."""

    name: str
    ratio: float
    low: float
    high: float

    @property
    def loss(self) -> float:
        """What is lost against the default; smaller is better."""
        return 1 / self.ratio


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """One config with all that it costs. None: not known. `axes` are those of the front."""

    label: str
    config: Config
    axes: tuple[FrontAxis, ...]
    memory_bytes: int | None
    load_s: float | None
    file_bytes: int | None
    error: float | None
    accuracy: float | None
    rate: float | None
    on_front: bool = False
    is_knee: bool = False

    @property
    def first(self) -> FrontAxis:
        """The axis of the first objective."""
        return self.axes[0]

    def axis(self, name: str) -> FrontAxis | None:
        """Return the axis of this name."""
        return next((axis for axis in self.axes if axis.name == name), None)


def points_of(record: StudyRecord) -> tuple[FrontPoint, ...]:
    """Return every candidate that keeps the limits, the default first, with the front marked.

    The front is that of the study's objectives; of a study with one, that of the objective, memory, load
    time, file size and error.
    """
    points = [
        _point(record, candidate, run)
        for candidate in record.candidates
        if candidate.state == "measured" and (run := record.run(candidate.label)) is not None
    ]
    front = [point for point in points if not any(_beats(other, point) for other in points)]
    knee = knee_of(front)
    return tuple(replace(point, on_front=point in front, is_knee=point is knee) for point in points)


def front_in_words(record: StudyRecord) -> str:
    """Return what the front is about."""
    words = [OBJECTIVE_WORDS[name] for name in (record.objective, *record.further)]
    costs = () if record.further else [name for name in _TIE if name != record.objective]
    return ", ".join((*words, *costs))


def knee_of(front: Sequence[FrontPoint]) -> FrontPoint | None:
    """Return the point nearest to the best of every axis; None of fewer than three points."""
    if len(front) < 3:
        return None
    losses: dict[str, list[float]] = {}
    for axis in (axis for point in front for axis in point.axes):
        losses.setdefault(axis.name, []).append(axis.loss)

    def distance(point: FrontPoint) -> float:
        parts = []
        for axis in point.axes:
            least, most = min(losses[axis.name]), max(losses[axis.name])
            if most > least:
                parts.append((axis.loss - least) / (most - least))
        return math.hypot(*parts)

    return min(front, key=distance)


def _point(record: StudyRecord, candidate: StudyCandidate, run: Run) -> FrontPoint:
    default, model = record.candidates[0], record.selection.model
    own_bytes = model.graph_bytes + model.external_bytes
    file_bytes = candidate.file_bytes or own_bytes
    error = candidate.error if candidate.config.precision is not None else 0.0
    names = (record.objective, *record.further)
    ends = {row.objective: (row.ratio, row.low, row.high) for row in candidate.further}
    ends[record.objective] = (candidate.ratio or 1.0, candidate.low or 1e-9, candidate.high or math.inf)
    if candidate is default:
        ends = dict.fromkeys(names, (1.0, 1.0, 1.0))
    axes = [FrontAxis(name, *ends[name]) for name in names if name in ends]
    if not record.further:
        first = record.run(default.label)
        costs = {
            "memory": (first and first.peak_rss_bytes, run.peak_rss_bytes),
            "load": (first and first.load_s, run.load_s),
            "file size": (default.file_bytes or own_bytes, file_bytes),
            "error": (1.0, None if error is None else math.exp(min(error, 20.0))),
        }
        axes += [
            FrontAxis(name, before / after, before / after, before / after * (1 + _TIE[name]))
            for name, (before, after) in costs.items()
            if before and after and name != record.objective
        ]
    return FrontPoint(
        label=candidate.label,
        config=candidate.config,
        axes=tuple(axes),
        memory_bytes=run.peak_rss_bytes,
        load_s=run.load_s,
        file_bytes=file_bytes,
        error=error,
        accuracy=candidate.accuracy,
        rate=candidate.rate,
    )


def _beats(first: FrontPoint, second: FrontPoint) -> bool:
    """Return whether the first is better in one respect beyond doubt and nowhere worse."""
    if first is second:
        return False
    better = False
    for own in first.axes:
        other = second.axis(own.name)
        if other is None:
            continue
        ahead = own.low > other.high
        has_interval = own.name not in _TIE or own.low < own.ratio
        if own.high < other.low or (has_interval and not ahead and own.ratio < other.ratio):
            return False
        better = better or ahead
    return better


_NUMBERS = ("ratio", "low", "high")


def proof(record: StudyRecord) -> DrawnTable:
    """Set a winner's ratio on the rounds that selected it beside the one on fresh rounds."""
    candidate, verdict = record.candidate(record.winner), record.verdict
    winner = config_in_words(candidate.config)
    speeds = {"rounds that selected": Estimate.of(candidate)}
    if verdict is not None:
        speeds["fresh rounds"] = Estimate.of(verdict)
    texts = [
        f"{speed.factor or 'not measured'}{factor_ends(speed.low, speed.high)}" for speed in speeds.values()
    ]
    sentence = f"{winner}: {texts[0]} as fast on the rounds that selected it"
    if record.winner == record.candidates[0].label:
        sentence = "The defaults won the selection: there was nothing to prove on fresh rounds."
        speeds, texts = {"the defaults": Estimate(1.0)}, ["1, by definition"]
    elif verdict is None:
        sentence += "; no time was left for fresh rounds, so nothing is proven."
    else:
        sentence += f", {texts[1]} on fresh rounds: {verdict.kind}."
    drawn = (
        (rounds, rounds, speed, text) for (rounds, speed), text in zip(speeds.items(), texts, strict=True)
    )
    rows = ((rounds, *speed.ends) for rounds, speed in speeds.items())
    chart = dots((winner,), "times as fast as the defaults", drawn)
    return DrawnTable(sentence, chart, ("rounds", *_NUMBERS), rows, _NUMBERS)
