"""How right each config is, with its interval, beside how far its outputs are from the baseline's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.figures.palette import TEXT, style_of_run
from workbench.figures.scene import Scene
from workbench.figures.shapes import Line, Mark, Rect, Text
from workbench.figures.template import apply, set_title
from workbench.figures.words import plain
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.records.fidelity import AccuracyRecord, Mean, Score

ROW = 40
MOST_NAME = 60
EQUAL_DB = 160.0  # drawn for outputs that are equal to the last bit: beyond what float32 can tell
WIDTH, MARGIN, LINE, BAR, SPAN = 760, 16, 18, 14, 400


@dataclass(frozen=True, slots=True)
class Row:
    """One config. Accuracy in percent; None: not known, and `note` says why."""

    label: str
    config: str
    score: float | None
    low: float | None
    high: float | None
    sqnr_db: float | None  # of its worst output
    note: str


def accuracy_data(record: AccuracyRecord) -> tuple[Row, ...]:
    """The baseline first."""
    return tuple(
        _row(record, label, config) for label, config in zip(record.labels, record.configs, strict=True)
    )


def accuracy_figure(record: AccuracyRecord) -> go.Figure:
    """Points with intervals at the left, decibels at the right; a config has the same row in both."""
    rows = accuracy_data(record)
    panels = [name for name, there in (("score", _has_scores(rows)), ("error", len(rows) > 1)) if there]
    figure = make_subplots(1, max(1, len(panels)), shared_yaxes=True, horizontal_spacing=0.06)
    for index, row in enumerate(rows):
        style = style_of_run(index)
        for column, panel in enumerate(panels, 1):
            value = row.score if panel == "score" else row.sqnr_db
            known = panel == "score" and None not in (row.score, row.low, row.high)
            figure.add_scatter(
                row=1, col=column, x=[value], y=[_name(row)], mode="markers", showlegend=False,
                marker={"color": style.color, "symbol": style.symbol, "size": 11},
                error_x={
                    "type": "data", "symmetric": False, "color": style.color, "thickness": 2,
                    "array": [row.high - row.score],  # type: ignore[operator]
                    "arrayminus": [row.score - row.low],  # type: ignore[operator]
                } if known else None,
                hovertemplate=f"{plain(_hover(row))}<extra></extra>",
            )  # fmt: skip
    names = [_name(row) for row in reversed(rows)]
    figure.update_yaxes(categoryorder="array", categoryarray=names, range=[-0.6, len(rows) - 0.4])
    for column, panel in enumerate(panels, 1):
        title = f"{plain(record.metric or '')} (%)" if panel == "score" else "worst output (SQNR, dB)"
        figure.update_xaxes(title_text=title, row=1, col=column)
    return set_title(apply(figure), [headline(record)], _note(record), ROW * len(rows) + 80)


def accuracy_scene(record: AccuracyRecord) -> Scene:
    """The same as a picture: a bar a config with its interval, and the numbers in words."""
    rows, marks, y = accuracy_data(record), list[Mark](), float(MARGIN)
    for line, bold in ((headline(record), True), (_note(record), False)):
        y += LINE
        marks.append(Text(MARGIN, y, line, 14 if bold else 12, bold, room=WIDTH - 2 * MARGIN))
    ends = [value for row in rows for value in (row.low, row.high, row.score) if value is not None]
    least, most = min(ends, default=0.0), max(ends, default=100.0)
    per = SPAN / ((most - least) or 1.0)
    if ends:
        y += LINE
        marks += [Text(MARGIN, y, f"{least:.4g} %"), Text(MARGIN + SPAN, y, f"{most:.4g} %", anchor="end")]
    for index, row in enumerate(rows):
        y += LINE + 8
        marks.append(Text(MARGIN, y, f"{row.label} {row.config}", room=WIDTH - 2 * MARGIN))
        y += 6
        if row.score is not None:
            marks += _interval(row, index, y + BAR / 2, least, per)
        place = MARGIN if row.score is None else MARGIN + SPAN + 16
        marks.append(Text(place, y + BAR - 2, _told(row), room=WIDTH - MARGIN - place))
        y += BAR
    return Scene(WIDTH, y + MARGIN, headline(record), tuple(marks))


def _interval(row: Row, index: int, y: float, least: float, per: float) -> Iterator[Mark]:
    """A point on a scale that does not begin at zero, so no bar."""
    style = style_of_run(index)
    yield Line(MARGIN, y, MARGIN + SPAN, y, TEXT, 0.5, opacity=0.5)
    if row.low is not None and row.high is not None:
        low, high = (MARGIN + (value - least) * per for value in (row.low, row.high))
        yield Line(low, y, high, y, style.color, 3)
    if row.score is not None:
        x = MARGIN + (row.score - least) * per
        yield Rect(x - 5, y - 6, 10, 12, style.color, stroke=style.color, hatch=style.pattern, ink="#ffffff")


def headline(record: AccuracyRecord) -> str:
    """One sentence: the scores, or the errors where there are no labels."""
    known = [(label, record.score(label)) for label in record.labels]
    told = [f"{label} {_percent(score.score)}" for label, score in known if score and score.score]
    if told:
        return one_line(f"{record.model_name}: {record.metric} {', '.join(told)}", 400)
    errors = [(label, record.error(label)) for label in record.labels[1:]]
    words = [f"{label} {_error(error)}" for label, error in errors if error is not None]
    return one_line(f"{record.model_name}: error of the outputs {', '.join(words) or 'not known'}", 400)


def _row(record: AccuracyRecord, label: str, config: str) -> Row:
    score: Score | None = record.score(label)
    mean: Mean | None = score.score if score else None
    outputs = record.outputs(label)
    notes = [row.problem for row in outputs if row.problem] + (
        [score.problem] if score and score.problem else []
    )
    noise = [row.sqnr_db for row in outputs if row.sqnr_db is not None]
    worst = min(noise) if noise else EQUAL_DB if outputs and all(row.equal for row in outputs) else None
    return Row(
        label=label,
        config=config,
        score=_in_percent(mean.value) if mean else None,
        low=_in_percent(mean.low) if mean else None,
        high=_in_percent(mean.high) if mean else None,
        sqnr_db=None if any(row.is_endless for row in outputs) else worst,
        note="; ".join(notes),
    )


def _in_percent(value: float | None) -> float | None:
    return None if value is None else value * 100


def _has_scores(rows: tuple[Row, ...]) -> bool:
    return any(row.score is not None for row in rows)


def _name(row: Row) -> str:
    return plain(f"{row.label} {row.config}", MOST_NAME)


def _told(row: Row) -> str:
    parts = []
    if row.score is not None:
        ends = "" if row.low is None or row.high is None else f" ({row.low:.4g} to {row.high:.4g})"
        parts.append(f"{row.score:.4g} %{ends}")
    if row.sqnr_db is not None:
        parts.append("equal outputs" if row.sqnr_db == EQUAL_DB else f"SQNR {row.sqnr_db:.3g} dB")
    return "; ".join([*parts, *([row.note] if row.note else [])])


def _hover(row: Row) -> str:
    return f"{row.label} {row.config}: {_told(row)}"


def _percent(mean: Mean) -> str:
    return mean.text(100, " %")


def _error(error: float) -> str:
    return "without end" if math.isinf(error) else f"{error * 100:.2g} %"


def _note(record: AccuracyRecord) -> str:
    data = record.data
    parts = [f"{data.item_count:,} items of {data.made_by}"]
    gaps = [
        f"{one.label} {one.against.value * 100:+.2f} points ({one.against.low * 100:+.2f} to "
        f"{one.against.high * 100:+.2f})"
        for one in record.scores
        if one.against is not None and one.against.low is not None and one.against.high is not None
    ]
    return "; ".join([*parts, *(["on the same items: " + ", ".join(gaps)] if gaps else []), *record.notes])
