"""Block medians in the order measured: a slope is drift."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import plotly.graph_objects as go

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.bundle.run import Run
from workbench.drawing.chart import run_look
from workbench.drawing.palette import TEXT
from workbench.drawing.scale import Scale, scale_of
from workbench.drawing.strips import failure, span
from workbench.drawing.template import latency_axis, new_figure, set_title
from workbench.drawing.thinning import MOST_POINTS, drawn_note, evenly, fair_shares
from workbench.drawing.words import plain

_HEIGHT = 380
_MOST_REASON = 90


@dataclass(frozen=True, slots=True)
class BlockPoint:
    """The middle of a block in time, and its median."""

    round: int
    at_s: float
    median_s: float
    samples: int
    reasons: tuple[str, ...]  # why it was excluded; untrusted; empty: it was not


@dataclass(frozen=True, slots=True)
class BlockSeries:
    """The drawn blocks of a run in the order measured."""

    label: str
    moments: tuple[BlockPoint, ...]
    measured: int  # blocks, drawn or not
    failure: str | None  # untrusted


@dataclass(frozen=True, slots=True)
class TimelineData:
    """The data of the figure, in seconds."""

    scale: Scale
    model: str  # untrusted
    courses: tuple[BlockSeries, ...]


def timeline_data(record: ComparisonRecord, most: int = MOST_POINTS) -> TimelineData:
    """Return the blocks of every run, at most `most` altogether."""
    every = [_moments(run) for run in record.runs]
    kept = fair_shares([len(moments) for moments in every], most)
    courses = tuple(
        BlockSeries(run.label, evenly(moments, count), len(moments), failure(run))
        for run, moments, count in zip(record.runs, every, kept, strict=True)
    )
    scale = scale_of([run.latency.median_s for run in record.runs])
    return TimelineData(scale, record.model.name, courses)


def timeline_figure(record: ComparisonRecord) -> go.Figure:
    """Draw block medians; lines join the blocks of a process, hollow points were excluded."""
    data = timeline_data(record)
    figure = new_figure()
    for index, course in enumerate(data.courses):
        style, points = run_look(index), _with_gaps(course.moments) or [None]
        figure.add_scatter(
            x=[None if moment is None else round(moment.at_s, 4) for moment in points],
            y=[None if moment is None else data.scale.of(moment.median_s) for moment in points],
            name=plain(course.label) if course.moments else f"{plain(course.label)}: no blocks",
            mode="lines+markers",
            line={"color": style.color, "width": 1},
            marker={
                "symbol": [f"{style.symbol}{'-open' if m and m.reasons else ''}" for m in points],
                "size": 7,
                "color": style.color,
            },
            hoverinfo="text",
            hovertext=[_hover(course.label, moment, data.scale) for moment in points],
            connectgaps=False,
            showlegend=True,
        )
    if any(moment.reasons for course in data.courses for moment in course.moments):
        marker = {"symbol": "circle-open", "size": 7, "color": TEXT}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name="excluded")
    figure.update_xaxes(title_text="time since the comparison began (s)", showgrid=False, zeroline=False)
    medians = sorted(moment.median_s for course in data.courses for moment in course.moments)
    figure.update_yaxes(**latency_axis(data.scale, "median of a block", span(medians)))
    return set_title(
        figure, ["Latency over time; medians of blocks in the order measured"], _note(data), _HEIGHT
    )


def timeline_table(record: ComparisonRecord) -> DataFrame:
    """Return a row for every block in the order measured."""
    rows = [
        (m.at_s, run.label, m.round, m.median_s * 1e3, m.samples, "; ".join(m.reasons))
        for run in record.runs
        for m in _moments(run)
    ]
    columns = ["at_s", "label", "round", "median_ms", "samples", "excluded_because"]
    return data_frame(sorted(rows), columns=columns)


def _moments(run: Run) -> list[BlockPoint]:
    points = [
        BlockPoint(
            process.round, block.start_s + block.wall_s / 2, block.median_s, len(block.samples_s),
            () if run.counts(block) else block.disturbed,
        )
        for process in run.processes
        for block in process.blocks
        if block.samples_s
    ]  # fmt: skip
    return sorted(points, key=lambda moment: moment.at_s)


def _with_gaps(moments: tuple[BlockPoint, ...]) -> list[BlockPoint | None]:
    """Put None between two rounds, where no line should be."""
    rounds = groupby(moments, key=lambda moment: moment.round)
    return [point for _, part in rounds for point in (*part, None)][:-1]


def _hover(label: str, moment: BlockPoint | None, scale: Scale) -> str:
    if moment is None:
        return ""
    text = f"{plain(label)}: {scale.text(moment.median_s)}, median of {moment.samples:,}<br>"
    text += f"round {moment.round}, at {moment.at_s:.2f} s"
    return text + "".join(f"<br>excluded: {plain(reason, _MOST_REASON)}" for reason in moment.reasons)


def _note(data: TimelineData) -> str:
    drawn = sum(len(course.moments) for course in data.courses)
    left_out = drawn_note(drawn, sum(course.measured for course in data.courses), "blocks")
    failures = [f"{course.label} {course.failure}" for course in data.courses if course.failure]
    return "; ".join(filter(None, (data.model, left_out, *failures)))
