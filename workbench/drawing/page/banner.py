"""The verdict and the numbers of a comparison as HTML, in the panels and in exported pages."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from workbench.core.text import counted, factor, factor_ends, one_line
from workbench.drawing.verdict_picture import RatioAxis, Tile, VerdictPicture, verdict_picture

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord, Doubt
    from workbench.drawing.numbers import NumbersRow, NumbersTable

VERDICT_STYLE = files("workbench.drawing.page").joinpath("static", "verdict.css").read_text("utf-8")
_MOST_LETTERS = 2_000  # of a reason; ORT's message of a failure fits
WIDTH, HEIGHT, LEFT, RIGHT, MIDDLE = 340, 58, 24, 316, 21  # pixels of the axis
LEAST_ROOM = 52  # pixels of a word above it


def verdict_html(
    record: ComparisonRecord, *, opened: bool = False, shares: Mapping[str, float] | None = None
) -> str:
    """Return every verdict as a picture, and the doubts below, unfolded if `opened`.

    The measurement of a single config has no verdict. `shares` are those of `verdict_picture`.
    """
    pictures = [verdict_picture(record, verdict, shares) for verdict in record.verdicts]
    several = len(pictures) > 1
    heroes = "".join(_hero(picture, several=several) for picture in pictures)
    tiles = (
        "" if len(pictures) != 1 else f'<div class="v-tiles">{"".join(map(_tile, pictures[0].tiles))}</div>'
    )
    style, kind = f"wbp-verdict{' v-several' * several}", escape(pictures[0].kind if pictures else "measured")
    return (
        f'<div class="{style}" data-kind="{kind}" role="status">'
        f"{heroes}{tiles}{_doubts(record.doubts, opened=opened)}</div>"
    )


def numbers_html(table: NumbersTable) -> str:
    """Return a table with a row for each config, and why cells are empty."""
    heads = "".join(f'<th scope="col">{_text(head)}</th>' for head in table.heads)
    rows = "".join(_row(index, row) for index, row in enumerate(table.rows))
    notes = f'<div class="v-note">{_text("; ".join(table.notes))}</div>' if table.notes else ""
    return (
        '<div class="v-scroll" tabindex="0" role="region" aria-label="numbers of each config">'
        f'<table class="v-numbers"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{notes}'
    )


def _row(index: int, row: NumbersRow) -> str:
    """Return a row: a run's cells, or why it has none."""
    label = f'<b class="v-run v-run-{min(index, 2)}">{_text(row.label)}</b>'
    cells = "".join(f"<td>{_text(cell)}</td>" for cell in row.cells)
    if row.failure is not None:
        about = f'data-label="{_text(row.label)}" colspan="{len(row.cells)}"'
        cells = f'<td class="v-failure" {about}>{_text(row.failure)}</td>'
    return f'<tr><th scope="row">{label} {_text(row.config)}</th>{cells}</tr>'


def _hero(picture: VerdictPicture, *, several: bool) -> str:
    label = f"{_text(picture.label)}: " if several else ""
    estimate = f'<span class="v-estimate">{_text(picture.estimate)}</span>' if picture.estimate else ""
    lines = "".join(f"<div>{_text(line)}</div>" for line in picture.lines)
    axis = "" if picture.axis is None else _axis(picture.axis, picture.effect)
    return (
        f'<div class="v-hero"><div class="v-words"><b class="v-head v-{picture.effect}">{label}'
        f'{_text(picture.head)}</b> {estimate}<div class="v-lines">{lines}</div></div>{axis}</div>'
    )


def _tile(tile: Tile) -> str:
    change = f'<div class="v-change v-{tile.effect}">{_text(tile.change)}</div>' if tile.change else ""
    return (
        f'<div class="v-tile"><div class="v-name">{_text(tile.name)}</div>'
        f'<div class="v-value">{_text(tile.value)}</div>{change}</div>'
    )


def _axis(axis: RatioAxis, effect: str) -> str:
    """Return the axis as SVG: ticks, the band of no difference, the interval and the ratio."""

    def x(ratio: float) -> float:
        return round(LEFT + axis.place(ratio) * (RIGHT - LEFT), 1)

    first, last = map(x, axis.same)
    shapes = [
        f'<rect class="v-same" x="{first}" y="8" width="{max(2.0, round(last - first, 1))}" height="26"/>',
        f'<line x1="{LEFT}" x2="{RIGHT}" y1="{MIDDLE}" y2="{MIDDLE}"/>',
    ]
    for tick in axis.ticks:
        shapes.append(f'<line x1="{x(tick)}" x2="{x(tick)}" y1="16" y2="26"/>')
        shapes.append(f'<text x="{x(tick)}" y="50" text-anchor="middle">{_tick(tick)}</text>')
    if axis.interval is not None:
        low, high = map(x, axis.interval)
        width = max(2.0, round(high - low, 1))
        shapes.append(f'<rect class="v-mark v-{effect}" x="{low}" y="14" width="{width}" height="14"/>')
    shapes.append(f'<circle class="v-mark v-{effect}" cx="{x(axis.ratio)}" cy="{MIDDLE}" r="5.5"/>')
    for word, near, far in (("← slower", LEFT, first), ("faster →", last, RIGHT)):
        if far - near > LEAST_ROOM:
            shapes.append(f'<text x="{(near + far) / 2:.1f}" y="10" text-anchor="middle">{word}</text>')
    ends = axis.interval or (None, None)
    spoken = f"ratio {factor(axis.ratio, *ends)}{factor_ends(*ends)}"
    return (
        f'<svg class="v-axis" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{spoken}, on a logarithmic axis">{"".join(shapes)}</svg>'
    )


def _tick(ratio: float) -> str:
    if ratio == 1.0:
        return "same"
    return "½×" if ratio == 0.5 else f"{ratio:.{2 if ratio < 1 else 3}g}×"


def _doubts(doubts: tuple[Doubt, ...], *, opened: bool) -> str:
    if not doubts:
        return ""
    rows = "".join(
        f"<li><b>{_text(doubt.kind)}{_about(doubt.label)}:</b> {_text(doubt.evidence)} "
        f"<i>Fix:</i> {_text(doubt.fix)}</li>"
        for doubt in doubts
    )
    kinds = _text(", ".join(dict.fromkeys(doubt.kind for doubt in doubts)))
    return (
        f'<details class="v-doubts"{" open" if opened else ""}><summary>⚠ {counted(len(doubts), "doubt")}: '
        f"{kinds}</summary><ul>{rows}</ul></details>"
    )


def _about(label: str | None) -> str:
    return "" if label is None else f" about {_text(label)}"


def _text(value: str) -> str:
    return escape(one_line(value, _MOST_LETTERS))
