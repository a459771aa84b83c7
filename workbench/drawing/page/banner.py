"""The verdict and the numbers of a comparison as HTML, in the panels and in exported pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import chain, repeat, starmap
from statistics import median
from typing import TYPE_CHECKING

from workbench.core.glossary import explained, meaning
from workbench.core.html_table import HtmlCell, html_table, scrolling
from workbench.core.text import bounded, counted, factor, factor_ends, in_digits, in_ms
from workbench.drawing.markup import message_html, text, tooltip
from workbench.drawing.verdict_picture import (
    ABSENT,
    SURE,
    TAIL,
    TICKS,
    RatioAxis,
    Tile,
    VerdictPicture,
    axis_of,
    speed_so_far,
    verdict_picture,
)

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord, Doubt
    from workbench.core.bundle.run import Run
    from workbench.core.measure.limits import Progress
    from workbench.drawing.numbers import NumbersRow, NumbersTable

VERDICT_STYLE = files("workbench.drawing.page").joinpath("static", "verdict.css").read_text("utf-8")
WIDTH, HEIGHT, LEFT, RIGHT, MIDDLE = 340, 82, 30, 310, 42  # pixels of the axis
_ARROW = 12  # pixels of a ratio beyond its ends
_TILES = ("median", TAIL, "memory", "time to load", "file")  # their names, in order


def verdict_html(
    record: ComparisonRecord, *, opened: bool = False, shares: Mapping[str, float] | None = None
) -> str:
    """Return every verdict as a picture, and the doubts below, unfolded if `opened`.

    The measurement of a single config has no verdict. `shares` are those of `verdict_picture`.
    """
    pictures = [verdict_picture(record, verdict, shares) for verdict in record.verdicts]
    several = len(pictures) > 1
    heroes = "".join(_hero(picture, several=several) for picture in pictures) or _alone(record.runs[0])
    tiles = tiles_html(pictures[0].tiles) if len(pictures) == 1 else ""
    style, kind = f"wbp-verdict{' v-several' * several}", escape(pictures[0].kind if pictures else "measured")
    return (
        f'<div class="{style}" data-kind="{kind}" role="status">'
        f"{heroes}{tiles}{_doubts(record.doubts, opened=opened)}</div>"
    )


def unanswered_html(
    state: str, head: str, lines: str, axis: str = "", values: Sequence[str] = (), style: str = "v-quiet"
) -> str:
    """Return what stands in place of a verdict: a headline with its lines, the scale and the tiles."""
    hero = hero_html(f'<b class="v-head {style}">{text(head)}</b>', lines, axis)
    tiles = tiles_html(map(Tile, _TILES, chain(values, repeat(ABSENT))))
    return f'<div class="wbp-verdict" data-state="{state}" role="status">{hero}{tiles}</div>'


def unmeasured_html(lines: str) -> str:
    """Return the place of a verdict before anything was measured, with what to do."""
    axis, values = axis_html(None, "none"), ["A → B"] * len(_TILES)
    return unanswered_html("empty", "Which is faster?", lines, axis, values)


def measuring_html(progress: Progress, lines: str) -> str:
    """Return a comparison that runs: the ratio so far on the scale, its step in `lines`, and the medians."""
    judged = (item for item in progress.verdicts if item.kind != "outputs differ" and item.ratio is not None)
    verdict, samples = next(judged, None), dict(progress.samples)
    axis = None if verdict is None else axis_of(verdict)
    head = ("" if verdict is None else speed_so_far(verdict)) or "Measuring…"
    labels = [*samples][:2] if verdict is None else [*[*samples][:1], verdict.label]
    medians = [median(samples[label]) * 1e3 for label in labels if samples.get(label)]
    known = [f"{' → '.join(in_digits(value, 3) for value in medians)} ms"] if len(medians) == 2 else []
    return unanswered_html("running", head, lines, axis_html(axis, "none"), known)


def numbers_html(table: NumbersTable) -> str:
    """Return a table with a row for each config, and why cells are empty."""
    notes = f'<div class="v-note">{text("; ".join(table.notes))}</div>' if table.notes else ""
    numbers = html_table(table.heads, starmap(_row, enumerate(table.rows)), kind="v-numbers")
    return scrolling(numbers, "numbers of each config", "v-scroll") + notes


def _row(index: int, row: NumbersRow) -> tuple[object, ...]:
    """Return the cells of a run, or why it has none."""
    label = f'<b class="v-run v-run-{min(index, 2)}">{text(row.label)}</b>'
    head = HtmlCell(f"{label} {text(row.config)}", names_row=True)
    if row.failure is None:
        return head, *row.cells
    about = f' class="v-failure" data-label="{text(row.label)}" colspan="{len(row.cells)}"'
    return head, HtmlCell(text(row.failure), about)


def _alone(run: Run) -> str:
    """Return the median of a config that was measured alone, or why there is none."""
    head = in_ms(run.latency.median_s, 3) or "Nothing was measured"
    line = f"{run.label} alone" if run.failure is None else run.failure.of(run.label)
    return hero_html(f'<b class="v-head">{text(head)}</b>', text(line))


def hero_html(head: str, lines: str, axis: str = "") -> str:
    """Return a headline with its lines, and the scale beside them; all three are HTML."""
    words = f'<div class="v-words">{head}<div class="v-lines">{lines}</div></div>'
    return f'<div class="v-hero">{words}{axis}</div>'


def tiles_html(tiles: Iterable[Tile]) -> str:
    """Return figures of A and of the candidate in a row."""
    return f'<div class="v-tiles">{"".join(map(_tile, tiles))}</div>'


def _hero(picture: VerdictPicture, *, several: bool) -> str:
    label = f"{text(picture.label)}: " if several else ""
    interval, noise = tooltip(meaning("interval")), tooltip(meaning(_NOISE)) * (_NOISE in picture.outputs)
    estimate = f'<span class="v-estimate"{interval}>{text(picture.estimate)}</span>' * bool(picture.estimate)
    lines = "".join(f"<div{interval * (SURE in line)}>{text(line)}</div>" for line in picture.lines)
    if picture.outputs and picture.kind != "outputs differ":
        lines += f'<div class="v-outputs"{noise}>{text(picture.outputs)}.</div>'
    axis = "" if picture.effect == "error" else axis_html(picture.axis, picture.effect)
    word = tooltip(meaning("tie" if picture.kind == "tie" else "verdict"))
    head = f'<b class="v-head v-{picture.effect}"{word}>{label}{text(picture.head)}</b> {estimate}'
    return hero_html(head, lines, axis)


def _tile(tile: Tile) -> str:
    change = f'<div class="v-change v-{tile.effect}">{text(tile.change)}</div>' if tile.change else ""
    return (
        f'<div class="v-tile"{tooltip(explained(tile.name))}><div class="v-name">{text(tile.name)}</div>'
        f'<div class="v-value">{text(tile.value)}</div>{change}</div>'
    )


def axis_html(axis: RatioAxis | None, effect: str) -> str:
    """Return the scale as SVG with the band of no difference, the interval and the ratio, as far as known."""

    def x(place: float) -> float:
        return round(LEFT + place * (RIGHT - LEFT), 1)

    shapes = [f'<line x1="{LEFT}" x2="{RIGHT}" y1="{MIDDLE}" y2="{MIDDLE}"/>']
    for place, tick in enumerate(TICKS):
        at, reach = x(place / (len(TICKS) - 1)), 15 if tick == 1.0 else 5
        strong = ' class="v-one"' if tick == 1.0 else ""
        shapes.append(f'<line x1="{at}" x2="{at}" y1="{MIDDLE - reach}" y2="{MIDDLE + reach}"{strong}/>')
        shapes.append(f'<text x="{at}" y="{HEIGHT - 6}" text-anchor="middle">{_TICKS[tick]}</text>')
    for word, at, anchor in (("slower", LEFT, "start"), ("faster", RIGHT, "end")):
        shapes.append(f'<text x="{at}" y="14" text-anchor="{anchor}">{word}</text>')
    spoken = "no ratio is known"
    if axis is not None:
        shapes += _marks(axis, effect, x)
        low, high = (end if 0 < end < math.inf else None for end in axis.interval or (0.0, math.inf))
        words = bounded(low, high) or f"{factor(axis.ratio, low, high)}{factor_ends(low, high)}"
        spoken = f"ratio {words}"
    return (
        f'<svg class="v-axis" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{spoken}, on a logarithmic axis"><title>{_AXIS_HELP}</title>{"".join(shapes)}</svg>'
    )


def _marks(axis: RatioAxis, effect: str, x: Callable[[float], float]) -> Iterator[str]:
    """Yield the band, the interval, and the ratio: a dot, or an arrow beyond the ends."""
    first, last = (x(axis.place(end)) for end in axis.same)
    width = max(2.0, round(last - first, 1))
    yield f'<rect class="v-same" x="{first}" y="{MIDDLE - 10}" width="{width}" height="20"/>'
    if axis.interval is not None:
        low, high = (x(axis.place(end)) for end in axis.interval)
        width = max(2.0, round(high - low, 1))
        yield f'<rect class="v-mark v-{effect}" x="{low}" y="{MIDDLE - 7}" width="{width}" height="14"/>'
    at = x(axis.place(axis.ratio))
    if axis.is_beyond:
        tip = at + (_ARROW if axis.ratio > 1 else -_ARROW)
        points = f"{tip},{MIDDLE} {at},{MIDDLE - 8} {at},{MIDDLE + 8}"
        yield f'<polygon class="v-mark v-{effect}" points="{points}"/>'
    else:
        yield f'<circle class="v-mark v-{effect}" cx="{at}" cy="{MIDDLE}" r="6"/>'


_NOISE = "signal to noise"
_AXIS_HELP = text(f"{meaning('ratio')} {meaning('interval')}")
_TICKS = {0.25: "¼×", 0.5: "½×", 1.0: "same", 2.0: "2×", 4.0: "4×"}


def _doubts(doubts: tuple[Doubt, ...], *, opened: bool) -> str:
    if not doubts:
        return ""
    rows = "".join(
        f"<li>{message_html(f'{doubt.kind}{_about(doubt.label)}:', doubt.evidence, doubt.fix)}</li>"
        for doubt in doubts
    )
    kinds = text(", ".join(dict.fromkeys(doubt.kind for doubt in doubts)))
    return (
        f'<details class="v-doubts"{" open" if opened else ""}><summary{tooltip(meaning("doubt"))}>'
        f"⚠ {counted(len(doubts), 'doubt')}: {kinds}</summary><ul>{rows}</ul></details>"
    )


def _about(label: str | None) -> str:
    return "" if label is None else f" about {label}"
